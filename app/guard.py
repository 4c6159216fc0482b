"""What a request must be before anything looks at it.

In: a request. Out: the same request, or a problem: an unknown host or origin (a page elsewhere that has a browser call
this server), a body that is no JSON, a body that is too large.
Not known here: what the request asks for.
"""

from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 100_000  # bytes
LARGER_BODIES = {"/api/feedback": 1_000_000}  # answers are longer than questions
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Guard:
    """ASGI middleware in front of the whole server; the JSON rules hold below /api/."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await problem(*refusal)(scope, receive, send)
            return
        if scope["type"] == "websocket" or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        await self._bounded(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if _name(f"//{host}") not in self._hosts:
            return 421, f"This server does not answer to host {host[:100]!r}. See PAPERCHAT_ALLOWED_HOSTS."
        if origin is not None and not self._is_own(origin, host):
            return 403, "Requests from pages of other origins are refused."
        if not scope["path"].startswith("/api/"):
            return None
        if scope.get("method") == "POST":
            kind = headers.get("content-type", "").split(";")[0].strip().lower()
            if kind != "application/json":
                return 415, f"Content-Type is {kind[:100]!r}; expected application/json."
        length, largest = headers.get("content-length", "0"), _largest(scope)
        if not length.isdigit() or int(length) > largest:
            return 413, f"The body has {length[:20]} bytes; at most {largest:,} are taken."
        return None

    def _is_own(self, origin: str, host: str) -> bool:
        """Whether `origin` is the very address that was called, or one that a proxy shows under an allowed name."""
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https"):
            return False
        return parts.netloc == host or _name(origin) in self._hosts - LOOPBACK

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, whose length nobody need have told, up to the limit, and pass it on whole."""
        body = b""
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client has gone
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > (largest := _largest(scope)):
                await problem(413, f"The body is too large; at most {largest:,} bytes are taken.")(scope, receive, send)
                return
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return unread.pop() if unread else await receive()

        await self._app(scope, replay, send)


def _largest(scope: Scope) -> int:
    return LARGER_BODIES.get(scope["path"], LARGEST_BODY)


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def problem(status: int, detail: str) -> JSONResponse:
    """An error as problem+json."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return JSONResponse(body, status, media_type="application/problem+json")
