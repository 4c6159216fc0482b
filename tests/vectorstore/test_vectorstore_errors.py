"""Every error of the room is one line, and says what to do."""

from pathlib import Path

import pytest

from vectorstore import errors
from vectorstore.errors import VectorstoreError

INDEX = Path("/data/index")
EXAMPLES = [
    (errors.NoIndex(INDEX), ["/data/index", "paperchat ingest"]),
    (errors.IndexDamaged(INDEX, "it rusts"), ["/data/index", "it rusts", "paperchat ingest --rebuild"]),
    (errors.IndexLocked(INDEX, "process 7"), ["/data/index", "process 7", "Wait"]),
    (errors.OtherModel("a", "b"), ["model a", "ask for b", "paperchat ingest --rebuild", "PAPERCHAT_EMBEDDER"]),
    (errors.OlderFormat(1, 2), ["format 1", "format 2", "earlier version", "paperchat ingest --rebuild"]),
    (errors.NewerFormat(9, 2), ["format 9", "format 2", "later version", "PAPERCHAT_INDEX_DIR"]),
    (errors.VectorsLost(INDEX), ["/data/index", "paperchat ingest --rebuild"]),
    (errors.ModelUnusable("minilm", "it is gone", "Run `make setup`."), ["minilm", "it is gone", "make setup"]),
    (errors.IndexUnwritable(INDEX, "No space left"), ["/data/index", "No space left", "PAPERCHAT_INDEX_DIR"]),
]


@pytest.mark.parametrize(("error", "parts"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_a_message_is_one_line_with_what_was_got_and_what_to_do(error: VectorstoreError, parts: list[str]) -> None:
    message = str(error)
    assert isinstance(error, VectorstoreError)
    assert "\n" not in message
    assert message.endswith(".")
    assert all(part in message for part in parts)


def test_every_error_of_the_room_has_an_example() -> None:
    defined = {value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)}
    assert defined - {VectorstoreError} == {type(error) for error, _ in EXAMPLES}
