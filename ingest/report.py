"""What an ingest did, in numbers that add up.

In: counts gathered by the build. Out: JSON for `--report`, lines for a person.
read = new + updated + unchanged + merged.
Not known here: how anything was counted.
"""

from dataclasses import asdict, dataclass
from typing import Any

from ingest.document import Skipped


@dataclass(frozen=True)
class Report:
    """`read` records, of which `new` became papers, `merged` joined a paper known from elsewhere, `updated` replaced
    and `unchanged` repeated an earlier record of their source. `papers` and `without_abstract` count the corpus."""

    read: int
    new: int
    updated: int
    unchanged: int
    merged: int
    without_abstract: int
    skipped: tuple[Skipped, ...]
    papers: int
    embedded: int = 0
    mended: str = ""  # what was wrong with the index before, when it was not whole

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> list[str]:
        """The report for a person: one line of counts, then one a skipped record."""
        counts = [f"{self.read} read", f"{self.new} new", f"{self.updated} updated", f"{self.unchanged} unchanged"]
        counts += [f"{self.merged} merged"]
        if self.without_abstract:
            counts.append(f"{self.without_abstract} without abstract")
        if self.skipped:
            counts.append(f"{len(self.skipped)} skipped")
        summary = f"{', '.join(counts)}: {self.papers} papers in the index"
        mended = [f"mended: {self.mended.split('. Run')[0]}"] if self.mended else []
        return [summary, *mended, *(f"skipped {s.source}:{s.line}: {s.reason}" for s in self.skipped)]
