"""What is embedded: every sentence in one chunk, every chunk inside the model's window."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.chunks import chunks_of
from ingest.sentences import sentence_spans
from vectorstore.paper import Paper
from vectorstore.text import plain
from vectorstore.vectors import Chunk, Embedder


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def paper_of(lengths: Sequence[int], title: str = "A title") -> tuple[Paper, list[tuple[int, int]]]:
    """A paper whose sentences have these numbers of words, every word its own."""
    text, spans = "", []
    for number, length in enumerate(lengths):
        sentence = " ".join(f"s{number}w{word}word" for word in range(length - 1)) + f" end{number}."
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence + " "
    return Paper("x", title, text.strip()), spans


def spanned(chunk: Chunk) -> list[str]:
    return [chunk.text[start:end] for start, end in chunk.spans]


def test_a_short_paper_is_one_chunk_of_title_and_abstract() -> None:
    paper = Paper("x", "On $\\phi$", "We **propose** it. It\nworks.")
    (chunk,) = chunks_of(paper, [(0, 18), (19, 28)], 512, words)
    assert chunk.text == "On phi\nWe propose it. It\nworks."
    assert spanned(chunk) == ["We propose it.", "It\nworks."]


@pytest.mark.parametrize(
    ("paper", "text"),
    [
        (Paper("x", "Only a title"), "Only a title"),
        (Paper("x", "", "Only an abstract."), "Only an abstract."),
    ],
)
def test_a_paper_of_one_field(paper: Paper, text: str) -> None:
    (chunk,) = chunks_of(paper, sentence_spans(paper.abstract), 512, words)
    assert chunk.text == text


def test_a_window_without_end_takes_everything() -> None:
    paper, spans = paper_of([50] * 100)
    (chunk,) = chunks_of(paper, spans, None, words)
    assert len(chunk.spans) == 100


@given(st.lists(st.integers(2, 30), min_size=1, max_size=25), st.integers(30, 90))
def test_every_sentence_has_its_span_in_exactly_one_chunk_and_every_chunk_fits(lengths: list[int], room: int) -> None:
    paper, spans = paper_of(lengths)
    chunks = chunks_of(paper, spans, room, words)
    assert [text for chunk in chunks for text in spanned(chunk)] == [plain(paper.abstract[s:e]) for s, e in spans]
    assert all(chunk.text.startswith("A title\n") for chunk in chunks)
    assert all(chunk.spans for chunk in chunks)
    for chunk in chunks:
        alone = len(chunk.spans) == 1 and chunk.text.count("end") == 1
        assert words([chunk.text])[0] <= room or alone


@given(st.lists(st.integers(2, 12), min_size=12, max_size=30))
def test_windows_overlap_by_whole_sentences_and_never_by_more_than_two(lengths: list[int]) -> None:
    paper, spans = paper_of(lengths)
    chunks = chunks_of(paper, spans, 50, words)
    bodies = [chunk.text.removeprefix("A title\n") for chunk in chunks]
    for before, chunk, body in zip(bodies, chunks[1:], bodies[1:], strict=False):
        repeated = body[: chunk.spans[0][0] - len("A title\n")].strip()
        assert before.endswith(repeated)
        assert repeated.count("end") <= 2


def test_windows_overlap_where_there_is_room() -> None:
    paper, spans = paper_of([10] * 12)
    chunks = chunks_of(paper, spans, 60, words)
    assert len(chunks) > 1
    for chunk in chunks[1:]:
        assert chunk.text[: chunk.spans[0][0]].count("end") == 2


def test_a_sentence_larger_than_the_window_is_a_chunk_of_its_own() -> None:
    paper, spans = paper_of([5, 5, 200, 5, 5])
    chunks = chunks_of(paper, spans, 50, words)
    huge = [chunk for chunk in chunks if "s2w0word" in chunk.text]
    assert len(huge) == 1
    assert huge[0].text.count("end") == 1
    assert len(huge[0].spans) == 1
    assert sum(len(chunk.spans) for chunk in chunks) == 5


def test_a_title_larger_than_the_window_loses_no_sentence() -> None:
    paper, spans = paper_of([5, 5, 5], title=" ".join(["title"] * 100))
    chunks = chunks_of(paper, spans, 50, words)
    assert sum(len(chunk.spans) for chunk in chunks) == 3


# With the bundled model's tokens


def fits(chunks: Sequence[Chunk], embedder: Embedder) -> bool:
    """Whether each chunk and its two special tokens fit into the window."""
    assert embedder.max_tokens is not None
    return max(embedder.count_tokens([chunk.text for chunk in chunks])) + 2 <= embedder.max_tokens


def chunked(abstract: str, embedder: Embedder) -> list[Chunk]:
    paper = Paper("x", "A title of seven words or so", abstract)
    return chunks_of(paper, sentence_spans(abstract), embedder.max_tokens, embedder.count_tokens)


def test_an_abstract_of_2000_tokens_fits_in_windows(minilm: Embedder) -> None:
    abstract = " ".join(
        f"Sentence {n} of this very long abstract tells of $\\alpha_{{{n}}}$-divergences and generalizability."
        for n in range(100)
    )
    assert minilm.count_tokens([plain(abstract)])[0] > 2000
    chunks = chunked(abstract, minilm)
    assert len(chunks) > 3
    assert fits(chunks, minilm)
    assert sum(len(chunk.spans) for chunk in chunks) == 100


@pytest.mark.parametrize(
    "abstract",
    [
        "我们研究了一个在大规模图神经网络中非常重要的问题并且提出了一种新的方法。" * 25,
        "$x_1+y_2=z_3^2-(a_4*b_5)/c_6$. " * 34,
    ],
    ids=["Chinese", "formulas"],
)
def test_dense_scripts_fit_too(minilm: Embedder, abstract: str) -> None:
    assert fits(chunked(abstract, minilm), minilm)


def test_the_sample_is_one_chunk_a_paper_as_measured(minilm: Embedder, sample: Path) -> None:
    for row in map(json.loads, sample.read_text().splitlines()):
        paper = Paper("x", row["title"], row["abstract"])
        chunks = chunks_of(paper, sentence_spans(paper.abstract), minilm.max_tokens, minilm.count_tokens)
        assert len(chunks) == 1, row["id"]
        assert fits(chunks, minilm), row["id"]
