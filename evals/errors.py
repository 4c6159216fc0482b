"""What can go wrong with an evaluation before it starts, each as one line a person can act on.

In: facts about a failure. Out: exceptions whose text says what was got, what was expected, what to do.
Not known here: who catches them. A question that fails is no exception, it is a row of the report (run.py).
"""

from collections.abc import Sequence
from pathlib import Path


class EvalsError(Exception):
    """Root of everything this room raises on purpose."""


class SetMissing(EvalsError):
    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"{name}: neither a file nor one of the sets in evals/sets ({', '.join(known)}).")


class SetUnreadable(EvalsError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}. Expected UTF-8 text with one case, a JSON object, on each line.")


class FeedbackUnreadable(EvalsError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}. Expected the file that PAPERCHAT_FEEDBACK_FILE names.")


class OutputInSets(EvalsError):
    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is in evals/sets, where only a person puts what was looked at. Name another --output."
        )


class BenchmarkUnreadable(EvalsError):
    def __init__(self, place: Path | str, why: str) -> None:
        super().__init__(f"{place}: {why}. Expected a folder with corpus.jsonl, queries.jsonl and qrels.tsv.")


class DataMissing(EvalsError):
    def __init__(self, path: Path, part: str) -> None:
        super().__init__(f"{path} is not there, which the part {part!r} measures. Name the folder with --data.")


class NoSuchPart(EvalsError):
    def __init__(self, part: str, known: Sequence[str]) -> None:
        super().__init__(f"no part {part!r}. The parts are: {', '.join(known)}.")


class BadCase(EvalsError):
    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}")


class NoSuchSystem(EvalsError):
    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"no system {name!r}. The systems are: {', '.join(known)}.")


class PackageMissing(EvalsError):
    def __init__(self, what: str, packages: str) -> None:
        super().__init__(f"{what} needs packages that are not installed: {packages}. Run `make dev`.")


class NoSuchCategory(EvalsError):
    def __init__(self, category: str, known: Sequence[str]) -> None:
        super().__init__(f"no case is of category {category!r}. The set has: {', '.join(known)}.")


class GoldMissing(EvalsError):
    def __init__(self, case: str, id: str, others: int, remedy: str) -> None:
        more = f" (nor are {others} others)" if others else ""
        super().__init__(f"{id}, named by case {case}, is not in the index{more}. {remedy}")


class FileUnwritable(EvalsError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: cannot be written ({why}). Name a file in a folder that exists and is yours.")


class NoBaseline(EvalsError):
    def __init__(self, path: Path, set_name: str) -> None:
        super().__init__(f"no baseline {path}. Write it with `paperchat-evals baseline {set_name}`.")


class OtherBaseline(EvalsError):
    """The baseline does not speak of the same questions, papers or model as the report."""

    def __init__(self, path: Path, what: str, set_name: str) -> None:
        super().__init__(
            f"baseline {path} was made from other {what}, so it cannot be compared. "
            f"Refresh it with `paperchat-evals baseline {set_name}`."
        )


class NotComparable(EvalsError):
    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"{name}: its {what} are not those of the first report, so they cannot be compared.")


class NotAReport(EvalsError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}. Expected a report written by `paperchat-evals run --json FILE`.")


class BadFloors(EvalsError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}. Expected {{set: {{measure: number}}}} in JSON.")


class NotABaseline(EvalsError):
    def __init__(self, failed: int, first: str) -> None:
        super().__init__(f"{failed} questions failed (first: {first}), so no baseline was written. Mend that first.")
