"""Reader of JSON lines: one paper an object, one object a line.

In: text. Out: records; a line that is no such object is skipped with the reason.
Not known here: what the fields mean (record.py).
"""

import json
from collections.abc import Iterator

from ingest.document import Skipped
from ingest.readers.record import Unreadable, record_of
from vectorstore.paper import Paper


def read_jsonl(text: str, source: str) -> Iterator[Paper | Skipped]:
    """Records of `text`, in order. Empty lines are passed over."""
    for number, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            raw = json.loads(row)
            if not isinstance(raw, dict):
                raise Unreadable(f"it is a JSON {type(raw).__name__}, not an object")
            yield record_of(raw, source)
        except json.JSONDecodeError as error:
            yield Skipped(source, number, f"not valid JSON: {error.msg} at character {error.pos + 1}")
        except ValueError as error:  # such as a number of thousands of digits
            yield Skipped(source, number, str(error) if isinstance(error, Unreadable) else f"not valid JSON: {error}")
        except RecursionError:
            yield Skipped(source, number, "not valid JSON: nested too deeply")
