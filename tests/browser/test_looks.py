"""How it looks at every width and in both themes, and what a screen reader is told."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

Ask = Callable[[Page, str], None]
QUESTION = "Which simple regret bound holds for Gaussian process bandits in the hypersphere?"


@pytest.mark.parametrize("width", [390, 768, 900, 1280, 1920])
def test_nothing_scrolls_sideways(open_page, server, ask: Ask, width: int) -> None:
    page = open_page(server, width=width)
    boxes = "['html', 'body', '#head', '#scroll', '#panel'].map((s) => document.querySelector(s))"
    sideways = f"{boxes}.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.id || box.tagName)"
    assert page.evaluate(sideways) == []
    ask(page, QUESTION)
    page.locator("#live .cite").first.click()
    assert page.evaluate(sideways) == []
    ask(page, "Which papers are about mixture of experts models?")
    assert page.evaluate(sideways) == []
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_themes(
    open_page, server, ask: Ask, contrast: Callable[[Page, str], float], scheme: str
) -> None:
    page = open_page(server, color_scheme=scheme)
    assert ("dark" in (page.locator("body").get_attribute("class") or "")) == (scheme == "dark")
    ask(page, QUESTION)
    page.wait_for_timeout(300)
    for selector in (
        *("#live .question", "#live .words", "#live .foot", "#live .cite", "#cards .abstract", "#cards mark"),
        *("#cards .authors", "#cards .facts a", "#ask", "#new", "#box textarea", "#cards .copy", "#cards .back"),
    ):
        assert contrast(page, selector) >= 4.5, selector


def test_the_theme_is_the_systems_until_one_is_chosen(open_page, server) -> None:
    page = open_page(server, color_scheme="dark")
    page.click("#theme")
    assert "dark" not in (page.locator("body").get_attribute("class") or "")
    page.reload()
    page.wait_for_selector(".welcome")
    page.wait_for_timeout(300)
    assert "dark" not in (page.locator("body").get_attribute("class") or "")


def test_a_screen_reader_is_told_what_everything_is(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()
    expect(page.get_by_role("button", name="Switch between light and dark")).to_be_visible()
    ask(page, "What is QuantumBoost?")
    expect(page.get_by_role("region", name="Conversation")).to_be_visible()
    expect(page.get_by_role("complementary", name="Papers")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("paperchat")
    expect(page.get_by_role("heading", level=2, name="What is QuantumBoost?")).to_be_visible()
    expect(page.get_by_role("button", name="Source 1: QuantumBoost").first).to_be_visible()
    expect(page.get_by_role("button", name="QuantumBoost: A lazy", expanded=True)).to_be_visible()
    unnamed = page.evaluate(
        """[...document.querySelectorAll("#head button, #room button")].filter((button) =>
        !(button.getAttribute("aria-label") ?? button.textContent).trim()).map((button) => button.outerHTML)"""
    )
    assert unnamed == []
    doubled = page.evaluate(
        """(() => { const ids = [...document.querySelectorAll("[id]")].map((e) => e.id).filter(Boolean);
        return ids.filter((id, i) => ids.indexOf(id) !== i); })()"""
    )
    assert doubled == []


def test_an_answer_is_announced_once_and_whole(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    status = page.get_by_role("status").filter(has_text="QuantumBoost")
    ask(page, "What is QuantumBoost?")
    expect(status).to_contain_text("[1]")
    said = page.locator("#status").inner_text()
    assert page.locator("#status").get_attribute("aria-live") == "polite"
    for sentence in page.locator("#live .sentence").all():
        assert sentence.inner_text().split(".")[0][:40] in said


def test_the_focus_goes_from_the_head_through_the_answer_to_the_papers(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "What is QuantumBoost?")
    page.locator("#theme").focus()
    visited = []
    for _ in range(14):
        page.keyboard.press("Tab")
        visited.append(page.evaluate("document.activeElement.id || document.activeElement.className.split(' ')[0]"))
    order = ["new", "cite", "ask", "copy", "toggle"]
    places = [next(i for i, name in enumerate(visited) if wanted in (name, name.split("-")[-1])
                   or (wanted == "toggle" and name.endswith("-name"))) for wanted in order]  # fmt: skip
    assert places == sorted(places), visited
