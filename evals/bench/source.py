"""Lines of a file of papers, packed or not, without reading all of it.

In: a path. Out: its lines.
Not known here: what a line holds.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path


def packed_lines(path: Path) -> Iterator[str]:
    """The lines of `path`, with their ends."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        yield from lines
