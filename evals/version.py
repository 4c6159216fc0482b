"""Which code made a report.

In: nothing. Out: the commit of the code that runs, where it is a checkout.
Not known here: reports.
"""

import subprocess
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def commit() -> str:
    """The short hash, with "+changes" where the checkout differs from it; "unknown" outside one."""
    try:
        _git("ls-files", "--error-unmatch", Path(__file__).name)
        hash = _git("rev-parse", "--short=12", "HEAD").strip()
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "..").strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return f"{hash}+changes" if changed else hash


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=_HERE, check=True, capture_output=True, text=True, timeout=10).stdout
