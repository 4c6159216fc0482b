"""Running the server: the address, the process, the words on the terminal.

In: settings, a host and a port. Out: a server until it is stopped.
Not known here: what it serves.
"""

import asyncio
import errno
import logging
import socket
import sys

import uvicorn

from app.engine import Engine
from app.errors import AddressUnusable, PortInUse
from app.feedback import FeedbackFile
from app.guard import LOOPBACK
from app.server import create_server
from app.settings import Settings


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until interrupted. Raises FeedbackUnusable, PortInUse, AddressUnusable or what opening the index raises."""
    logging.basicConfig(format="paperchat: %(message)s", level=logging.WARNING)
    feedback = None if settings.feedback_file is None else FeedbackFile(settings.feedback_file)
    listening = _listen(host, port)
    engine = Engine(settings)
    extra = {name.strip() for name in settings.allowed_hosts.split(",") if name.strip()}
    logging.getLogger("uvicorn.error").addFilter(_is_worth_telling)
    engine.start()
    print("loading the model ...", file=sys.stderr, flush=True)
    from app.page import create_page  # Gradio takes seconds to import; the model is loaded meanwhile

    server = create_server(engine, LOOPBACK | {host} | extra, create_page(engine, feedback is not None), feedback)
    engine.wait()
    if engine.failure is not None:
        raise engine.failure
    state = engine.state()
    shown = f"[{host}]" if ":" in host else host
    what = f"{state.papers:,} papers" if state.status == "ready" else "no papers yet: run `paperchat ingest SOURCE`"
    print(f"paperchat serves http://{shown}:{port} ({what}). Stop with Ctrl-C.", flush=True)
    try:
        config = uvicorn.Config(server, log_level="warning", lifespan="on", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        engine.stop()


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Not that an open page's connections are cut when the server is stopped."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, asyncio.CancelledError) and "graceful shutdown" not in str(record.msg)


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that says why not."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(host, port) from None
        raise AddressUnusable(host, port, error.strerror or str(error)) from None
    return listening
