"""One page that says it all, needs no network and runs nothing that came from a question."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from evals.dataset import Dataset
from evals.html import html
from evals.plots import Bar, curves, spans, whiskers
from evals.run import evaluate

EVIL = "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>"


@pytest.fixture
def page(scripted, case, answer) -> str:
    cases = (
        case(must_show=("0.824",)),
        case(id="c2", question=EVIL, category="<b>odd</b>"),
        case(id="c3", question="boom"),
        case(id="c4", question="rain?", category="off", answerable=False, relevant=()),
    )
    answers = {
        "q": answer([("p1", "We raise the bound to $0.8559$.")], confidence=0.7),
        EVIL: answer(refused="not_in_corpus", confidence=0.1),
        "boom": ValueError(EVIL),
        "rain?": answer(refused="off_topic", confidence=0.05),
    }
    return html(evaluate(Dataset("mine", cases), scripted(answers)))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))


def test_nothing_is_loaded_and_nothing_of_a_question_runs(page):
    tags = Tags()
    tags.feed(page)
    assert sum(tag == "script" for tag, _ in tags.seen) == 1  # the page's own
    assert not [tag for tag, _ in tags.seen if tag in ("img", "link", "iframe")]
    assert not [name for _, attributes in tags.seen for name in attributes if name in ("src", "href", "onerror")]
    assert "default-src 'none'" in page


def test_every_question_is_there_with_what_happened_and_why(page):
    tags = Tags()
    tags.feed(page)
    rows = {attributes["id"]: attributes for tag, attributes in tags.seen if tag == "details"}
    assert list(rows) == ["c1", "c2", "c3", "c4"]
    assert [rows[id]["data-lost"] for id in rows] == ["1", "1", "1", "0"]
    assert "&#39;0.824&#39; is in no quote" in page
    assert "We raise the bound to $0.8559$." in page
    assert "Steiner" in page  # the title of what was retrieved


def test_plots_are_sound_and_hold_the_curve(page):
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    for one in drawn:
        ElementTree.fromstring(one)
    assert any("answerable refused" in one for one in drawn)


def test_marks_stand_where_their_values_are():
    svg = ElementTree.fromstring(whiskers("t", [Bar("a & b", 0.5, 0.25, 0.75, 4), Bar("c", 1, 1, 1, 2)]))
    half, whole = (float(dot.attrib["cx"]) for dot in svg.iter("circle"))
    zero = float(next(svg.iter("line")).attrib["x1"])
    assert half == pytest.approx((zero + whole) / 2)
    low = next(line.attrib for line in svg.iter("line") if line.attrib["class"] == "interval")
    assert float(low["x1"]) == pytest.approx((zero + half) / 2)
    assert "a & b: 0.500 [0.25, 0.75], n = 4" in "".join(svg.itertext())


@pytest.mark.parametrize("rows", [{}, {"a": (0.0, 0.0)}, {"a": (1.0, 2.0), "<b>": (3.0, 90.0)}])
def test_bars_of_any_size_are_sound(rows):
    ElementTree.fromstring(spans("t", rows, "ms"))


@pytest.mark.parametrize("points", [[(0.5, 1.0)], [(0.0, 0.0), (0.5, 0.4), (1.0, 1.0)]])
def test_a_curve_of_one_point_or_many_is_sound(points):
    ElementTree.fromstring(curves("t", "x < y", {"a": points, "b": points, "c": points}))
