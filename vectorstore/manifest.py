"""What a generation's folder promises, and whether it holds it.

In: the folder of a generation. Out: its `Manifest`, once every file that never changes again is as it was written.
Not known here: what the files mean.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from vectorstore.dense import DATABASE, rows_digest
from vectorstore.errors import IndexDamaged, NewerFormat, OlderFormat

FORMAT = 3  # raise it when a change makes older generations unreadable or differently ranked
NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What a generation holds; written last, read first."""

    format: int
    hash: str
    fingerprint: str
    dimension: int
    papers: int
    passages: int
    chunks: int
    exact: bool  # whether every vector is to be looked at: there are few, or the graph passes some of them by
    files: dict[str, str]  # sha256 by path, of the rows for Chroma's database: what is spoiled shows before it is used


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `manifest` with the digests of what is in `folder` now."""
    whole = replace(manifest, files={name: _digest(folder / name) for name in _settled(folder)})
    (folder / NAME).write_text(json.dumps(asdict(whole), indent=1))


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a generation. Raises IndexDamaged, or OlderFormat or NewerFormat for another version's."""
    try:
        stored = json.loads((folder / NAME).read_text())
        if (found := int(stored["format"])) != FORMAT:
            raise (OlderFormat if found < FORMAT else NewerFormat)(found, FORMAT)
        manifest = Manifest(**stored)
        if not isinstance(manifest.files, dict):
            raise TypeError
        return manifest
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexDamaged(folder, "its manifest is missing or unreadable") from error


def fingerprint_in(folder: Path) -> str | None:
    """The model that a generation of any format was built with, where its manifest still says so."""
    try:
        return str(json.loads((folder / NAME).read_text())["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def verify(folder: Path, manifest: Manifest) -> None:
    """Raises IndexDamaged when a file is missing or is not what was written."""
    for name, digest in manifest.files.items():
        try:
            found = _digest(folder / name)
        except OSError as error:
            raise IndexDamaged(folder, f"{name} is missing or unreadable") from error
        if found != digest:
            raise IndexDamaged(folder, f"{name} is not what was written")


def _settled(folder: Path) -> list[str]:
    """The files that never change again.

    Chroma rewrites a graph that it has not flushed to disk (one without index_metadata.pickle, of fewer than 1,000
    vectors); all of that one lies in the rows of its database.
    """
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != NAME]
    flushed = {path.parent for path in found if path.name == "index_metadata.pickle"}
    own = [path for path in found if "chroma" not in path.relative_to(folder).parts]
    kept = [*own, *(path for path in found if path.name == DATABASE or path.parent in flushed)]
    return [str(path.relative_to(folder)) for path in kept]


def _digest(path: Path) -> str:
    if path.name == DATABASE:
        return rows_digest(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
