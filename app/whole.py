"""The embedder that suits an index, and an index that is whole, whatever happened to it.

In: settings. Out: an embedder, an assistant. An index that was spoiled, deleted in part or written by an earlier
version is built again from its records before anybody is bothered with it.
Not known here: what an answer is, who is told.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from app.assistant import Assistant
from app.errors import NotMended
from app.settings import Settings
from ingest.build import Progress, Request, ingest, silent
from ingest.errors import IngestError
from vectorstore.embedder import open_embedder
from vectorstore.errors import IndexDamaged, OlderFormat, VectorstoreError
from vectorstore.generation import live_fingerprint, open_live
from vectorstore.precision import fastest_precision, precision_in
from vectorstore.vectors import Embedder

_log = logging.getLogger("paperchat")


def chosen_embedder(settings: Settings) -> Embedder:
    """The model that the settings ask for. Left to choose, its precision is the index's own, else this machine's.

    Raises ModelUnusable.
    """
    if settings.precision != "auto":
        return open_embedder(settings.embedder, settings.precision)
    built = live_fingerprint(settings.index_dir)
    return open_embedder(settings.embedder, (built and precision_in(built)) or fastest_precision())


def open_assistant(
    settings: Settings,
    tell: Callable[[str], object] = _log.warning,
    progress: Progress = silent,
    share: float | None = None,
) -> Assistant:
    """The assistant that the settings ask for. Raises what `whole_assistant` raises."""
    return whole_assistant(settings.index_dir, chosen_embedder(settings), tell, progress, share)


def whole_assistant(
    root: Path,
    embedder: Embedder,
    tell: Callable[[str], object] = _log.warning,
    progress: Progress = silent,
    share: float | None = None,
) -> Assistant:
    """The assistant of the index in `root`, made whole first where that is needed; `tell` gets a line about it. `share`
    fixes what dense search weighs.

    Raises NoIndex, OtherModel, NewerFormat, ModelUnusable, or NotMended.
    """
    try:
        return Assistant(root, embedder, share)
    except (IndexDamaged, OlderFormat) as problem:
        what = str(problem).split(". Run")[0]
        try:
            open_live(root)  # raises where there is nothing to build it from
            tell(f"{what}. Building it again from its records")
            ingest(root, Request(), embedder, progress)
        except (VectorstoreError, IngestError) as error:
            raise NotMended(what, str(error)) from error
        return Assistant(root, embedder, share)
