"""A file, packed by gzip or not, to records, and a word on everything that could not be read.

In: a path, and the name of its format where the content is not to decide. Out: records (papers with one source) and
`Skipped` lines, in the order of the file.
A reader is a function from text and source name to records and skips: one file each, listed in READERS.
Not known here: other files, merging, the index.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from ingest.document import Skipped
from ingest.errors import SourceMissing, SourceUnreadable
from ingest.readers.blank_lines import read_blank_lines
from ingest.readers.jsonl import read_jsonl
from ingest.readers.record import Reader
from vectorstore.paper import Paper

READERS: dict[str, Reader] = {"jsonl": read_jsonl, "text": read_blank_lines}

_JSON_LINES = {".jsonl", ".ndjson"}
_TEXTUAL = {"", ".txt", ".text", ".md"}
_GZIP = b"\x1f\x8b"
_LARGEST = 2_000_000_000  # bytes; a conference is 12 MB


def read(path: Path, format: str | None = None) -> Iterator[Paper | Skipped]:
    """Records and skips of the file at `path`. Raises SourceMissing or SourceUnreadable before the first one."""
    text = _text(path)
    reader = READERS[format or _detect(path, text)]
    return iter(list(reader(text, str(path.resolve()))))


def _text(path: Path) -> str:
    if path.is_dir():
        raise SourceUnreadable(path, "it is a folder, not a file")
    try:
        if path.stat().st_size > _LARGEST:
            raise SourceUnreadable(path, f"it has {path.stat().st_size:,} bytes, more than {_LARGEST:,}")
        content = path.read_bytes()
    except FileNotFoundError:
        raise SourceMissing(path) from None
    except OSError as error:
        raise SourceUnreadable(path, error.strerror or "it cannot be read") from error
    if content.startswith(_GZIP):
        content = _unpacked(path, content)
    if not content.strip():
        raise SourceUnreadable(path, "it is empty")
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            return content.decode("utf-16")
        if b"\0" in content[:65536]:
            raise SourceUnreadable(path, "it is binary")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceUnreadable(path, f"it is not UTF-8 (byte {error.start})") from error


def _unpacked(path: Path, content: bytes) -> bytes:
    """The content of a gzip file; of a larger one than is taken, nothing."""
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(_LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SourceUnreadable(path, f"it is a damaged gzip file ({error})") from error
    if len(unpacked) > _LARGEST:
        raise SourceUnreadable(path, f"it unpacks to more than {_LARGEST:,} bytes")
    return unpacked


def _detect(path: Path, text: str) -> str:
    """The format by content: JSON lines begin with a brace, or are called so; prose is taken from text files only."""
    suffix = Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    if suffix in _JSON_LINES or text.lstrip().startswith("{"):
        return "jsonl"
    if suffix not in _TEXTUAL or text.lstrip().startswith(("[", "<", "@")):
        raise SourceUnreadable(path, f"its format is not known (formats: {', '.join(READERS)})")
    return "text"
