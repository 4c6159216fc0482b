"""What the page shows around a conversation: a welcome with example questions, or why nothing can be asked yet.

In: the state of the engine, example questions. Out: HTML.
Not known here: answers, scripts, styles.
"""

from collections.abc import Sequence

from app.engine import State
from app.page_text import escape

_WAITING = {
    "starting": ("Loading the model", "This takes some seconds. The page opens by itself."),
    "indexing": ("Papers are being read in", "Another process is writing the index. The page opens when it is done."),
    "empty": ("No papers yet", "Read some in from a terminal. The page opens by itself when they are there."),
}
_COMMANDS = (
    ("Your own papers", "paperchat ingest papers.jsonl"),
    ("Or the 37 papers of the bundled sample", "paperchat ingest ingest/samples/icml2026_sample.jsonl"),
)


def welcome_html(state: State, examples: Sequence[str]) -> str:
    """The start of a conversation over a corpus that is ready."""
    buttons = "".join(
        f'<li><button type="button" class="example">{escape(question)}</button></li>' for question in examples
    )
    tried = f'<p class="ours" id="examples-name">For example</p><ul class="examples">{buttons}</ul>' if buttons else ""
    return (
        '<section class="welcome"><h2>Ask the papers</h2><p class="ours">Answers are made of the abstracts’ own '
        f"sentences. Click a number to see the sentence in its abstract.</p>{tried}</section>"
    )


def waiting_html(state: State) -> str:
    """Why nothing can be asked yet; the page's script watches for that to change."""
    heading, text = _WAITING[state.status]
    commands = ""
    if state.status == "empty":
        commands = "".join(f"<dt>{escape(name)}</dt><dd><code>{escape(what)}</code></dd>" for name, what in _COMMANDS)
        commands = f"<dl>{commands}</dl>"
    return (
        f'<section class="welcome waiting" data-waiting="{state.status}"><h2>{heading}</h2>'
        f'<p class="ours">{text}</p>{commands}</section>'
    )


def corpus_html(state: State) -> str:
    """The line under the name: what is loaded."""
    return f"{state.papers:,} papers" if state.status == "ready" else _WAITING[state.status][0]
