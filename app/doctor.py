"""Whether everything is there that paperchat needs.

In: settings. Out: findings, each with what to do when it is not well.
Not known here: how they are printed.
"""

import importlib.metadata
import os
import sqlite3
import sys
from dataclasses import dataclass

from app.errors import FeedbackUnusable
from app.feedback import LARGEST, examine_feedback
from app.settings import Settings
from app.whole import chosen_embedder
from vectorstore.errors import NoIndex, VectorstoreError
from vectorstore.generation import open_current
from vectorstore.lock import being_written

_OLDEST_SQLITE = (3, 35, 0)  # what Chroma needs


@dataclass(frozen=True)
class Finding:
    ok: bool
    text: str


def examine(settings: Settings) -> list[Finding]:
    """The findings on this machine and this index."""
    return [_python(), _sqlite(), _torch(), *_model_and_index(settings), _folder(settings), _feedback(settings)]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding(sys.version_info >= (3, 11), f"Python {version} (3.11 or newer is needed)")


def _sqlite() -> Finding:
    ok = sqlite3.sqlite_version_info >= _OLDEST_SQLITE
    advice = "" if ok else "; use a newer Python, whose SQLite is newer"
    return Finding(ok, f"SQLite {sqlite3.sqlite_version} (3.35 or newer is needed){advice}")


def _torch() -> Finding:
    try:
        return Finding(True, f"torch {importlib.metadata.version('torch')}")
    except importlib.metadata.PackageNotFoundError:
        return Finding(False, "torch is not installed: run `make setup`")


def _model_and_index(settings: Settings) -> list[Finding]:
    try:
        embedder = chosen_embedder(settings)
        findings = [Finding(True, f"embedding model {embedder.fingerprint}")]
    except VectorstoreError as error:
        return [Finding(False, str(error))]
    try:
        generation = open_current(settings.index_dir, embedder.fingerprint)
        findings.append(Finding(True, f"index {settings.index_dir}: {generation.manifest.papers:,} papers, all there"))
        generation.close()
    except NoIndex as error:
        findings.append(Finding(True, str(error)))
    except VectorstoreError as error:
        findings.append(Finding(False, str(error)))
    return findings


def _folder(settings: Settings) -> Finding:
    root = settings.index_dir
    if being_written(root):
        return Finding(True, f"index {root} is being written right now")
    place = root if root.exists() else root.absolute().parent
    ok = os.access(place, os.W_OK)
    return Finding(ok, f"{root} can{'' if ok else 'not'} be written" + ("" if ok else ": set PAPERCHAT_INDEX_DIR"))


def _feedback(settings: Settings) -> Finding:
    path = settings.feedback_file
    if path is None:
        return Finding(True, "feedback is off (PAPERCHAT_FEEDBACK_FILE names no file)")
    try:
        size = examine_feedback(path)
    except FeedbackUnusable as error:
        return Finding(False, str(error))
    ok = size < LARGEST
    advice = "" if ok else ": it takes no more; move it away"
    return Finding(ok, f"feedback is kept in {path}, {size:,} of at most {LARGEST:,} bytes{advice}")
