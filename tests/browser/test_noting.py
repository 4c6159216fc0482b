"""Saying that an answer is not good, where the server's owner asks for it, and that nobody is asked elsewhere."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Ask = Callable[[Page, str], None]
QUESTION = "What is QuantumBoost?"


@pytest.fixture(scope="module")
def noting(serve, pristine_index: Path, tmp_path_factory: pytest.TempPathFactory):
    """A server that asks."""
    return serve(pristine_index, feedback=tmp_path_factory.mktemp("feedback") / "feedback.jsonl")


@pytest.fixture
def told(noting) -> Callable[[], list[dict[str, Any]]]:
    """What was kept since the test began."""
    before = noting.feedback.read_bytes()

    def lines() -> list[dict[str, Any]]:
        return [json.loads(line) for line in noting.feedback.read_bytes()[len(before) :].splitlines()]

    return lines


def press(page: Page, kind: str) -> None:
    """Press a button of the newest answer and wait until it is noted."""
    button = page.locator(f'#live .note[data-kind="{kind}"]')
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")


def test_nobody_is_asked_where_it_is_off(open_page, server, ask: Ask, watch) -> None:
    page = open_page(server)
    ask(page, QUESTION)
    ask(page, "Who wrote it?")
    assert page.locator(".feedback, .note").count() == 0
    assert "owner" not in page.locator("#room").inner_text()
    assert not any("api/feedback" in url for url in watch.requests)


def test_a_press_is_noted_once(open_page, noting, ask: Ask, told, watch) -> None:
    page = open_page(noting)
    ask(page, QUESTION)
    assert told() == []
    page.evaluate(
        """() => { window.seen = []; const button = document.querySelector("#live .note");
        new MutationObserver(() => window.seen.push(button.textContent)).observe(button, {childList: true}); }"""
    )
    unhelpful = page.locator('#live .note[data-kind="unhelpful"]')
    unhelpful.dblclick()
    page.wait_for_function("window.seen.length > 1")
    assert page.evaluate("window.seen") == ["Noted", "Not helpful"]
    expect(unhelpful).to_have_attribute("aria-pressed", "true")
    expect(page.locator('#live .note[data-kind="wrong_paper"]')).to_have_attribute("aria-pressed", "false")
    unhelpful.click()
    press(page, "wrong_paper")
    assert [line["kind"] for line in told()] == ["unhelpful", "wrong_paper"]
    assert len([url for url in watch.requests if url.endswith("/api/feedback")]) == 2
    line = told()[0]
    assert (line["question"], line["cited"]) == (QUESTION, ["icml2026-COjmyds8zz"])
    assert [quote["paper_id"] for quote in line["quotes"]] == ["icml2026-COjmyds8zz"] * page.locator(
        ".sentence"
    ).count()
    assert "history" not in line


def test_it_stays_noted_after_the_next_question_and_a_reload(open_page, noting, ask: Ask, told, watch) -> None:
    page = open_page(noting)
    ask(page, QUESTION)
    press(page, "wrong_paper")
    ask(page, "What is TokenDrop?")
    past = page.locator('#log .note[data-kind="wrong_paper"]')
    expect(past).to_have_attribute("aria-pressed", "true")
    expect(page.locator('#live .note[data-kind="wrong_paper"]')).to_have_attribute("aria-pressed", "false")
    page.reload()
    page.wait_for_selector("#log .turn")
    expect(past.first).to_have_attribute("aria-pressed", "true")
    past.first.click()
    expect(page.locator("#status")).to_have_text("Noted")
    assert len([url for url in watch.requests if url.endswith("/api/feedback")]) == len(told()) == 1


def test_a_follow_up_goes_with_what_it_followed_and_one_asked_alone_without(open_page, noting, ask: Ask, told) -> None:
    page = open_page(noting)
    ask(page, QUESTION)
    ask(page, "Who wrote it?")
    press(page, "unhelpful")
    page.click("#live .alone")
    expect(page.locator("#log .turn")).to_have_count(2)
    page.wait_for_selector("#live .feedback[data-alone]")
    press(page, "unhelpful")
    follow_up, alone = told()
    question, answer = follow_up["history"]
    assert (question["role"], question["content"]) == ("user", QUESTION)
    assert (answer["role"], answer["papers"]) == ("assistant", ["icml2026-COjmyds8zz"])
    assert "QuantumBoost" in follow_up["standalone_question"]
    assert alone["question"] == alone["standalone_question"] == "Who wrote it?"
    assert "history" not in alone


def test_a_refusal_can_be_called_unhelpful(open_page, noting, ask: Ask, told) -> None:
    page = open_page(noting)
    ask(page, "What datasets does QuokkaNet use?")
    press(page, "unhelpful")
    (line,) = told()
    assert (line["status"], line["cited"]) == ("refused", [])


def test_it_works_from_the_keyboard_and_is_told_to_a_screen_reader(open_page, noting, ask: Ask, told) -> None:
    page = open_page(noting)
    ask(page, QUESTION)
    group = page.get_by_role("group", name="About this answer")
    button = group.get_by_role("button", name="Not helpful", pressed=False)
    kept = page.evaluate(
        "document.getElementById(document.querySelector('.note').getAttribute('aria-describedby')).textContent"
    )
    assert kept == "Keeps question, answer and earlier turns in a file of this server’s owner."
    said = page.locator("#status").inner_text()
    page.locator("#live .cite").last.focus()
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("Noted")
    expect(page.locator(".note:focus")).to_have_attribute("data-kind", "unhelpful")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(group.get_by_role("button", name="Wrong paper", pressed=True)).to_be_focused()
    expect(group.get_by_role("button", name="Not helpful", pressed=True)).to_be_visible()
    assert page.locator("#status").inner_text() == "Noted"  # the answer is not told again
    assert said != "Noted"
    assert len(told()) == 2


def test_what_could_not_be_noted_is_said_and_the_answer_stays(open_page, noting, ask: Ask, told) -> None:
    page = open_page(noting)
    ask(page, QUESTION)
    shown = page.locator("#live .words").inner_text()
    noting.feedback.chmod(0o644)
    wrong = page.locator('#live .note[data-kind="wrong_paper"]')
    wrong.click()
    expect(page.locator("#live .where")).to_contain_text("Could not be noted: the file for it cannot be used")
    expect(wrong).to_have_attribute("aria-pressed", "false")
    assert page.locator("#live .words").inner_text() == shown
    assert told() == []
    noting.feedback.chmod(0o600)
    expect(wrong).to_have_text("Wrong paper")
    wrong.click()
    expect(wrong).to_have_attribute("aria-pressed", "true")
    assert len(told()) == 1


def test_so_it_is_when_the_server_is_away(open_page, slow_server, ask: Ask, tmp_path: Path) -> None:
    slow_server.stop()
    slow_server.feedback = tmp_path / "feedback.jsonl"
    slow_server.start()
    page = open_page(slow_server)
    ask(page, QUESTION)
    slow_server.process.kill()
    page.click('#live .note[data-kind="unhelpful"]')
    expect(page.locator("#live .where")).to_have_text("Could not be noted: the server is away.")
    expect(page.locator("#live .sentence").first).to_contain_text("QuantumBoost")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_buttons_fit_and_can_be_read(
    open_page, noting, ask: Ask, contrast: Callable[[Page, str], float], scheme: str
) -> None:
    page = open_page(noting, color_scheme=scheme)
    ask(page, QUESTION)
    page.wait_for_timeout(300)
    for selector in ("#live .note", "#live .where"):
        assert contrast(page, selector) >= 4.5, selector
    press(page, "unhelpful")
    page.mouse.move(5, 5)
    expect(page.locator("#live .note").first).to_have_text("Not helpful")
    assert contrast(page, "#live .note") >= 4.5
    for width in (1280, 900, 390, 360):
        page.set_viewport_size({"width": width, "height": 800})
        unhelpful, wrong = (button.bounding_box() for button in page.locator("#live .note").all())
        assert unhelpful
        assert wrong
        assert unhelpful["y"] == wrong["y"]
        assert unhelpful["height"] >= 24
        assert 0 < unhelpful["x"] < wrong["x"] < width - wrong["width"]
        wide = "(s) => { const box = document.querySelector(s); return box.scrollWidth - box.clientWidth; }"
        assert [page.evaluate(wide, box) <= 1 for box in ("html", "#scroll", "#live")] == [True] * 3
