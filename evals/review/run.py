"""A person goes through what people said of answers, and makes cases of what is worth keeping.

In: a feedback file, answers typed in a terminal or, where there is none, given as lines. Out: cases, each appended as
soon as it is decided; what is not chosen is left where it is. Nothing goes into evals/sets: a person moves it there.
Not known here: the questions (dialogue.py), the files (used.py), how cases are scored.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.settings import read_settings
from evals.review.dialogue import Ask, Dialogue, Say, sound
from evals.review.item_text import Lookup, shown, visible
from evals.review.used import Broken, Cases, Item, read_items
from vectorstore.errors import VectorstoreError
from vectorstore.generation import live_fingerprint, open_current
from vectorstore.paper import Paper


def run_review(feedback: Path, output: Path | None) -> None:
    """Review in the terminal, with the titles of the papers where there is an index; without `output` only list.

    Raises what `review` raises.
    """
    with _papers() as lookup:
        if output is None:
            try:
                list_items(feedback, print, lookup)
                sys.stdout.flush()
            except BrokenPipeError:  # the reader, such as `head`, has seen enough
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        else:
            review(feedback, output, ask_terminal, print, lookup)


def review(feedback: Path, output: Path, ask: Ask, say: Say, lookup: Lookup | None = None) -> int:
    """Ask about every item of `feedback` that is not in `output` yet; how many cases were written.

    Raises FeedbackUnreadable, OutputInSets, FileUnwritable, SetUnreadable or BadCase.
    """
    items, cases, written = _sound_items(feedback), Cases(output), 0
    try:
        for place, item in enumerate(items, start=1):
            say(f"\n{place} of {len(items)}, line {item.line}: {shown(item.noted, lookup)}")
            if id := cases.made_of(item):
                say(f"  is {id} already")
                continue
            case = Dialogue(item, cases, ask, say, lookup).case()
            if case is not None:
                cases.add(case)
                written += 1
                say(f"  {case.id} is written")
    except EOFError:
        say("stopped")
    finally:  # also when it is interrupted
        say(f"\n{written} written to {output}" + ("; look at them before they join a set" if written else ""))
    return written


def list_items(feedback: Path, say: Say, lookup: Lookup | None = None) -> None:
    """Tell what there is. Raises FeedbackUnreadable."""
    for item in _sound_items(feedback):
        say(f"line {item.line}: {shown(item.noted, lookup)}\n")


def ask_terminal(prompt: str) -> str:
    """What is typed; where standard input is no terminal, its next line, shown as if it had been typed."""
    if sys.stdin.isatty():
        return sound(input(prompt)).strip()
    print(prompt, end="")
    line = sys.stdin.readline()
    print(line.rstrip("\n"))
    if not line:
        raise EOFError
    return sound(line).strip()


def _sound_items(feedback: Path) -> list[Item]:
    """The items; lines that are none are named on standard error."""
    items = []
    for found in read_items(feedback):
        if isinstance(found, Broken):
            print(f"{visible(found.complaint)}; skipped", file=sys.stderr)
        else:
            items.append(found)
    return items


@contextmanager
def _papers() -> Iterator[Lookup | None]:
    """The papers of the index that the settings name, by id or alias; None, and a line that says why, without one."""
    root = read_settings().index_dir
    generation = None
    try:
        generation = open_current(root, live_fingerprint(root) or "")
    except VectorstoreError as error:
        print(f"titles are not shown: {error}", file=sys.stderr)
    if generation is None:
        yield None
        return
    catalogue = generation.catalogue

    def paper(name: str) -> Paper | None:
        number = catalogue.number_of(sound(name))
        return None if number is None else catalogue.paper(number)

    try:
        yield paper
    finally:
        generation.close()
