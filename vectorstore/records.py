"""The sources' own records, beside the generations: what an index can be made of again.

In: the records of a generation, by its hash, and the model that it was built with. Out: `records-<hash>.jsonl.gz` in
the index folder: a line with the model, then one record a line. A generation that was deleted or spoiled is built
again from them, its vectors being in the embedding cache.
Not known here: generations, merging.
"""

import gzip
import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

from vectorstore.errors import IndexDamaged
from vectorstore.paper import Paper

_UNREADABLE = (OSError, EOFError, StopIteration, zlib.error, ValueError, TypeError, KeyError)


def keep_records(root: Path, hash: str, fingerprint: str, records: Sequence[Paper]) -> None:
    """Write the records of the generation `hash`, whole or not at all."""
    path = _path(root, hash)
    draft = path.with_name(path.name + ".tmp")
    with draft.open("wb") as file:
        with gzip.open(file, "wt", compresslevel=1, encoding="utf-8") as lines:
            lines.write(json.dumps({"model": fingerprint}) + "\n")
            lines.writelines(json.dumps(record.to_json()) + "\n" for record in records)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def kept_records(root: Path, hash: str | None) -> list[Paper]:
    """The records of the generation `hash`, or the ones kept last. Raises IndexDamaged."""
    path = _found(root, hash)
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            json.loads(next(lines))["model"]
            return [Paper.from_json(json.loads(line)) for line in lines]
    except _UNREADABLE as error:
        raise IndexDamaged(path, f"its records cannot be read ({type(error).__name__})") from error


def kept_fingerprint(root: Path, hash: str | None) -> str | None:
    """The model that the generation was built with, where its records still tell."""
    try:
        with gzip.open(_found(root, hash), "rt", encoding="utf-8") as lines:
            return str(json.loads(next(lines))["model"])
    except _UNREADABLE:
        return None


def forget_records(root: Path, but: str) -> None:
    """Remove the records of every generation but that one."""
    for path in (*root.glob("records-*.jsonl.gz"), *root.glob("records-*.tmp")):
        if path != _path(root, but):
            path.unlink(missing_ok=True)


def any_records(root: Path) -> bool:
    """Whether records of any generation are kept."""
    return any(root.glob("records-*.jsonl.gz"))


def _found(root: Path, hash: str | None) -> Path:
    everything = sorted(root.glob("records-*.jsonl.gz"), key=lambda path: path.stat().st_mtime)
    return _path(root, hash) if hash else (everything or [root / "records"])[-1]


def _path(root: Path, hash: str) -> Path:
    return root / f"records-{hash}.jsonl.gz"
