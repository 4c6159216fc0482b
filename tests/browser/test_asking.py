"""Asking: keys, streaming, follow-ups, refusals, stopping, a new conversation."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

Ask = Callable[[Page, str], None]


def test_enter_asks_and_shift_enter_makes_a_line(open_page, server) -> None:
    page = open_page(server)
    box = page.locator("#box textarea")
    expect(box).to_be_focused()
    box.fill("What is")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("QuantumBoost?")
    assert box.input_value() == "What is\nQuantumBoost?"
    assert page.locator(".turn").count() == 0
    page.keyboard.press("Enter")
    expect(page.locator("#live .sentence").first).to_contain_text("QuantumBoost")
    expect(box).to_have_value("")
    expect(page.locator("#live .question")).to_have_text("What is\nQuantumBoost?")


def test_enter_that_chooses_a_word_of_an_input_method_does_not_ask(open_page, server) -> None:
    page = open_page(server)
    page.fill("#box textarea", "量子")
    page.evaluate(
        """document.querySelector("#box textarea").dispatchEvent(new KeyboardEvent("keydown",
        {key: "Enter", bubbles: true, cancelable: true, isComposing: true}))"""
    )
    page.wait_for_timeout(500)
    assert page.locator(".turn").count() == 0


def test_cards_come_before_the_text_and_no_formula_is_seen_in_half(open_page, server) -> None:
    page = open_page(server)
    page.evaluate(
        """() => { window.seen = []; const look = () => window.seen.push([
            document.querySelectorAll("#cards .card").length, document.querySelectorAll("#live .sentence").length,
            /\\$|\\\\frac|\\\\Omega/.test(document.querySelector("#live").innerText)]);
        new MutationObserver(look).observe(document.querySelector("#room"), {childList: true, subtree: true}); }"""
    )
    page.fill("#box textarea", "Which simple regret bound holds for Gaussian process bandits in the hypersphere?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#live .foot")
    seen = page.evaluate("window.seen")
    assert not any(raw for _, _, raw in seen)
    assert all(cards for cards, sentences, _ in seen if sentences)
    assert page.locator("#live math").count() > 0


def test_every_example_is_answered(open_page, server) -> None:
    page = open_page(server)
    examples = page.locator(".example").all_inner_texts()
    assert len(examples) >= 2
    for question in examples:
        page.click("#new")
        expect(page.locator(".turn")).to_have_count(0)
        page.locator(".example", has_text=question).click()
        page.wait_for_selector("#live .foot")
        assert page.locator("#live .sentence").count() > 0
        assert page.locator("#live .question").inner_text() == question


def test_a_follow_up_goes_on_and_can_be_asked_alone(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "What is QuantumBoost?")
    ask(page, "Who wrote it?")
    expect(page.locator("#live .read-as")).to_contain_text("QuantumBoost")
    expect(page.locator("#log .question")).to_have_text("What is QuantumBoost?")
    expect(page.locator("#cards .label")).to_contain_text("QuantumBoost")
    page.click("#live .alone")
    expect(page.locator("#log .turn")).to_have_count(2)
    expect(page.locator("#live .read-as")).to_have_count(0)


def test_a_refusal_says_why_and_shows_the_nearest_papers(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "What datasets does QuokkaNet use?")
    expect(page.locator("#live .refusal")).to_contain_text("None of the 37 papers here answers that")
    nearest = page.locator("#live .nearest button")
    assert nearest.count() == 3
    nearest.nth(1).click()
    card = page.locator("#cards .card").nth(1)
    expect(card.locator(".toggle")).to_have_attribute("aria-expanded", "true")
    expect(card.locator(".abstract")).to_be_visible()
    expect(page.locator("#cards h2")).to_contain_text("Nearest papers")


def test_nothing_happens_for_an_empty_question_and_a_long_one_is_told(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    page.fill("#box textarea", "   ")
    page.click("#ask")
    page.wait_for_timeout(400)
    assert page.locator(".turn").count() == 0
    ask(page, "w" * 5000)
    expect(page.locator("#live .notice")).to_contain_text("at most 4,000 are taken")


def test_stop_ends_an_answer_and_nobody_waits_for_another(open_page, slow_server, ask: Ask) -> None:
    page, other = open_page(slow_server), open_page(slow_server)
    expect(page.locator("#stop")).to_have_count(0)
    page.fill("#box textarea", "What is QuantumBoost??")
    page.keyboard.press("Enter")
    expect(page.locator("#live .pending")).to_be_visible()
    ask(other, "What is TokenDrop?")
    expect(page.locator("#live .pending")).to_be_visible()
    page.click("#stop")
    expect(page.locator("#live .notice")).to_contain_text("Stopped")
    expect(page.locator("#ask")).to_be_visible()
    page.wait_for_timeout(3000)
    assert page.locator("#live .sentence").count() == 0
    ask(page, "What is TokenDrop?")
    expect(page.locator("#log .question")).to_have_text("What is QuantumBoost??")
    expect(page.locator("#live .sentence").first).to_contain_text("TokenDrop")


def test_a_new_conversation_forgets_the_old_one(open_page, server, ask: Ask) -> None:
    page = open_page(server)
    ask(page, "What is QuantumBoost?")
    page.click("#new")
    expect(page.locator(".welcome")).to_be_visible()
    assert page.locator(".turn, .card").count() == 0
    ask(page, "Who wrote it?")
    assert page.locator("#live .read-as").count() == 0
    page.click("#new")
    expect(page.locator(".welcome")).to_be_visible()
    page.reload()
    expect(page.locator(".welcome")).to_be_visible()
