"""The REST interface, and beside it the page.

In: HTTP requests. Out: JSON; errors as problem+json (RFC 9457). Answers only to its own host names and origins,
takes only JSON, refuses large bodies, and no path of a file from anybody.
Not known here: how a question is answered, how the process was started.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.answer import Answer, Conditions, PaperCard, Retrieved, Turn, paper_json
from app.assistant import Assistant
from app.engine import Engine
from app.errors import AppError, NotNoted
from app.feedback import FeedbackFile, Kind, note
from app.guard import Guard, problem
from app.history import MOST_TURNS
from vectorstore.errors import VectorstoreError

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]
Page = tuple[ASGIApp, Lifespan]  # an application, and what must run around it


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Ask(_Body):
    """What `POST /api/ask` takes."""

    question: str
    history: list[Turn] = []
    filters: Conditions = Conditions()
    k: Annotated[int, Field(ge=1, le=1000)] = 30


class Search(_Body):
    """What `POST /api/search` takes."""

    question: str
    filters: Conditions = Conditions()
    k: Annotated[int, Field(ge=1, le=1000)] = 30


class Told(_Body):
    """What `POST /api/feedback` takes: an answer as `POST /api/ask` returned it, what is said of it, and the turns that
    it was asked with."""

    kind: Kind
    answer: Answer
    comment: Annotated[str, Field(max_length=2000)] = ""
    history: list[Turn] = []


class Ranking(BaseModel):
    """What `POST /api/search` returns."""

    retrieved: list[Retrieved]
    papers: list[PaperCard]


def create_server(
    engine: Engine, hosts: frozenset[str], page: Page | None = None, feedback: FeedbackFile | None = None
) -> FastAPI:
    """The application over `engine`, answering to the host names `hosts`, with `page` for all that is not /api/.
    Feedback is taken where there is a file for it."""
    # No documentation pages: theirs would load scripts from elsewhere. The schema is at /openapi.json.
    server = FastAPI(title="paperchat", docs_url=None, redoc_url=None)
    server.add_middleware(Guard, hosts=hosts)
    _report_problems(server)

    @server.post("/api/ask")
    def ask(asked: Ask) -> Answer:
        """Answer a question with citations."""
        return _ready(engine).ask(asked.question, asked.history[-MOST_TURNS:], asked.filters, asked.k)

    @server.post("/api/search")
    def search(asked: Search) -> Ranking:
        """Rank papers for a question."""
        found = _ready(engine).search(asked.question, asked.filters, asked.k)
        rows = [Retrieved(id=e.paper.id, rank=e.rank, score=e.score, found_by=e.found_by) for e in found]
        return Ranking(retrieved=rows, papers=[PaperCard.of(e.paper) for e in found])

    @server.get("/api/papers/{id:path}")
    def paper(id: str) -> dict[str, Any]:
        """One paper, by its id, a former id or an alias."""
        found = _ready(engine).paper(id)
        if found is None:
            raise HTTPException(404, "There is no paper with that id.")
        return paper_json(found)

    @server.get("/api/health")
    def health() -> Response:
        """200 when a question can be answered, else 503 with the reason."""
        state = engine.state()
        return JSONResponse(state.to_json(), 200 if state.status == "ready" else 503)

    if feedback is not None:
        _take_feedback(server, engine, feedback)
    if page is not None:
        _add_page(server, *page)
    return server


def _take_feedback(server: FastAPI, engine: Engine, file: FeedbackFile) -> None:
    @server.post("/api/feedback", status_code=201)
    def feedback(told: Told) -> dict[str, bool]:
        """Keep what is said of an answer in a file of the server's owner."""
        file.append(note(told.kind, told.answer, told.history, engine.state().model, told.comment))
        return {"noted": True}


def _add_page(server: FastAPI, page: ASGIApp, lifespan: Lifespan) -> None:
    """Let `page` answer what no route does. No mount: one at "/" would swallow the REST interface's own 404 and 405."""
    nothing = server.router.default

    async def other(scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] in ("http", "websocket") and not scope["path"].startswith("/api/")
        await (page if is_page else nothing)(scope, receive, send)

    server.router.default = other
    server.router.lifespan_context = lifespan


def _ready(engine: Engine) -> Assistant:
    if engine.assistant is None:
        raise HTTPException(503, f"Not ready: {engine.state().status}. See /api/health.")
    return engine.assistant


def _report_problems(server: FastAPI) -> None:
    @server.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, str(error.detail))

    @server.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return problem(400, f"The body is not JSON: {first.get('ctx', {}).get('error', first['msg'])}.")
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return problem(422, f"{where}: {first['msg']}" if where else str(first["msg"]))

    @server.exception_handler(Exception)
    def unforeseen(_: Request, error: Exception) -> Response:
        return problem(500, "That is a fault of paperchat. The server's log tells more.")

    @server.exception_handler(AppError)
    def refused(_: Request, error: AppError) -> Response:
        return problem(422, str(error))

    @server.exception_handler(NotNoted)
    def unnoted(_: Request, error: NotNoted) -> Response:
        return problem(507, str(error))

    @server.exception_handler(VectorstoreError)
    def index(_: Request, error: VectorstoreError) -> Response:
        return problem(503, str(error))
