"""In what number format a model reads chunks: how exact and how fast.

In: nothing but the machine. Out: the format that suits it.
Not known here: models, vectors.
"""

from pathlib import Path
from typing import Literal, get_args

Precision = Literal["fp32", "bf16", "int8"]
_BF16_UNITS = {"avx512_bf16", "amx_bf16", "bf16"}  # as Linux names them, the last one on Arm


def fastest_precision(cpuinfo: Path = Path("/proc/cpuinfo")) -> Precision:
    """bf16 where the processor computes in it, else fp32.

    bf16 is 1.5 to 3 times as fast there and ranks as well; int8 ranks worse (docs/bench.md).
    """
    try:
        flags = set(cpuinfo.read_text(errors="replace").split())
    except OSError:
        return "fp32"
    return "bf16" if flags & _BF16_UNITS else "fp32"


def precision_in(fingerprint: str) -> Precision | None:
    """The precision that a model's fingerprint ends with, None for a model without."""
    return next((precision for precision in get_args(Precision) if fingerprint.endswith(f"-{precision}")), None)


def without_precision(fingerprint: str) -> str:
    """What a fingerprint says of the model alone. Questions fit the chunks of any precision."""
    precision = precision_in(fingerprint)
    return fingerprint.removesuffix(f"-{precision}") if precision else fingerprint
