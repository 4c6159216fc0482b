"""The README tells the truth: its commands run, its targets exist, its answers are what paperchat says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAPERCHAT = Path(sys.executable).parent / "paperchat"


@pytest.fixture(scope="module")
def served_sample(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose index holds the bundled sample, as after `make run`."""
    environment = {"PATH": "/usr/bin:/bin", "PAPERCHAT_INDEX_DIR": str(tmp_path_factory.mktemp("index"))}
    done = run(["ingest", "ingest/samples/icml2026_sample.jsonl"], environment)
    assert done.returncode == 0, done.stderr
    return environment


def run(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PAPERCHAT, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)


def questions_with_answers() -> list[tuple[str, str]]:
    """Each `ask` command of the README with the quoted answer below it, as plain words."""
    pairs = re.findall(r'paperchat ask "([^"]+)"\n```\n((?:>.*\n)+)', README)
    return [(question, " ".join(re.sub(r"(?m)^> ?", "", quote).split())) for question, quote in pairs]


def test_it_shows_three_questions_with_their_answers() -> None:
    assert len(questions_with_answers()) >= 3


@pytest.mark.parametrize(("question", "answer"), questions_with_answers())
def test_an_answer_in_the_readme_is_what_paperchat_says(
    question: str, answer: str, served_sample: dict[str, str]
) -> None:
    done = run(["ask", question], served_sample)
    assert done.returncode == 0, done.stderr
    assert answer in " ".join(done.stdout.split())


def test_every_make_target_it_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    listed = re.search(r"`make` targets: ((?:`[a-z]+`[^`]*)+?)\n\n", README)
    assert listed is not None
    named = set(re.findall(r"`?make ([a-z]+)", README)) | set(re.findall(r"`([a-z]+)`", listed[1]))
    assert named >= {"run", "test", "setup", "check"}
    assert named <= targets


def test_its_command_table_is_what_help_says() -> None:
    commands = dict(re.findall(r"\| `paperchat ([a-z]+)[^`]*` \| (.+?) \|", README))
    shown = run(["--help"], {"PATH": "/usr/bin"}).stdout
    assert set(commands) == set(re.findall(r"^  ([a-z]+)  ", shown, re.MULTILINE))
    for command, text in commands.items():
        help_text = run([command, "--help"], {"PATH": "/usr/bin"}).stdout
        for option in re.findall(r"`(--?[a-z]+)", text):
            assert option in help_text, f"{command} {option}"


def test_every_setting_it_names_is_read() -> None:
    from app.settings import Settings

    named = set(re.findall(r"^\| `PAPERCHAT_([A-Z_]+)`", README, re.MULTILINE))
    assert named == {name.upper() for name in Settings.model_fields}


def test_its_request_is_valid() -> None:
    from app.server import Ask

    body = re.search(r"/api/ask .*-d '(\{.*\})'", README)
    assert body is not None
    Ask.model_validate(json.loads(body[1]))


def test_every_link_leads_somewhere() -> None:
    for page in ("README.md", "ARCHITECTURE.md", "ingest/samples/README.md", "evals/sets/README.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"


def test_every_dependency_has_its_reason() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[<>=\[]", requirement)[0].lower() for requirement in project["dependencies"]]
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").lower()
    assert [name for name in names if name not in text] == []
