"""What of Gradio reaches the network, and under which headers.

In: Gradio's application. Out: an application that lets through the paths the page needs and no other (no upload, no
proxy, no files), bounds what is sent to it, serves the page's own style sheet and script, and puts a content security
policy on every response: scripts only from here, inline ones only with the nonce of the page they stand in.
Gradio evaluates templates and event scripts as code, hence 'unsafe-eval'; it sets styles inline. Scripts that got
into the page by way of a text would be neither from here nor have the nonce.
Not known here: what the page shows, who may call (app/guard.py).
"""

import re
import secrets
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.responses import FileResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.guard import problem

STATIC = Path(__file__).parent / "static"
LARGEST_BODY = 2_000_000  # bytes; a kept conversation travels with each question

_NEEDED = re.compile(
    r"/(?:|config|theme\.css|manifest\.json|favicon\.ico|robots\.txt|(?:assets|static)/.+|"
    r"gradio_api/(?:info|app_id|startup-events|theme\.css|queue/(?:join|data)|heartbeat/[\w-]+|cancel|reset)/?)"
)
_OWN = re.compile(r"/page/(page\.(?:css|js))")
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-eval'{nonce}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'self'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_SCRIPT = re.compile(rb"<script(?=[\s>])")
# Gradio's own description of itself to sites that preview links, with an image from elsewhere.
_PREVIEW = re.compile(rb'<meta\s+(?:property="og:|name="twitter:)[^>]*/>\s*')
_OWN_HEAD = b'<link rel="stylesheet" href="page/page.css"><script src="page/page.js"></script></head>'


class Site:
    """ASGI application in front of Gradio's."""

    def __init__(self, gradio: ASGIApp) -> None:
        self._gradio = gradio

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # the page uses no web sockets
        path: str = scope["path"]
        if (own := _OWN.fullmatch(path)) and scope["method"] in ("GET", "HEAD"):
            file = FileResponse(STATIC / own[1], headers={"Cache-Control": "no-cache"})
            await file(scope, receive, _with_headers(send, ""))
        elif not _NEEDED.fullmatch(path):
            await problem(404, "There is nothing here.")(scope, receive, send)
        elif not _is_bounded(scope):
            await problem(413, f"At most {LARGEST_BODY:,} bytes are taken.")(scope, receive, send)
        elif path == "/":
            await self._page(scope, receive, send)
        else:
            await self._gradio(scope, receive, _with_headers(send, ""))

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The page itself, its inline scripts given a nonce and its head our own files."""
        start: Message = {}
        body = b""

        async def collect(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
            elif message["type"] == "http.response.body":
                body += message.get("body", b"")

        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await self._gradio({**scope, "headers": plain}, receive, collect)
        nonce = secrets.token_urlsafe(16)
        body = _SCRIPT.sub(f'<script nonce="{nonce}"'.encode(), _PREVIEW.sub(b"", body))
        body = body.replace(b"</head>", _OWN_HEAD.replace(b"<script", f'<script nonce="{nonce}"'.encode()), 1)
        headers = MutableHeaders(raw=list(start["headers"]))
        headers["content-length"] = str(len(body))
        headers["cache-control"] = "no-store"
        sending = _with_headers(send, f" 'nonce-{nonce}'")
        await sending({**start, "headers": headers.raw})
        await sending({"type": "http.response.body", "body": body})


def _is_bounded(scope: Scope) -> bool:
    """Whether a body's length is told and small enough."""
    if scope["method"] in ("GET", "HEAD"):
        return True
    length = dict(scope["headers"]).get(b"content-length", b"").decode("latin-1")
    return length.isdigit() and int(length) <= LARGEST_BODY


def _with_headers(send: Send, nonce: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message["headers"]))
            headers["Content-Security-Policy"] = _POLICY.format(nonce=nonce)
            for name, value in _HEADERS.items():
                headers[name] = value
            message = {**message, "headers": headers.raw}
        await send(message)

    return sending
