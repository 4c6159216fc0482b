"""What an untitled paper is called."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.names import coined_name, first_clause, name_of_untitled
from vectorstore.paper import Paper
from vectorstore.text import plain

COINED = {
    "icml2026-DIytYt7tdI": "Global PSRO",
    "icml2026-Csmrtng6PP": "Class-Adaptive Rectification with Experts (CARE)",
    "icml2026-CfqUMty4Ns": "MILD",
    "icml2026-COjmyds8zz": "QuantumBoost",
    "icml2026-CKhydx7QgH": "Wrapped Normalization Equivariance (WNE)",
    "icml2026-C0NCLB6ZGY": "UrbanFusion",
    "icml2026-BUxrIaf7Zc": "SEI",
    "icml2026-Az6TOqyAGM": "HDPI",
    "icml2026-AtsZrkFBA6": "ReasonAug",
    "icml2026-AGBuhcQbsO": "Deep Pre-Alignment (DPA)",
    "icml2026-DGXfoyszbj": "Dynamic-Consistency Contrastive Learning (DyCo-CL)",
    "icml2026-DG7S1hhwUL": "PISA",
    "icml2026-DFi6hHce5t": "Least-Loaded Expert Parallelism (LLEP)",
    "icml2026-DDtL4VOUcT": "CAMEL",
    "icml2026-DDYr4KXKs1": "PrivCode++",
    "icml2026-DDNQOnaRQk": "STAGE",
    "icml2026-D9g1RjORI7": "KnowBias",
    "icml2026-D8ETPuIu7Q": "MOD-DiT",
    "icml2026-D8DUCALWYb": "TokenDrop",
    "icml2026-D7pFsC7UAr": "PuzzleMoE",
    "icml2026-D7MzX6ts55": "RIR",
    "icml2026-D70OyQr3O3": "MSWTs",
}


@pytest.fixture(scope="module")
def abstracts(sample: Path) -> dict[str, str]:
    return {row["id"]: row["abstract"] for row in map(json.loads, sample.read_text().splitlines())}


def test_every_untitled_abstract_of_the_sample_gets_a_name_that_reads(abstracts: dict[str, str]) -> None:
    for id, abstract in abstracts.items():
        label = Paper(id="text-0123456789ab", abstract=abstract).label
        assert re.search(r"[A-Za-z]{3}", label), id
        assert not re.fullmatch(r"[\d\W]+|(?:text-)?[0-9a-f]{8,}", label), id
        assert label.removesuffix(" …").split(" (")[0] in " ".join(plain(abstract).split()), id
        assert len(label) <= 120, id


def test_labels_of_the_sample_are_distinct(abstracts: dict[str, str]) -> None:
    assert len({name_of_untitled(abstract) for abstract in abstracts.values()}) == 37


@pytest.mark.parametrize(("id", "name"), COINED.items())
def test_a_paper_is_called_what_its_abstract_coins(abstracts: dict[str, str], id: str, name: str) -> None:
    assert name_of_untitled(abstracts[id]) == name


@pytest.mark.parametrize(("id", "known"), [("icml2026-D5rimtisOc", "InfoNCE"), ("icml2026-B8sTBdGvqG", "CTMs")])
def test_a_paper_is_not_called_by_what_it_only_builds_on(abstracts: dict[str, str], id: str, known: str) -> None:
    """The one proposes a variant of InfoNCE, the other a test that lets known martingales (CTMs) work."""
    assert name_of_untitled(abstracts[id]) != known


def test_a_first_clause_says_what_the_paper_is_about(abstracts: dict[str, str]) -> None:
    assert "lower bound" in name_of_untitled(abstracts["icml2026-CPB16KCuNk"])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Here we introduce TokenDrop, a method.", "TokenDrop"),
        ("We call this model-free method. A framework called PrivCode++ is given.", "PrivCode++"),
        ("We propose a Transformer-based method.", ""),
        ("We propose a method.", ""),
        ("BERT is well known. We study it.", ""),
    ],
)
def test_coined_names(text: str, name: str) -> None:
    assert coined_name(text) == name


def test_without_a_name_the_first_clause_is_the_label_and_a_long_one_is_cut_at_a_word() -> None:
    assert first_clause("Sampling is hard. It is.") == "Sampling is hard"
    assert first_clause("Sampling is hard, and slow.") == "Sampling is hard"
    words = " ".join(f"word{i}" for i in range(30))
    assert first_clause(words) == " ".join(words.split()[:12]) + " …"


def test_a_decimal_or_an_abbreviation_does_not_end_the_clause() -> None:
    assert first_clause("A bound of 0.8559 is shown. It holds.") == "A bound of 0.8559 is shown"


def test_markup_is_not_part_of_a_label() -> None:
    assert name_of_untitled("We propose **$\\phi$Flow**, a method.") == name_of_untitled(
        "We propose phiFlow, a method."
    )


@given(st.text(max_size=300))
def test_any_text_gets_a_one_line_label(abstract: str) -> None:
    label = Paper(id="x", abstract=abstract).label
    assert label.strip()
    assert "\n" not in label
