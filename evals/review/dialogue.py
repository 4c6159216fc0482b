"""The questions about one item: whether it becomes a case, and what is known of its answer.

In: an item, answers to questions. Out: a `Case`, or None. What may be personal is asked about before anything else.
Not known here: who answers, where the case is written, what is personal (personal.py).
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.language import language_of
from evals.case import Case, Malformed, parse
from evals.dataset import SETS, load
from evals.grounding import contains
from evals.review.item_text import Lookup, visible
from evals.review.personal import find_personal
from evals.review.used import Cases, Item, note_of

Ask = Callable[[str], str]  # a prompt to what was typed; raises EOFError when there is no more
Say = Callable[[str], object]

_CATEGORIES = {
    "count": "count_or_aggregate", "topic": "topic_list", "list": "topic_list", "compare": "compare",
    "author": "title_or_author", "title": "title_or_author", "define": "name_lookup",
}  # fmt: skip


class _Dropped(Exception):
    """The item at hand makes no case."""


@dataclass(frozen=True)
class Dialogue:
    """The questions about one item."""

    item: Item
    cases: Cases
    ask: Ask
    say: Say
    lookup: Lookup | None

    def case(self) -> Case | None:
        """The case, or None where none is wanted. Raises EOFError where no more is wanted."""
        noted = self.item.noted
        try:
            if self._choice("  keep? [y/n/q]", "ynq") == "n":
                return None
            question, *turns = self._without_personal([noted.question, *(turn.content for turn in noted.history)])
            roles = [turn.role for turn in noted.history]
            relevant = self._relevant()
            while (answerable := self._is_answerable(relevant)) and not relevant:
                self.say("  an answerable question needs at least one paper")
                relevant = self._relevant()
            must_show = self._must_show(relevant) if answerable else []
            made = {
                "id": self.cases.next_id(), "category": self._category(answerable, len(turns) > 1),
                "question": question, "history": _pairs(roles, turns), "relevant": relevant, "must_show": must_show,
                "answerable": answerable, "lang": language_of(question), "note": note_of(self.item),
            }  # fmt: skip
            return parse(json.dumps(made))
        except _Dropped:
            return None
        except Malformed as error:
            self.say(f"  no case can be made of it: {visible(str(error))}")
            return None

    def _choice(self, prompt: str, letters: str, default: str = "") -> str:
        while True:
            answer = self.ask(f"{prompt} ").lower() or default
            if answer == "q" and "q" in letters:
                raise EOFError
            if answer[:1] and answer[0] in letters:
                return answer[0]
            self.say(f"  {visible(answer) or 'nothing'} is none of {', '.join(letters)}")

    def _without_personal(self, texts: Sequence[str]) -> list[str]:
        """The question and the turns before it, as they are to be kept. Raises _Dropped."""
        kept = []
        for place, text in enumerate(map(sound, texts)):
            where = f"turn {place} before it" if place else "the question"
            while personal := find_personal(text):
                for found in personal:
                    self.say(f"  {found.kind} in {where}: {visible(found.text)}")
                answer = self._choice("  edit, drop or keep? [e/d/k]", "edk")
                if answer == "d":
                    raise _Dropped
                if answer == "k":
                    break
                text = self.ask(f"  {where} instead (empty: as it is): ") or text
            kept.append(text)
        return kept

    def _relevant(self) -> list[str]:
        noted = self.item.noted
        default = list(map(sound, noted.cited)) if noted.kind == "unhelpful" else []
        hint = f"empty: {visible(' '.join(default))}; " if default else ""
        while True:
            answer = self.ask(f"  relevant ids ({hint}-: none; s: skip the item): ")
            if answer == "s":
                raise _Dropped
            if answer == "-":
                return []
            ids = list(dict.fromkeys(re.split(r"[\s,]+", answer))) if answer else default
            papers = [self.lookup(id) if self.lookup else None for id in ids]
            unknown = [id for id, paper in zip(ids, papers, strict=True) if self.lookup and paper is None]
            for id in unknown:
                self.say(f"  no paper {visible(id)!r} in the index")
            if ids and not unknown:
                return [paper.id if paper else id for id, paper in zip(ids, papers, strict=True)]

    def _is_answerable(self, relevant: Sequence[str]) -> bool:
        default = "y" if relevant else "n"
        return self._choice(f"  answerable from the abstracts? [{'Y/n' if relevant else 'y/N'}]", "yn", default) == "y"

    def _must_show(self, relevant: Sequence[str]) -> list[str]:
        papers = [paper for id in relevant if self.lookup and (paper := self.lookup(id))]
        wanted: list[str] = []
        while text := self.ask("  must be shown, verbatim (empty: no more): "):
            is_there = not papers or any(contains(f"{paper.title}\n{paper.abstract}", text) for paper in papers)
            if is_there or self._choice("  in no relevant paper; take it all the same? [y/N]", "yn", "n") == "y":
                wanted.append(text)
        return wanted

    def _category(self, answerable: bool, is_follow_up: bool) -> str:
        default = _CATEGORIES.get(self.item.noted.route, "fact_text") if answerable else "unanswerable_near"
        if is_follow_up and answerable:
            default = "follow_up"
        known = {case.category for case in (*self.cases.known, *_known_cases())} | {default}
        while True:
            category = self.ask(f"  category (empty: {default}): ") or default
            if category in known:
                return category
            self.say(f"  known: {', '.join(sorted(known))}")
            if self._choice("  a new category? [y/N]", "yn", "n") == "y":
                return category


def _known_cases() -> Iterator[Case]:
    for path in sorted(SETS.glob("*.jsonl")):
        yield from load(str(path)).cases


def _pairs(roles: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
    """What a user said with what was answered to it."""
    turns = list(zip(roles, texts, strict=True))
    return [
        (asked, answered)
        for (role, asked), (next_role, answered) in pairwise(turns)
        if (role, next_role) == ("user", "assistant")
    ]


def sound(text: str) -> str:
    """Text without halves of emoji, which no file of cases can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
