"""The assistant of a running server, from before it is ready to after the index changed.

In: settings. Out: the assistant when there is one, and the state to tell the world.
Not known here: HTTP.
"""

import logging
import threading
import time
from dataclasses import dataclass
from typing import Any, Literal

from app.assistant import Assistant
from app.errors import AppError
from app.settings import Settings
from app.whole import chosen_embedder, whole_assistant
from vectorstore.errors import NoIndex, OtherModel, VectorstoreError
from vectorstore.generation import live_fingerprint
from vectorstore.lock import being_written
from vectorstore.precision import without_precision
from vectorstore.vectors import Embedder

Status = Literal["starting", "indexing", "empty", "ready"]
_LOOK_EVERY = 0.5  # seconds, for an index to appear
_TRY_EVERY = 5.0  # seconds, for one that can't be opened to change

_log = logging.getLogger("paperchat")


@dataclass(frozen=True)
class State:
    """What `/api/health` tells."""

    status: Status
    corpus: str = ""
    papers: int = 0
    model: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"status": self.status, "corpus": self.corpus, "papers": self.papers, "model": self.model}


class Engine:
    """Loads the assistant in the background, and waits for an index where there is none yet."""

    def __init__(self, settings: Settings) -> None:
        """Raises at once what no waiting can mend: OtherModel, ModelUnusable."""
        self._root = settings.index_dir
        self._embedder: Embedder = chosen_embedder(settings)
        self._stop = threading.Event()
        self._tried = threading.Event()
        self.assistant: Assistant | None = None
        self.failure: VectorstoreError | AppError | None = None  # why the index that is there can't be opened
        self._thread = threading.Thread(target=self._load, name="engine", daemon=True)
        built = live_fingerprint(self._root)
        if built and without_precision(built) != without_precision(self._embedder.fingerprint):
            raise OtherModel(built, self._embedder.fingerprint)

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the assistant is loaded, has failed to load or, without an index, is found to be missing."""
        end = None if seconds is None else time.monotonic() + seconds
        self._tried.wait(seconds)
        while self.state().status == "starting" and not self.failure and (end is None or time.monotonic() < end):
            time.sleep(0.05)

    def stop(self) -> None:
        self._stop.set()
        if self.assistant is not None:
            self.assistant.close()

    def state(self) -> State:
        """The state now. An index with no papers can't answer a question: "empty"."""
        assistant = self.assistant
        if assistant is not None:
            size = assistant.size
            status: Status = "ready" if size else self._without_papers()
            return State(status, assistant.corpus, size, assistant.fingerprint)
        if (self._root / "CURRENT").exists() and not being_written(self._root):
            return State("starting")
        return State(self._without_papers())

    def _without_papers(self) -> Status:
        return "indexing" if being_written(self._root) else "empty"

    def _load(self) -> None:
        while not self._stop.is_set():
            try:
                assistant = whole_assistant(self._root, self._embedder)
                assistant.warm_up()
                self.assistant, self.failure = assistant, None
                self._tried.set()
                return
            except NoIndex:
                self._tried.set()
            except (VectorstoreError, AppError) as error:
                if str(error) != str(self.failure):
                    _log.error("%s", error)
                self.failure = error
                self._tried.set()
                self._stop.wait(_TRY_EVERY)
            self._stop.wait(_LOOK_EVERY)
