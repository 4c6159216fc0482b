"""The chat page, in Gradio: a conversation, and beside it the papers that it cites.

In: an engine. Out: an ASGI application for everything that is not the REST interface.
The server keeps no conversation: the page's script keeps it in the browser's tab and sends it with each question.
Not known here: how answers, cards and formulas are rendered, HTTP headers, styles and scripts (app/static).
"""

from collections.abc import Iterator
from typing import Any

import gradio as gr
from fastapi import FastAPI

from app.assistant import Assistant
from app.engine import Engine
from app.page_examples import find_examples
from app.page_feedback import feedback_html, no_feedback_html
from app.page_kept import read_kept, write_kept
from app.page_site import Site
from app.page_stream import Step, Under, answering, past_html, stopped
from app.page_text import escape
from app.page_turn import notice_html, turn_html
from app.page_views import corpus_html, waiting_html, welcome_html
from app.server import Page

_FONTS = ("-apple-system", "Segoe UI", "Roboto", "Noto Sans", "Liberation Sans", "Arial", "sans-serif")
_MONO = ("ui-monospace", "Menlo", "Consolas", "Liberation Mono", "monospace")
_AT_ONCE = 16  # questions answered at the same time
# What the page's script (app/static/page.js) gives to the events instead of the components' values.
_KEPT_JS = "() => [paperchat.kept()]"
_ASK_JS = "(question) => [question, paperchat.kept(), paperchat.isAlone()]"
_STOP_JS = "() => [paperchat.asked(), paperchat.kept()]"
_NEW_JS = "() => { paperchat.forget(); return ['']; }"

_HEAD = (
    '<div class="brand"><h1>paperchat</h1><p id="corpus">{}</p></div>'
    '<button type="button" id="theme" aria-label="Switch between light and dark" title="Light or dark">◐</button>'
)
_SKIP = gr.skip()
_SAME = (_SKIP,) * 7
_NO_CARDS = '<p class="ours no-cards">The papers that an answer cites appear here.</p>'
_STATUS = '<div id="status" class="unseen" role="status" aria-live="polite"></div>'


def create_page(engine: Engine, with_feedback: bool = False) -> Page:
    """The page as an application, and what must run around it; with buttons to say that an answer is not good."""
    host = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    gr.mount_gradio_app(
        host,
        _Page(engine, feedback_html if with_feedback else no_feedback_html).blocks(),
        path="/",
        theme=gr.themes.Base(font=_FONTS, font_mono=_MONO),
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        enable_monitoring=False,
        mcp_server=False,
        pwa=False,
        show_error=False,
        allowed_paths=[],
    )
    return Site(host), host.router.lifespan_context


class _Page:
    """The components and what happens when they are used. Every event's function is stateless."""

    def __init__(self, engine: Engine, under: Under) -> None:
        self._engine = engine
        self._under = under
        self._examples: tuple[str, tuple[str, ...]] = ("", ())

    def blocks(self) -> gr.Blocks:
        blocks: gr.Blocks
        with gr.Blocks(title="paperchat", analytics_enabled=False, fill_width=True) as blocks:
            with gr.Row(elem_id="head"):
                head = gr.HTML(_HEAD.format(""), elem_id="brand", apply_default_css=False)
                new = gr.Button("New conversation", elem_id="new", size="sm")
            with gr.Row(elem_id="room"):
                with gr.Column(elem_id="talk"):
                    with gr.Column(elem_id="scroll"):
                        log = gr.HTML("", elem_id="log", apply_default_css=False)
                        live = gr.HTML("", elem_id="live", apply_default_css=False)
                    with gr.Row(elem_id="composer"):
                        box = gr.Textbox(
                            label="Your question", show_label=False, container=False, elem_id="box", lines=1,
                            max_lines=6, placeholder="Ask about the papers", autofocus=True, scale=1,
                        )  # fmt: skip
                        ask = gr.Button("Ask", elem_id="ask", variant="primary", size="sm")
                        stop = gr.Button("Stop", elem_id="stop", variant="stop", size="sm", visible=False)
                with gr.Column(elem_id="panel"):
                    cards = gr.HTML(_NO_CARDS, elem_id="cards", apply_default_css=False)
                    shelf = gr.HTML("", elem_id="shelf", apply_default_css=False)
            gr.HTML(_STATUS, elem_id="said", apply_default_css=False)
            kept, alone = gr.Textbox(visible=False), gr.Textbox(visible=False)
            renew = gr.Button("Look again", elem_id="renew", visible="hidden")

            quiet: dict[str, Any] = {
                "show_progress": "hidden",
                "api_visibility": "private",
                "concurrency_limit": _AT_ONCE,
            }
            whole = [head, log, live, shelf, cards, box, ask, stop]
            view = {"inputs": [kept], "outputs": whole, **quiet}
            blocks.load(self._open, js=_KEPT_JS, **view)
            renew.click(self._open, js=_KEPT_JS, **view)
            asking = gr.on(
                [box.submit, ask.click], self._ask, [box, kept, alone], [box, log, live, shelf, cards, ask, stop],
                js=_ASK_JS, trigger_mode="once", **quiet,
            )  # fmt: skip
            stop.click(self._stop, [box, kept], [live, ask, stop], js=_STOP_JS, cancels=[asking], **quiet)
            new.click(self._open, js=_NEW_JS, cancels=[asking], **view)
        return blocks

    def _open(self, stored: str) -> tuple[Any, ...]:
        """The page as it is when it is opened, with the conversation that the browser kept."""
        state, assistant = self._engine.state(), self._engine.assistant
        ready = state.status == "ready" and assistant is not None
        head = _HEAD.format(escape(corpus_html(state)))
        box = gr.update(interactive=ready, placeholder="Ask about the papers" if ready else "Not ready yet")
        buttons = (gr.update(visible=True, interactive=ready), gr.update(visible=False))
        if not ready or assistant is None:
            return head, "", waiting_html(state), "", "", box, *buttons
        exchanges = read_kept(stored)
        log, shelf = past_html(exchanges, assistant, self._under)
        live = "" if exchanges else welcome_html(state, self._examples_of(assistant))
        return head, log, live, shelf, "" if shelf else _NO_CARDS, box, *buttons

    def _ask(self, question: str, stored: str, alone: str) -> Iterator[tuple[Any, ...]]:
        """The steps of an answer; with `alone` to a question that does not go on from those before it."""
        assistant, exchanges = self._engine.assistant, read_kept(stored)
        if not question.strip():
            yield _SAME
            return
        if assistant is None:
            notice = turn_html(len(exchanges), question, notice_html("The page is not ready yet."))
            yield _changed(question, live=notice)
            return
        log, shelf = past_html(exchanges, assistant, self._under)
        steps = answering(exchanges, question.strip(), assistant, bool(alone), self._under)
        for number, step in enumerate(steps):
            before = {} if number else {"box": "", "log": log, "shelf": shelf}
            cards = _SKIP if step.cards is None else step.cards
            yield _changed(**before, live=_live(step), cards=cards, is_busy=not step.is_last)

    def _stop(self, question: str, stored: str) -> tuple[Any, ...]:
        return _live(stopped(read_kept(stored), question)), gr.update(visible=True), gr.update(visible=False)

    def _examples_of(self, assistant: Assistant) -> tuple[str, ...]:
        """Example questions, found once for each corpus."""
        if self._examples[0] != assistant.corpus:
            self._examples = (assistant.corpus, find_examples(assistant))
        return self._examples[1]


def _changed(
    box: Any = _SKIP, log: Any = _SKIP, live: Any = _SKIP, shelf: Any = _SKIP, cards: Any = _SKIP, is_busy: bool = False
) -> tuple[Any, ...]:
    """What an asking event puts out: what changed, and the button that fits."""
    return box, log, live, shelf, cards, gr.update(visible=not is_busy), gr.update(visible=is_busy)


def _live(step: Step) -> str:
    """The turn, and behind it, when it is finished, the conversation for the script to keep."""
    kept = "" if step.kept is None else f'<pre hidden id="kept">{escape(write_kept(step.kept))}</pre>'
    return step.turn + kept
