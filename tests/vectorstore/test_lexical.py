"""BM25 over a handful of texts, and a folder that is not what it should be."""

import math
import shutil
from pathlib import Path

import pytest

from vectorstore.errors import IndexDamaged
from vectorstore.lexical import LexicalIndex, build_lexical
from vectorstore.text import terms

TEXTS = (
    "A lower bound of 0.8559 for the Steiner ratio in the plane",
    "Diffusion models generate images; diffusion is slow",
    "Diffusion bridges for proteins and for molecules, measured on many tasks of many kinds by many people",
    "我们提出能降低成本的方法",
    "",
    "Regret of C bandits",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lexical") / "lexical"
    build_lexical(path, map(terms, TEXTS))
    return path


@pytest.fixture(scope="module")
def lexical(folder: Path) -> LexicalIndex:
    return LexicalIndex(folder, len(TEXTS))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the Steiner ratio?", [0]),
        ("0.8559", [0]),
        ("diffusion", [1, 2]),
        ("diffused proteins", [2, 1]),
        ("能降低什么", [3]),
        ("C", [5]),
    ],
)
def test_papers_that_share_terms_are_found_best_first(
    lexical: LexicalIndex, question: str, expected: list[int]
) -> None:
    found = lexical.query(question, 10)
    assert [number for number, _ in found] == expected
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


@pytest.mark.parametrize("question", ["", "the of a", "quantum", "???", "0.8558"])
def test_a_question_that_shares_no_term_finds_nothing(lexical: LexicalIndex, question: str) -> None:
    assert lexical.query(question, 10) == []


def test_k_limits(lexical: LexicalIndex) -> None:
    assert [number for number, _ in lexical.query("diffusion", 1)] == [1]
    assert lexical.query("diffusion", 0) == []


def test_among_restricts_without_changing_scores(lexical: LexicalIndex) -> None:
    everything = dict(lexical.query("diffusion of regret", 10))
    assert lexical.query("diffusion of regret", 10, [2, 4]) == [(2, everything[2])]
    assert lexical.query("diffusion", 10, []) == []
    assert lexical.query("diffusion", 10, {0, 3}) == []


def test_scores_are_bm25_as_published(lexical: LexicalIndex) -> None:
    """Lucene's variant, k1 = 1.5, b = 0.75; a text without terms counts as one of a single, empty term."""
    texts = [terms(text) or [""] for text in TEXTS]
    average = sum(map(len, texts)) / len(texts)
    for number, score in lexical.query("diffusion for proteins", 10):
        expected = 0.0
        for term in ("diffus", "protein"):
            count = texts[number].count(term)
            damped = count + 1.5 * (0.25 + 0.75 * len(texts[number]) / average)
            expected += lexical.idf(term) * count / damped
        assert score == pytest.approx(expected, rel=1e-5)


def test_a_rare_term_weighs_more_than_a_common_and_an_unknown_the_most(lexical: LexicalIndex) -> None:
    assert lexical.idf("diffus") < lexical.idf("steiner") < lexical.idf("quantum")
    assert lexical.idf("diffus") == pytest.approx(math.log(1 + 4.5 / 2.5))


def test_it_knows_the_terms_it_holds(lexical: LexicalIndex) -> None:
    assert lexical.knows("diffus")
    assert lexical.knows("降低")
    assert not lexical.knows("quantum")
    assert not lexical.knows("the")


def test_a_corpus_without_any_term_can_be_built_and_asked(tmp_path: Path) -> None:
    build_lexical(tmp_path / "lexical", map(terms, ["", "the of"]))
    assert LexicalIndex(tmp_path / "lexical", 2).query("the steiner", 5) == []


def test_one_paper_is_a_corpus(tmp_path: Path) -> None:
    build_lexical(tmp_path / "lexical", map(terms, ["Steiner"]))
    assert [number for number, _ in LexicalIndex(tmp_path / "lexical", 1).query("Steiner trees", 5)] == [0]


@pytest.mark.parametrize("size", [5, 7])
def test_another_number_of_papers_is_refused(folder: Path, size: int) -> None:
    with pytest.raises(IndexDamaged, match=f"6 papers, not {size}"):
        LexicalIndex(folder, size)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexDamaged, match="paperchat ingest --rebuild"):
        LexicalIndex(tmp_path / "lexical", 6)


FILES = ["data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy", "params.index.json", "vocab.index.json"]


def test_the_files_that_are_damaged_here_are_all_there_are(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == FILES


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", ["missing", "half", "garbage"])
def test_a_damaged_file_is_refused(folder: Path, tmp_path: Path, name: str, how: str) -> None:
    file = Path(shutil.copytree(folder, tmp_path / "lexical")) / name
    content = file.read_bytes()
    file.unlink()
    if how != "missing":
        file.write_bytes(content[: len(content) // 2] if how == "half" else b"garbage")
    with pytest.raises(IndexDamaged, match="bm25s cannot open it"):
        LexicalIndex(tmp_path / "lexical", 6)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("npy")])
def test_an_empty_file_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    (Path(shutil.copytree(folder, tmp_path / "lexical")) / name).write_bytes(b"")
    with pytest.raises(IndexDamaged):
        LexicalIndex(tmp_path / "lexical", 6)
