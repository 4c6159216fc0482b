"""What of Gradio reaches the network: the paths the page needs, bounded, under a strict policy."""

import re

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from app.page_site import LARGEST_BODY, Site

PREVIEW = '<meta property="og:image" content="https://elsewhere.example/x.jpg" />'
PAGE = f"<head>{PREVIEW}<script>1</script></head><body>ö</body>"


async def _anything(request: Request) -> Response:
    return HTMLResponse(PAGE if request.url.path == "/" else request.url.path)


@pytest.fixture
def client() -> TestClient:
    gradio = Starlette(routes=[Route("/{path:path}", _anything, methods=["GET", "POST"])])
    return TestClient(Site(gradio))


@pytest.mark.parametrize(
    "path", ["/", "/config", "/theme.css", "/assets/a.js", "/static/b.css", "/gradio_api/queue/data", "/page/page.css"]
)
def test_what_the_page_needs_is_there_under_the_policy(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        *("/gradio_api/upload", "/gradio_api/file=/etc/passwd", "/gradio_api/proxy=http://evil.example/", "/login"),
        *("/gradio_api/run/predict", "/gradio_api/call/ask", "/monitoring", "/gradio_api/vibe-edit", "/docs", "/x"),
        *("/gradio_api/component_server", "/gradio_api/process_recording", "/page/../page.py", "/page/%2e%2e/page.py"),
    ],
)
def test_nothing_else_is(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.post(path, content=b"").status_code in (404, 405)


def test_inline_scripts_get_the_nonce_of_this_one_page(client: TestClient) -> None:
    nonces = set()
    for _ in range(2):
        response = client.get("/")
        nonce = re.search(r"'nonce-([\w-]+)'", response.headers["content-security-policy"])
        assert nonce
        assert response.text.count(f'<script nonce="{nonce[1]}"') == 2
        assert "elsewhere.example" not in response.text
        assert "ö" in response.text
        nonces.add(nonce[1])
    assert len(nonces) == 2


def test_a_body_that_is_too_large_or_of_untold_length_is_refused(client: TestClient) -> None:
    path = "/gradio_api/queue/join"
    assert client.post(path, content=b"x" * 100).status_code == 200
    assert client.post(path, content=b"x" * (LARGEST_BODY + 1)).status_code == 413
    assert client.post(path, content=iter([b"x"])).status_code == 413
