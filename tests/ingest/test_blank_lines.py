"""Abstracts between blank lines, with whatever else such files hold."""

import textwrap
from collections.abc import Callable

import pytest

from ingest.document import Skipped
from ingest.readers.blank_lines import read_blank_lines
from vectorstore.paper import Paper

Abstract = Callable[..., str]


def records(text: str) -> list[Paper]:
    return [item for item in read_blank_lines(text, "a.txt") if isinstance(item, Paper)]


def skipped(text: str) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in read_blank_lines(text, "a.txt") if isinstance(item, Skipped)]


@pytest.fixture
def three(abstract: Abstract) -> list[str]:
    return [abstract(number) for number in range(3)]


@pytest.mark.parametrize(
    "heading", ["ICML 2026 Papers", "ICML 2026 论文列表", "# Accepted papers", "论文列表：共三十七篇"]
)
def test_a_heading_is_no_paper_and_no_fault(three: list[str], heading: str) -> None:
    text = "\n\n".join([heading, *three])
    assert [paper.abstract for paper in records(text)] == three
    assert not any(paper.title for paper in records(text))
    assert skipped(text) == []


@pytest.mark.parametrize("gap", ["\n\n", "\n\n\n\n", "\n \t\n", "\r\n\r\n", "\n\n \n\n"])
def test_blank_lines_of_any_kind_separate(three: list[str], gap: str) -> None:
    assert [paper.abstract for paper in records(gap.join(three) + gap)] == three


def test_the_id_is_a_function_of_the_text(three: list[str]) -> None:
    one, other = records("\n\n".join(three)), records("\n\n\n".join(["A heading", *three]))
    assert [paper.id for paper in one] == [paper.id for paper in other]
    assert len({paper.id for paper in one}) == 3


def test_a_wrapped_abstract_is_one_and_stays_as_it_was_wrapped(three: list[str]) -> None:
    wrapped = [textwrap.fill(abstract, 72) for abstract in three]
    found = records("\n\n".join(wrapped))
    assert [paper.abstract for paper in found] == wrapped
    assert not any(paper.title for paper in found)


def test_short_blocks_before_the_abstracts_are_their_titles(three: list[str]) -> None:
    text = "\n\n".join(block for number, abstract in enumerate(three) for block in (f"## Title {number}", abstract))
    assert [(paper.title, paper.abstract) for paper in records(text)] == [
        (f"Title {number}", abstract) for number, abstract in enumerate(three)
    ]
    assert skipped(text) == []


def test_two_titled_abstracts_are_enough_to_know(three: list[str]) -> None:
    assert [paper.title for paper in records("\n\n".join(["One", three[0], "Two", three[1]]))] == ["One", "Two"]


def test_a_first_line_above_the_abstract_is_its_title(three: list[str]) -> None:
    text = "\n\n".join(f"**Title {number}**\n{abstract}" for number, abstract in enumerate(three))
    assert [(paper.title, paper.abstract) for paper in records(text)] == [
        (f"Title {number}", abstract) for number, abstract in enumerate(three)
    ]


def test_a_short_title_above_a_wrapped_abstract(three: list[str]) -> None:
    text = "\n\n".join(f"A Title Of Study {n}\n{textwrap.fill(abstract, 80)}" for n, abstract in enumerate(three))
    assert [paper.title for paper in records(text)] == [f"A Title Of Study {n}" for n in range(3)]


def test_a_stray_short_block_is_named_by_its_line(abstract: Abstract) -> None:
    six = [abstract(number) for number in range(6)]
    text = "\n\n".join(["A heading", six[0], "See also part two", *six[1:], "The end"])
    assert [paper.abstract for paper in records(text)] == six
    assert not any(paper.title for paper in records(text))
    assert skipped(text) == [(5, "too short for an abstract (4 words)"), (17, "too short for an abstract (2 words)")]


def test_lines_are_counted_through_wrapped_blocks_and_wide_gaps(three: list[str]) -> None:
    text = "Heading\n\n\n" + "line of words\n" * 20 + "\n\n" + "\n\n".join(three) + "\r\n\r\n \r\nstray\r\n"
    assert skipped(text) == [(33, "too short for an abstract (1 words)")]


def test_a_heading_and_one_stray_block_are_no_titles(three: list[str]) -> None:
    text = "\n\n".join(["ICML 2026 Papers", three[0], "Continued", three[1], three[2]])
    assert [paper.title for paper in records(text)] == ["", "", ""]


def test_a_heading_above_titled_abstracts_is_no_fault_either(three: list[str]) -> None:
    text = "\n\n".join(["ICML 2026 Papers", *(b for n, a in enumerate(three) for b in (f"Title {n}", a))])
    assert [paper.title for paper in records(text)] == ["Title 0", "Title 1", "Title 2"]
    assert skipped(text) == []


@pytest.mark.parametrize("number", ["{}", "{}.", "[{}]", "#{}"])
def test_running_numbers_are_no_titles(three: list[str], number: str) -> None:
    text = "\n\n".join(block for n, abstract in enumerate(three, 1) for block in (number.format(n), abstract))
    assert [paper.abstract for paper in records(text)] == three
    assert not any(paper.label.strip("#[].").isdigit() for paper in records(text))


@pytest.mark.parametrize("title", ["Learning to Program in C#", "Planning with Neural A*"])
def test_a_title_keeps_its_last_character(three: list[str], title: str) -> None:
    assert records("\n\n".join(f"{title}\n{abstract}" for abstract in three))[0].title == title


def test_a_text_without_any_abstract_has_no_records() -> None:
    assert records("One line") == []
    assert records("One\n\nTwo\n\nThree") == []


def test_a_chinese_abstract_counts_its_characters(three: list[str]) -> None:
    chinese = "我们研究了大规模图神经网络中非常重要的问题并且提出了新的方法，实验表明该方法在多个数据集上优于已有方法。"
    assert [paper.abstract for paper in records("论文\n\n" + chinese)] == [chinese]
