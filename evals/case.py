"""One question with what is known of its answer.

In: one line of JSON. Out: a `Case`, or a complaint in words: a key that is unknown, misspelt, missing or of the wrong
type is refused by name, and so is a case that could not be scored.
Not known here: files (dataset.py), the corpus (gold.py), what answers, how answers are judged.
"""

import difflib
import json
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from app.answer import Record, Turn

Text = Annotated[str, Field(min_length=1)]


class Malformed(ValueError):
    """A line that is no case; the text says why."""


class Case(Record):
    """A question with what is known of its answer. evals/sets/README.md says what each field means.

    `relevant`, `neutral`: paper ids. `must_show`, `must_not_show`: verbatim strings.
    `history`: pairs of the user's turn and a summary of the assistant's.
    """

    model_config = ConfigDict(strict=True)

    id: Text
    category: Text
    question: Text
    history: tuple[tuple[str, str], ...] = ()
    relevant: tuple[Text, ...] = ()
    neutral: tuple[Text, ...] = ()
    must_show: tuple[Text, ...] = ()
    must_not_show: tuple[Text, ...] = ()
    answerable: bool = True
    premise_false: bool = False
    lang: str = "en"
    note: str = ""

    @model_validator(mode="after")
    def _can_be_scored(self) -> Self:
        if self.answerable and not self.relevant:
            raise ValueError("key 'relevant': an answerable question needs at least one paper")
        if self.answerable and self.premise_false:
            raise ValueError("key 'premise_false': a question with a false premise has answerable false")
        if both := set(self.relevant) & set(self.neutral):
            raise ValueError(f"key 'neutral': {min(both)} is also relevant")
        return self

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The history as an assistant takes it."""
        pairs = (zip(("user", "assistant"), pair, strict=True) for pair in self.history)
        return tuple(Turn(role=role, content=content) for pair in pairs for role, content in pair)

    @property
    def counts(self) -> bool:
        """Whether a number of papers is asked for; `must_show` then holds that number."""
        return self.category == "count_or_aggregate"

    @property
    def off_topic(self) -> bool:
        """Whether the question has nothing to do with any paper."""
        return self.category == "unanswerable_offtopic"


def parse(row: str) -> Case:
    """The case on one line of a set. Raises Malformed with what is wrong, in words."""
    try:
        return Case.model_validate_json(row)
    except ValidationError as error:
        raise Malformed(_complaint(error)) from None


def _complaint(error: ValidationError) -> str:
    """The first thing wrong with a line, in words; an unknown key before all, since it explains a missing one."""
    found = min(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
    key = str(found["loc"][0]) if found["loc"] else ""
    if found["type"] == "extra_forbidden":
        return f"unknown key {key!r}{_suggestion(key)}. Known: {', '.join(Case.model_fields)}."
    if found["type"] == "missing":
        return f"key {key!r} is missing."
    if found["type"] == "value_error":
        return f"{found['msg'].removeprefix('Value error, ')}."
    what = found["msg"][:1].lower() + found["msg"][1:]
    return f"key {key!r}: {what}, got {_shown(found['input'])}." if key else f"{what}."


def _suggestion(key: str) -> str:
    close = difflib.get_close_matches(key, Case.model_fields, n=1)
    return f" (is {close[0]!r} meant?)" if close else ""


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"
