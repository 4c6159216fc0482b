"""Writes runtime.txt and dev.txt anew from pyproject.toml: every version pinned by hash, for all platforms at once.

In: pyproject.toml, and `uv` beside this Python. Out: the two files. `make lock` calls it. A version that is pinned
stays, unless `--upgrade` is given.
Torch, and what only torch brings (CUDA), is left out: which build of it fits is the machine's matter (torch.txt).
Not known here: what any package is for.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ONLY_TORCH = ("torch==", "nvidia-", "triton==", "cuda-")


def resolve(*groups: str) -> dict[str, str]:
    """Pinned requirement -> its lines with hashes, for the project and the named dependency groups."""
    chosen = [option for group in groups for option in ("--group", group)]
    command = [str(Path(sys.executable).parent / "uv"), "pip", "compile", "-q", "pyproject.toml", *chosen]
    command += ["--universal", "--generate-hashes", "--python-version", "3.11", "--no-header", "--no-annotate"]
    if "--upgrade" not in sys.argv:
        command += ["-c", "requirements/runtime.txt", "-c", "requirements/dev.txt"]
    done = subprocess.run(command, cwd=HERE.parent, check=True, capture_output=True, text=True)
    blocks = re.split(r"\n(?=[A-Za-z0-9])", done.stdout.strip())
    return {block.split("\\")[0].strip(): block for block in blocks if not block.startswith(ONLY_TORCH)}


def main() -> None:
    runtime = resolve("build")
    everything = resolve("build", "dev")
    dev = {name: block for name, block in everything.items() if name not in runtime}
    for name, blocks in (("runtime.txt", runtime), ("dev.txt", dev)):
        (HERE / name).write_text("\n".join(blocks.values()) + "\n")
        print(f"requirements/{name}: {len(blocks)} packages")


if __name__ == "__main__":
    main()
