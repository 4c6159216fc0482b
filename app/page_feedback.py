"""The buttons under an answer with which a reader says that it is not good.

In: an answer, and whether its question was asked on its own. Out: HTML, with the answer as JSON for the page's script
to send (`POST /api/feedback`) and a key that tells answers apart.
Not known here: where it is sent and kept, styles.
"""

import hashlib
import json

from app.answer import Answer
from app.page_text import escape

_KINDS = (("unhelpful", "Not helpful"), ("wrong_paper", "Wrong paper"))
_KEPT = "Keeps question, answer and earlier turns in a file of this server’s owner."


def feedback_html(place: int, answer: Answer, is_alone: bool = False) -> str:
    """The buttons under answer `place`; the one about papers only where there are any."""
    sent = json.dumps(answer.model_dump(mode="json", exclude={"retrieved", "timings_ms"}))
    key = hashlib.sha256(sent.encode()).hexdigest()[:16]
    kinds = _KINDS if answer.papers or answer.nearest else _KINDS[:1]
    buttons = "".join(
        f'<button type="button" class="note" data-kind="{kind}" aria-pressed="false" title="{_KEPT}" '
        f'aria-describedby="t{place}-kept">{name}</button>'
        for kind, name in kinds
    )
    return (
        f'<div class="ours feedback" role="group" aria-label="About this answer" data-key="{key}"'
        f'{" data-alone" if is_alone else ""}>{buttons}<span class="where" id="t{place}-kept">{_KEPT}</span>'
        f'<pre hidden class="sent">{escape(sent)}</pre></div>'
    )


def no_feedback_html(place: int, answer: Answer, is_alone: bool = False) -> str:
    """Where nobody is asked."""
    return ""
