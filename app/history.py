"""A conversation as a client kept it, checked.

In: JSON. Out: turns, bounded. Not known here: what a follow-up refers to.
"""

import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from app.answer import Turn
from app.errors import BadHistory

MOST_TURNS = 50  # the last ones count
_TURNS = TypeAdapter(list[Turn])


def read_history(path: Path) -> list[Turn]:
    """The turns in the file at `path`, a JSON array as REST takes it. Raises BadHistory."""
    try:
        return _TURNS.validate_python(json.loads(path.read_text(encoding="utf-8")))[-MOST_TURNS:]
    except OSError as error:
        raise BadHistory(str(path), error.strerror or "it cannot be read") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise BadHistory(str(path), f"at {'.'.join(map(str, first['loc'])) or 'the top'}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise BadHistory(str(path), "it is not JSON") from None
