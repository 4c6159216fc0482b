"""The machine's limit: how fast it multiplies matrices, sustained, with all its cores.

In: a precision. Out: 10^9 floating-point operations a second. The one place beside vectorstore/embedder.py that
knows torch.
Not known here: models.
"""

import time
from typing import Any

_SIDE = 2048
_SECONDS = 1.5


def matmul_limit(precision: str) -> float:
    """GFLOP/s of multiplying two square matrices of 2,048 in "fp32" or "bf16", over one and a half seconds."""
    import torch

    kind: Any = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
    one, other = (torch.randn(_SIDE, _SIDE).to(kind) for _ in range(2))
    one @ other
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < _SECONDS:
        one @ other
        count += 1
    return 2 * _SIDE**3 * count / (time.perf_counter() - started) / 1e9
