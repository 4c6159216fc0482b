"""What an evaluation needs of the thing that it evaluates.

In: nothing. Out: a Protocol that `app.assistant.Assistant` fulfils, and that a test's double fulfils in a few lines.
Not known here: settings, indexes, models.
"""

from collections.abc import Sequence
from typing import Protocol

from app.answer import Answer, Turn
from vectorstore.paper import Paper


class System(Protocol):
    """Something that answers questions over a corpus of papers."""

    @property
    def corpus(self) -> str:
        """The index generation's hash."""
        ...

    @property
    def fingerprint(self) -> str:
        """The embedding model's fingerprint."""
        ...

    def close(self) -> None: ...

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer: ...

    def papers(self) -> list[Paper]: ...

    def paper(self, name: str, /) -> Paper | None:
        """The paper with that id, alias or former id."""
        ...
