"""From a citation to the sentence in its abstract and back, by mouse, by keyboard, on a phone; taking papers along."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

Ask = Callable[[Page, str], None]
QUESTION = "Which simple regret bound holds for Gaussian process bandits in the hypersphere?"


def words(text: str) -> str:
    """Without white space and without the numbers and arrows that are buttons."""
    return re.sub(r"[\s\u2060]+", "", text)


def without_buttons(page: Page, selector: str) -> str:
    shown = page.evaluate(
        """(selector) => { const copy = document.querySelector(selector).cloneNode(true);
        copy.querySelectorAll("button").forEach((button) => button.remove()); return copy.textContent; }""",
        selector,
    )
    return words(shown)


def test_a_click_on_a_number_opens_the_card_at_the_very_sentence(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, QUESTION)
    for number in range(page.locator("#live .sentence").count()):
        cite = page.locator(f"#t0-s{number} .cite").first
        cite.click()
        mark = page.locator(f"#{cite.get_attribute('data-mark')}")
        expect(mark).to_be_focused()
        expect(mark).to_have_attribute("data-active", "")
        quoted = without_buttons(page, f"#t0-m{number}-0")
        assert quoted
        assert quoted == without_buttons(page, f"#t0-s{number}")


def test_only_the_panel_scrolls(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    page.set_viewport_size({"width": 1280, "height": 420})
    ask(page, QUESTION)
    talk = page.evaluate("document.querySelector('#scroll').scrollTop")
    last = page.locator("#panel mark").last
    page.locator(f'#live .cite[data-mark="{last.get_attribute("id")}"]').click()
    page.wait_for_function("document.querySelector('#panel').scrollTop > 50")
    page.wait_for_timeout(600)
    panel, place = page.locator("#panel").bounding_box(), last.bounding_box()
    assert panel
    assert place
    assert panel["y"] <= place["y"] < panel["y"] + panel["height"]
    assert page.evaluate("[window.scrollY, document.body.scrollTop, document.documentElement.scrollTop]") == [0, 0, 0]
    assert page.evaluate("document.querySelector('#scroll').scrollTop") == talk


def test_a_quoted_sentence_leads_back_to_its_place_in_the_answer(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "What is QuantumBoost?")
    ask(page, QUESTION)
    page.locator("#log .cite").first.click()
    expect(page.locator("#shelf .shelf")).to_be_visible()
    expect(page.locator("#cards .shelf")).to_be_hidden()
    back = page.locator("#shelf .back").last
    sentence = page.locator(f"#{back.get_attribute('data-sentence')}")
    back.click()
    expect(sentence.locator(".cite").first).to_be_focused()
    expect(sentence).to_be_in_viewport()


def test_all_of_it_works_from_the_keyboard(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, QUESTION)
    page.locator("#live .cite").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#cards mark[data-active]")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#cards .back:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#live .cite:focus")).to_have_count(1)
    toggle = page.locator("#cards .toggle").first
    toggle.focus()
    page.keyboard.press("Space")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#cards .body").first).to_be_hidden()


def test_a_list_has_a_card_for_each_of_its_papers(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "Which papers are about mixture of experts models?")
    listed = page.locator("#live .found > li")
    cards = page.locator("#cards .card")
    assert listed.count() == cards.count() > 1
    page.locator("#live .cite").nth(1).click()
    expect(cards.nth(1).locator(".toggle")).to_have_attribute("aria-expanded", "true")
    expect(cards.nth(0).locator(".toggle")).to_have_attribute("aria-expanded", "false")
    assert listed.nth(1).locator("strong").inner_text() == cards.nth(1).locator(".label").inner_text()


def test_a_card_says_what_it_must(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "What is QuantumBoost?")
    card = page.locator("#cards .card")
    expect(card.locator(".authors")).to_contain_text("Amira Abbas")
    expect(card.locator(".facts")).to_contain_text("ICML 2026")
    link = card.locator("a")
    assert link.get_attribute("href") == "https://openreview.net/forum?id=COjmyds8zz"
    assert link.get_attribute("rel") == "noopener noreferrer"


def test_on_a_phone_the_panel_comes_over_the_conversation_and_goes(open_page, server, ask: Ask) -> None:
    page = open_page(server, width=390)
    ask(page, QUESTION)
    panel = page.locator("#panel")
    expect(panel).to_be_hidden()
    cite = page.locator("#live .cite").first
    cite.click()
    expect(panel).to_be_visible()
    expect(page.locator("#cards mark[data-active]")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(cite).to_be_focused()
    page.click("#live .show-shelf")
    expect(panel).to_be_visible()
    page.click("#close-panel")
    expect(panel).to_be_hidden()
    cite.click()
    page.locator("#cards .back").first.click()
    expect(panel).to_be_hidden()


def test_papers_are_copied(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "What is QuantumBoost?")
    page.get_by_role("button", name="Copy these papers as BibTeX").click()
    expect(page.locator("#status")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@inproceedings{abbas2026quantumboost,")
    page.get_by_role("button", name="Copy these papers as Markdown").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('1. **QuantumBoost'))")


@pytest.mark.parametrize(("format", "name"), [("BibTeX", "papers.bib"), ("Markdown", "papers.md")])
def test_papers_are_saved(open_page, server, ask: Ask, format: str, name: str) -> None:
    page = open_page(server)
    ask(page, "What is QuantumBoost?")
    with page.expect_download() as saving:
        page.get_by_role("button", name=f"Save these papers as {format}").click()
    assert saving.value.suggested_filename == name
    assert "QuantumBoost" in Path(saving.value.path()).read_text(encoding="utf-8")
