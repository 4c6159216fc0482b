"""A question to ranked evidence, over the bundled sample."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from ingest.build import Request, ingest
from vectorstore import commit
from vectorstore import search as search_module
from vectorstore.catalogue import Entry
from vectorstore.commit import write_generation
from vectorstore.errors import NoIndex, OtherModel
from vectorstore.hashing import HashingEmbedder
from vectorstore.manifest import Manifest
from vectorstore.paper import Filters, Paper
from vectorstore.search import Searcher
from vectorstore.vectors import Chunk, Embedded, Embedder

STEINER = "icml2026-Cqq3HGRIuM"


@pytest.fixture(scope="module", params=["exactly", "by the graph"])
def searcher(
    request: pytest.FixtureRequest,
    pristine_index: Path,
    sample: Path,
    hashing: HashingEmbedder,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Searcher]:
    """Over an index that is small enough to look at every vector, and over one whose graph is asked."""
    root = pristine_index
    if request.param == "by the graph":
        root = tmp_path_factory.mktemp("graph") / "index"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(commit, "EXACT", 0)
            ingest(root, Request((sample,)), hashing)
    opened = Searcher(root, hashing)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("question", "id"),
    [
        ("What certified lower bound on the Steiner ratio was found?", STEINER),
        ("0.8559", STEINER),
        ("How does TokenDrop skip backward propagation?", "icml2026-D8DUCALWYb"),
        ("global PSRO population exploitability", "icml2026-DIytYt7tdI"),
        ("signed entropy integral for mislabelled medical images", "icml2026-BUxrIaf7Zc"),
        ("wavelet transformers on the ERA5 reanalysis", "icml2026-D70OyQr3O3"),
        ("Which paper did Lizhang Chen write?", "icml2026-DZbzIOguz4"),
    ],
)
def test_a_question_in_the_papers_own_words_finds_it_first(searcher: Searcher, question: str, id: str) -> None:
    assert searcher.search(question).evidence[0].paper.id == id


def test_ranks_count_from_one_and_scores_fall_within_bounds(searcher: Searcher) -> None:
    found = searcher.search("mixture of experts load balancing", k=37).evidence
    assert [evidence.rank for evidence in found] == list(range(1, 38))
    scores = [evidence.score for evidence in found]
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] <= scores[0] <= 1
    assert len({evidence.paper.id for evidence in found}) == 37


@pytest.mark.parametrize(("k", "expected"), [(1, 1), (5, 5), (30, 30), (37, 37), (1000, 37), (0, 0)])
def test_as_many_as_asked_and_there_are(searcher: Searcher, k: int, expected: int) -> None:
    assert len(searcher.search("diffusion", k).evidence) == expected


def test_the_best_are_the_same_whatever_k(searcher: Searcher) -> None:
    many = searcher.search("diffusion models", 30).evidence
    assert searcher.search("diffusion models", 3).evidence == many[:3]


def test_each_leg_is_told_where_it_found_the_paper(searcher: Searcher) -> None:
    found = searcher.search("Steiner ratio", 37).evidence
    assert found[0].found_by == ("dense", "lexical")
    assert found[0].dense is not None
    assert -1 <= found[0].dense <= 1
    assert found[-1].found_by == ("dense",)
    assert found[-1].lexical is None


def test_evidence_carries_all_passages_each_with_a_similarity(searcher: Searcher) -> None:
    for evidence in searcher.search("Steiner ratio certified lower bound 0.8559", 37).evidence:
        assert len(evidence.passages) == len(evidence.similarities) > 0
        assert all(-1.001 <= similarity <= 1.001 for similarity in evidence.similarities)
        assert all(passage.text in evidence.paper.abstract for passage in evidence.passages)


def test_the_sentence_that_answers_is_the_most_similar(searcher: Searcher) -> None:
    best = searcher.search("the system establishes a new certified lower bound of 0.8559").evidence[0]
    assert "0.8559" in best.passages[int(np.argmax(best.similarities))].text


def test_a_search_tells_its_vector_and_times(searcher: Searcher, hashing: HashingEmbedder) -> None:
    found = searcher.search("Steiner ratio")
    assert np.array_equal(found.vector, hashing.embed_question("Steiner ratio"))
    assert found.embed_ms >= 0
    assert found.search_ms > 0


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (Filters(), 37),
        (Filters(year=2026), 37),
        (Filters(year=2025), 0),
        (Filters(venue="ICML"), 37),
        (Filters(authors=("qiang liu",)), 1),
        (Filters(source="icml2026_sample"), 37),
        (Filters(source="elsewhere"), 0),
    ],
)
def test_filters_restrict_what_is_found(searcher: Searcher, filters: Filters, count: int) -> None:
    assert len(searcher.search("diffusion", 100, filters).evidence) == count


def test_filtered_evidence_fulfils_the_filter_and_is_ranked(searcher: Searcher) -> None:
    for filters in (Filters(decision="spotlight"), Filters(has_code=True), Filters(exclude=("diffusion",))):
        found = searcher.search("diffusion models", 100, filters).evidence
        expected = {paper.id for paper in searcher.papers() if filters.matches(paper)}
        assert {evidence.paper.id for evidence in found} == expected
        assert 0 < len(expected) < 37
        assert [evidence.rank for evidence in found] == list(range(1, len(found) + 1))


@pytest.mark.parametrize("question", ["", "???", "the of", "zzzz qqqq", "图神经网络", "\x00", "a" * 100_000])
def test_a_question_that_matches_nothing_is_answered_with_the_plain_ranking(searcher: Searcher, question: str) -> None:
    found = searcher.search(question, 5).evidence
    assert len(found) == 5
    assert all(evidence.lexical is None for evidence in found)
    assert all(np.isfinite([evidence.score, *evidence.similarities]).all() for evidence in found)


def test_keywords_replace_the_question_in_lexical_search_only(searcher: Searcher) -> None:
    question = "施泰纳比的下界是多少"
    assert searcher.search(question).evidence[0].lexical is None
    assert searcher.search(question, keywords="Steiner ratio").evidence[0].paper.id == STEINER
    assert all(evidence.lexical is None for evidence in searcher.search("Steiner ratio", keywords="").evidence)


def test_a_stray_word_does_not_beat_meaning(searcher: Searcher) -> None:
    """The lexical leg's best match gets a full score however poor it is, unless its share shrinks with coverage."""
    stray = "zebra quagga okapi gnu tapir lemur vicuna ocelot Steiner"
    coverage = searcher._coverage(stray, searcher._lexical(stray, 200, None))
    assert 0 < coverage < 0.25
    assert searcher._coverage("Steiner ratio", searcher._lexical("Steiner ratio", 200, None)) == pytest.approx(1)


def test_rare_terms_weigh_more_and_unknown_ones_are_named(searcher: Searcher) -> None:
    weights = searcher.weights(["steiner", "model"])
    assert weights["steiner"] > weights["model"] > 0
    assert searcher.unknown(["steiner", "zebra", "model"]) == ["zebra"]


def test_papers_are_looked_up_by_id_alias_and_address(searcher: Searcher) -> None:
    for name in (STEINER, "openreview:Cqq3HGRIuM", "https://openreview.net/forum?id=Cqq3HGRIuM"):
        found = searcher.paper(name)
        assert found is not None
        assert found.id == STEINER
    assert searcher.paper("icml2026-nobody") is None
    assert searcher.size == len(searcher.papers()) == 37
    assert [paper.id for paper in searcher.papers()] == sorted(paper.id for paper in searcher.papers())


def test_several_threads_search_at_once(searcher: Searcher) -> None:
    expected = {
        question: searcher.search(question, 5).evidence for question in ("Steiner ratio", "diffusion", "privacy")
    }
    wrong: list[str] = []

    def ask(question: str) -> None:
        for _ in range(5):
            if searcher.search(question, 5).evidence != expected[question]:
                wrong.append(question)

    threads = [threading.Thread(target=ask, args=(question,)) for question in expected for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_two_searchers_of_one_process_do_not_disturb_each_other(index: Path, hashing: HashingEmbedder) -> None:
    one, other = Searcher(index, hashing), Searcher(index, hashing)
    other.close()
    assert one.search("Steiner ratio").evidence[0].paper.id == STEINER
    one.close()


def test_an_empty_corpus_finds_nothing(
    tmp_path: Path, write: Callable[..., Manifest], hashing: HashingEmbedder
) -> None:
    write(tmp_path, [])
    searcher = Searcher(tmp_path, hashing)
    assert searcher.search("anything").evidence == ()
    assert (searcher.size, searcher.papers(), searcher.paper("x")) == (0, [], None)
    assert (searcher.weights(["a"]), searcher.unknown(["a"])) == ({}, ["a"])
    searcher.close()


def test_a_paper_without_abstract_is_found_and_has_nothing_to_quote(
    tmp_path: Path, write: Callable[..., Manifest], hashing: HashingEmbedder, paper: Callable[..., Paper]
) -> None:
    write(tmp_path, [paper(0), paper(1, title="Zebra counting", abstract="", authors=("Bo Ek",))])
    searcher = Searcher(tmp_path, hashing)
    for question in ("zebra", "Bo Ek"):
        best = searcher.search(question).evidence[0]
        assert (best.paper.title, best.passages, best.similarities) == ("Zebra counting", (), ())
    searcher.close()


def test_no_index_and_another_model(tmp_path: Path, index: Path, hashing: HashingEmbedder) -> None:
    class Other(HashingEmbedder):
        fingerprint = "other"

    with pytest.raises(NoIndex):
        Searcher(tmp_path / "nothing", hashing)
    with pytest.raises(OtherModel):
        Searcher(index, Other())


def test_a_paper_is_as_near_as_its_nearest_chunk(
    tmp_path: Path, hashing: HashingEmbedder, paper: Callable[..., Paper]
) -> None:
    papers = [paper(0), paper(1)]
    chunks = [Chunk("zebra"), Chunk("Steiner trees"), Chunk("okapi"), Chunk("Steiner tapir quagga")]
    keys = [chunk.key for chunk in chunks]
    entries = [Entry(papers[0], (), tuple(keys[:3])), Entry(papers[1], (), tuple(keys[3:]))]
    write_generation(tmp_path, entries, hashing.embed(chunks), papers, hashing)
    searcher = Searcher(tmp_path, hashing)
    best = searcher.search("Steiner trees", keywords="").evidence[0]
    searcher.close()
    assert (best.paper.id, best.dense) == ("p0", pytest.approx(1, abs=1e-5))


def test_a_paper_of_many_chunks_does_not_crowd_out_the_others(
    tmp_path: Path, hashing: HashingEmbedder, monkeypatch: pytest.MonkeyPatch, paper: Callable[..., Paper]
) -> None:
    """As many papers as asked, also where k reaches the pool: here made small."""
    monkeypatch.setattr(search_module, "POOL", 4)
    long = paper(0, abstract="Steiner trees. " * 6)
    papers = [long, *(paper(number) for number in range(1, 5))]
    chunks = [Chunk("Steiner trees")] * 6 + [Chunk(other.abstract) for other in papers[1:]]
    keys = [chunk.key for chunk in chunks]
    others = [Entry(other, (), (key,)) for other, key in zip(papers[1:], keys[6:], strict=True)]
    entries = [Entry(long, (), tuple(keys[:6])), *others]
    write_generation(tmp_path, entries, hashing.embed(chunks), papers, hashing)
    searcher = Searcher(tmp_path, hashing)
    found = searcher.search("Steiner trees", k=4).evidence
    searcher.close()
    assert len(found) == 4


class Exact(HashingEmbedder):
    fingerprint = "hashing-x-fp32"


class Rough(HashingEmbedder):
    """Its chunks' vectors are rounded, its questions' are not."""

    fingerprint = "hashing-x-bf16"

    def embed(self, chunks: Sequence[Chunk]) -> list[Embedded]:
        return [Embedded(found.text.round(2), found.spans.round(2)) for found in super().embed(chunks)]


@pytest.mark.parametrize(("built", "asked"), [(Rough(), Exact()), (Exact(), Rough())])
def test_an_index_answers_questions_of_its_model_in_another_precision(
    tmp_path: Path, write: Callable[..., Manifest], paper: Callable[..., Paper], built: Embedder, asked: Embedder
) -> None:
    write(tmp_path, [paper(number) for number in range(5)], built)
    own, other = Searcher(tmp_path, built), Searcher(tmp_path, asked)
    assert other.fingerprint == built.fingerprint
    for question in ("Steiner trees", "regret of bandits", "a bound of 0.455"):
        assert other.search(question).evidence == own.search(question).evidence
        assert len(other.search(question).evidence) == 5
    own.close()
    other.close()


# With the bundled model


@pytest.mark.parametrize(
    ("question", "id"),
    [
        ("Which new constant for shortest networks in the plane was established?", STEINER),
        ("How can noisy hospital scans with wrong annotations be spotted?", "icml2026-BUxrIaf7Zc"),
        ("keeping training data of a program writer secret", "icml2026-DDYr4KXKs1"),
        ("saving memory by not computing gradients for unimportant words", "icml2026-D8DUCALWYb"),
    ],
)
def test_meaning_is_found_where_words_differ(minilm_index: Path, minilm: Embedder, question: str, id: str) -> None:
    searcher = Searcher(minilm_index, minilm)
    found = searcher.search(question, 3).evidence
    searcher.close()
    assert id in [evidence.paper.id for evidence in found]


def test_the_right_sentence_stands_out_by_meaning(minilm_index: Path, minilm: Embedder) -> None:
    searcher = Searcher(minilm_index, minilm)
    best = searcher.search("forecasting the weather").evidence[0]
    searcher.close()
    assert best.paper.id == "icml2026-D70OyQr3O3"
    ranked = sorted(zip(best.similarities, best.passages, strict=True), key=lambda pair: -pair[0])
    assert "weather forecasting" in ranked[0][1].text
    assert "ERA5 climate" in ranked[1][1].text
