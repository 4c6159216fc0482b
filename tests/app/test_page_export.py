"""References to take away: unique keys, balanced braces, nothing smuggled in."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.answer import CitedPaper, PaperCard
from app.export import bibtex, markdown, web_address


def card(number: int = 1, **fields: Any) -> CitedPaper:
    made = {
        "id": "p1", "label": "QuantumBoost: A lazy algorithm", "title": "QuantumBoost: A lazy algorithm",
        "authors": ("Amira Abbas", "Ronald de Wolf"), "venue": "ICML", "year": 2026,
        "url": "https://openreview.net/forum?id=COjmyds8zz", "topic": "", "decision": "oral",
    }  # fmt: skip
    if "title" in fields:
        fields.setdefault("label", fields["title"])
    return CitedPaper(number=number, **{**made, **fields})


def is_balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"[{}]", text):  # BibTeX counts escaped ones as well
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def test_an_entry_has_what_a_reference_needs() -> None:
    assert bibtex([card()]) == (
        "@inproceedings{abbas2026quantumboost,\n"
        "  title        = {{QuantumBoost: A lazy algorithm}},\n"
        "  author       = {Amira Abbas and Ronald de Wolf},\n"
        "  booktitle    = {ICML},\n"
        "  year         = {2026},\n"
        "  url          = {https://openreview.net/forum?id=COjmyds8zz},\n"
        "  note         = {Oral},\n"
        "}\n"
    )


def test_keys_are_unique_however_alike_the_papers_are() -> None:
    keys = re.findall(r"@\w+\{(.*),", bibtex([card(n) for n in range(1, 60)]))
    assert len(set(keys)) == 59
    assert keys[:3] == ["abbas2026quantumboost", "abbas2026quantumboosta", "abbas2026quantumboostb"]
    assert all(re.fullmatch(r"[a-z0-9]+", key) for key in keys)


@pytest.mark.parametrize(
    ("title", "written"),
    [
        (r"$\phi$-Balancing for Experts", r"$\phi$-Balancing for Experts"),
        (r"Gains of 35\% & more_or_less", r"Gains of 35\% \& more\_or\_less"),
        ("**TokenDrop**: *fast*", r"\textbf{TokenDrop}: \emph{fast}"),
        ("Schrödinger–Bridge by Łukasz, naïve", r"Schr{\"o}dinger--Bridge by {\L}ukasz, na{\"i}ve"),
        (r"Fr\'echet means", r"Fr{\'e}chet means"),
        (r"broken $\frac{1$ here", r"broken \$\textbackslash{}frac\textbraceleft{}1\$ here"),
        ("扩散模型", "扩散模型"),
    ],
)
def test_titles_in_latex(title: str, written: str) -> None:
    assert f"{{{{{written}}}}}" in bibtex([card(title=title)])


def test_names_that_bibtex_would_take_apart_are_held_together() -> None:
    written = bibtex([card(authors=("Bill and Melinda", "others", "José Müller", " "))])
    assert r"author       = {{Bill and Melinda} and {others} and Jos{\'e} M{\"u}ller}," in written


def test_a_paper_without_anything_still_has_a_key_and_a_title() -> None:
    written = bibtex([card(title="", label="Global PSRO", authors=(), venue="", year=None, url="", decision="")])
    assert written == "@misc{global,\n  title        = {{Global PSRO}},\n}\n"


def test_markdown_has_a_line_a_paper_numbered_as_cited() -> None:
    assert markdown([card(3)]) == (
        "3. **QuantumBoost: A lazy algorithm**. Amira Abbas, Ronald de Wolf. ICML 2026, oral. "
        "<https://openreview.net/forum?id=COjmyds8zz>\n"
    )
    nearest = PaperCard(**card().model_dump(exclude={"number"}))
    assert markdown([nearest, nearest]).splitlines()[1].startswith("2. ")


def test_markdown_takes_in_no_markup() -> None:
    line = markdown([card(title="<img src=x> [x](javascript:alert(1)) `a` *b* _c_ $\\phi$", url="javascript:alert(1)")])
    assert r"\<img src=x\> x (javascript:alert(1))" in line
    assert r"$\phi$" in line
    assert not re.search(r"(?<!\\)[<\[`]", line)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://openreview.net/forum?id=x%20y#z", True),
        ("http://arxiv.org/abs/2409.04701", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("data:text/html,x", False),
        ('https://a.example/"onmouseover="x', False),
        ("https://a.example/ x", False),
        ("https://a.example/x\njavascript:", False),
        ("//a.example", False),
        ("", False),
    ],
)
def test_only_addresses_on_the_web_are_links(url: str, kept: bool) -> None:
    assert web_address(url) == (url if kept else "")


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=4), st.text(max_size=10))
def test_any_paper_gives_one_sound_entry_and_one_line(title: str, authors: list[str], venue: str) -> None:
    paper = card(title=title, label=title or "x", authors=tuple(authors), venue=venue)
    written = bibtex([paper])
    assert is_balanced(written)
    assert written.startswith("@")
    assert written.endswith("}\n")
    assert len(markdown([paper]).splitlines()) == 1
