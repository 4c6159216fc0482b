"""The command line: what it prints, what it exits with, and one clear line for everything that is wrong."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.answer import Answer

Run = Callable[..., tuple[int, str, str]]
Spawn = Callable[..., "subprocess.Popen[str]"]
Complaint = Callable[[str], str]

HEAVY = ("torch", "gradio", "chromadb", "langchain", "langchain_core", "sentence_transformers", "transformers", "bm25s")


# Answering


def test_ask_prints_the_answer_and_the_papers_it_cites(paperchat: Run) -> None:
    code, out, err = paperchat("ask", "How much memory does TokenDrop save?")
    assert (code, err) == (0, "")
    answer, papers = out.rstrip().split("\n\n")
    assert "42.9" in answer
    assert "[1]" in answer
    assert papers.startswith("[1] TokenDrop: Token-Level Importance-Aware")
    assert "Beomseok Kim" in papers
    assert "ICML 2026" in papers
    assert "https://openreview.net/forum?id=D8DUCALWYb" in papers


def test_ask_refuses_with_the_nearest_papers_and_exit_code_0(paperchat: Run) -> None:
    code, out, err = paperchat("ask", "What datasets does QuokkaNet use?")
    assert (code, err) == (0, "")
    assert "Nearest papers:\n  - " in out
    assert "[1]" not in out


def test_ask_json_is_an_answer(paperchat: Run, cheap: Any, check: Any) -> None:
    code, out, err = paperchat("ask", "--json", "-k", 5, "What is TokenDrop?")
    assert (code, err) == (0, "")
    check(json.loads(out), cheap)
    answer = Answer.model_validate_json(out)
    assert answer.papers[0].id == "icml2026-D8DUCALWYb"
    assert len(answer.retrieved) == 5


def test_ask_takes_a_history(paperchat: Run, tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "Which one skips tokens?"},
        {"role": "assistant", "content": "TokenDrop does. [1]", "papers": ["icml2026-D8DUCALWYb"]},
    ]
    (tmp_path / "turns.json").write_text(json.dumps(turns))
    code, out, _ = paperchat("ask", "--json", "how much memory does it save?", "--history", tmp_path / "turns.json")
    answer = Answer.model_validate_json(out)
    assert code == 0
    assert "TokenDrop" in answer.standalone_question
    assert answer.papers[0].id == "icml2026-D8DUCALWYb"


def test_an_empty_corpus_is_refused_with_exit_code_0(paperchat: Run, empty_root: Path) -> None:
    code, out, err = paperchat("ask", "What is TokenDrop?", index=empty_root)
    assert (code, err) == (0, "")
    assert "paperchat ingest" in out
    assert paperchat("papers", index=empty_root) == (0, "", "")


def test_papers_lists_every_paper_a_line(paperchat: Run) -> None:
    code, out, err = paperchat("papers")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 37
    assert "icml2026-D8DUCALWYb  TokenDrop: Token-Level" in out


def test_papers_json_is_one_object_a_line(paperchat: Run, sample_rows: list[dict[str, Any]]) -> None:
    code, out, _ = paperchat("papers", "--json")
    papers = {paper["id"]: paper for paper in map(json.loads, out.splitlines())}
    assert code == 0
    assert papers.keys() == {row["id"] for row in sample_rows}
    for row in sample_rows:
        paper = papers[row["id"]]
        assert set(paper) == {
            *("id", "title", "label", "abstract", "authors", "venue", "year", "url", "topic", "decision", "sources")
        }
        assert (paper["title"], paper["authors"], paper["url"]) == (row["title"], row["authors"], row["url"])
        assert paper["label"] == paper["title"]
        assert all(isinstance(paper[key], list) for key in ("authors", "sources"))


@pytest.mark.parametrize(
    "name", ["icml2026-D8DUCALWYb", "openreview:D8DUCALWYb", "https://openreview.net/forum?id=D8DUCALWYb"]
)
def test_show_takes_an_id_an_alias_or_an_address(name: str, paperchat: Run) -> None:
    code, out, err = paperchat("show", name)
    assert (code, err) == (0, "")
    assert out.startswith("TokenDrop: Token-Level")
    assert "id: icml2026-D8DUCALWYb" in out
    assert "Beomseok Kim, Sol Namkung, Dongsuk Jeon" in out
    assert "parameter-efficient fine-tuning (PEFT)" in out


# What is wrong is one line and exit code 2

SAMPLE = Path(__file__).parents[2] / "ingest" / "samples" / "icml2026_sample.jsonl"


def files(folder: Path) -> dict[str, Path]:
    contents = {
        "empty.jsonl": b"",
        "blank.txt": b" \n\n\t\n",
        "binary.jsonl": bytes(range(256)) * 20,
        "image.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "latin.txt": "Das Stra\xdfennetz \xfcberall.".encode("latin-1") * 40,
        "halves.jsonl": b'{"id": "a-1", "title": "On\n{"id": "a-2", "ti',
        "rows.csv": b"title,abstract\na,b\n",
        "broken.json": b"[{",
        "object.json": b"{}",
        "roles.json": b'[{"role": "system", "content": "x"}]',
        "keys.json": b'[{"role": "user", "content": "x", "colour": "red"}]',
        "bytes.json": b"\xff\xfe\xfd",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents} | {"gone": folder / "gone", "folder": folder}


WRONG = [
    (("ingest", "{gone}"), "no such file"),
    (("ingest", "{empty.jsonl}"), "empty"),
    (("ingest", "{blank.txt}"), "empty"),
    (("ingest", "{binary.jsonl}"), "binary"),
    (("ingest", "{image.png}"), "binary"),
    (("ingest", "{latin.txt}"), "UTF-8"),
    (("ingest", "{halves.jsonl}"), "line 1"),
    (("ingest", "{rows.csv}"), "format"),
    (("ingest", "{folder}"), "folder"),
    (("ingest",), "SOURCES"),
    (("ingest", "{sample}", "--format", "pdf"), "jsonl, text"),
    (("ask", ""), "empty"),
    (("ask", " \n "), "empty"),
    (("ask", "a" * 5000), "5,000"),
    (("ask",), "question"),
    (("ask", "x", "-k", "0"), "-k"),
    (("ask", "x", "-k", "many"), "-k"),
    (("ask", "x", "--colour"), "--colour"),
    (("ask", "x", "y"), "y"),
    (("ask", "x", "--history", "{gone}"), "No such file"),
    (("ask", "x", "--history", "{folder}"), "directory"),
    (("ask", "x", "--history", "{broken.json}"), "not JSON"),
    (("ask", "x", "--history", "{bytes.json}"), "not JSON"),
    (("ask", "x", "--history", "{object.json}"), "JSON array"),
    (("ask", "x", "--history", "{roles.json}"), "0.role"),
    (("ask", "x", "--history", "{keys.json}"), "0.colour"),
    (("show", "nobody"), "nobody"),
    (("show",), "ID"),
    (("serve", "--port", "0"), "--port"),
    (("serve", "--port", "70000"), "--port"),
    (("serve", "--host", "203.0.113.9", "--port", "8765"), "203.0.113.9"),
    (("levitate",), "levitate"),
    (("--colour",), "--colour"),
]


@pytest.mark.parametrize(("arguments", "word"), WRONG)
def test_what_is_wrong_is_one_line(
    arguments: tuple[str, ...], word: str, paperchat: Run, complaint: Complaint, tmp_path: Path, index: Path
) -> None:
    known = {"sample": SAMPLE, **files(tmp_path)}
    given = [known[a[1:-1]] if a.startswith("{") else a for a in arguments]
    before = (index / "CURRENT").read_text()
    code, out, err = paperchat(*given, index=index)
    assert (code, out) == (2, "")
    assert word in complaint(err)
    assert (index / "CURRENT").read_text() == before


@pytest.mark.parametrize("arguments", [("ask", "x"), ("papers",), ("show", "x")])
def test_no_index_is_one_line_that_says_how_to_make_one(
    arguments: tuple[str, ...], paperchat: Run, complaint: Complaint, tmp_path: Path
) -> None:
    code, out, err = paperchat(*arguments, index=tmp_path / "none")
    assert (code, out) == (2, "")
    assert "paperchat ingest SOURCE" in complaint(err)
    assert not (tmp_path / "none").exists()


def test_an_empty_question_is_told_before_anything_is_opened(
    paperchat: Run, complaint: Complaint, tmp_path: Path
) -> None:
    code, _, err = paperchat("ask", "  ", index=tmp_path / "none")
    assert code == 2
    assert "question is empty" in complaint(err)


@pytest.mark.parametrize(
    "arguments", [("ask", "x"), ("papers",), ("show", "x"), ("ingest", SAMPLE), ("serve", "--port", "18765")]
)
def test_an_index_of_another_model_is_one_line(
    arguments: tuple[object, ...], paperchat: Run, complaint: Complaint, index: Path
) -> None:
    code, out, err = paperchat(*arguments, index=index, embedder="minilm")
    assert (code, out) == (2, "")
    line = complaint(err)
    assert "hashing-256-v1" in line
    assert "all-MiniLM-L6-v2" in line
    assert "--rebuild" in line


@pytest.mark.parametrize("embedder", ["", "gpt", "/no/such/folder", "../index"])
def test_an_unknown_model_is_one_line(embedder: str, paperchat: Run, complaint: Complaint) -> None:
    code, _, err = paperchat("ask", "x", embedder=embedder)
    assert code == 2
    assert "embedding model" in complaint(err)


@pytest.mark.parametrize("lost", ["passages.npy", "papers.sqlite3", "manifest.json", "chroma", "lexical"])
def test_a_damaged_index_is_one_line_and_an_answer(
    lost: str, paperchat: Run, complaint: Complaint, index: Path
) -> None:
    part = index / (index / "CURRENT").read_text().strip() / lost
    part.rename(part.with_name("elsewhere"))
    code, out, err = paperchat("ask", "What is TokenDrop?", index=index)
    assert (code, "TokenDrop" in out) == (0, True)
    assert "is damaged" in complaint(err)
    assert "Building it again" in err
    assert paperchat("ask", "What is TokenDrop?", index=index) == (0, out, "")


@pytest.mark.parametrize("command", [("papers",), ("papers", "--json"), ("show", "icml2026-D8DUCALWYb")])
def test_any_command_mends_a_damaged_index(
    paperchat: Run, complaint: Complaint, index: Path, command: tuple[str, ...]
) -> None:
    whole = paperchat(*command, index=index)
    shutil.rmtree(index / (index / "CURRENT").read_text().strip())
    code, out, err = paperchat(*command, index=index)
    assert (code, out) == whole[:2]
    assert "Building it again" in complaint(err)
    assert paperchat(*command, index=index) == whole


def test_an_ingest_says_what_it_mended(paperchat: Run, complaint: Complaint, index: Path) -> None:
    shutil.rmtree(index / (index / "CURRENT").read_text().strip())
    code, out, err = paperchat("ingest", SAMPLE, index=index)
    assert code == 0
    assert "37 unchanged" in out
    assert "\nmended: " in err
    assert "\nmended: " not in paperchat("ingest", SAMPLE, index=index)[2]


def test_a_damaged_index_that_cannot_be_mended_is_one_line(paperchat: Run, complaint: Complaint, index: Path) -> None:
    shutil.rmtree(index / (index / "CURRENT").read_text().strip())
    for kept in index.glob("records-*"):
        kept.write_bytes(b"garbage")
    code, out, err = paperchat("ask", "What is TokenDrop?", index=index)
    assert (code, out) == (2, "")
    assert "--rebuild" in complaint(err.splitlines()[-1])


def test_an_index_that_cannot_be_a_folder_is_one_line(paperchat: Run, complaint: Complaint, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    code, _, err = paperchat("ingest", SAMPLE, index=tmp_path / "file")
    assert code == 2
    assert "PAPERCHAT_INDEX_DIR" in complaint(err)


def test_a_locked_index_is_one_line_that_names_the_holder(paperchat: Run, complaint: Complaint, index: Path) -> None:
    before = (index / "CURRENT").read_text()
    holds = (
        "import sys, pathlib; from vectorstore.lock import writing\n"
        "with writing(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holds, str(index)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        code, out, err = paperchat("ingest", SAMPLE, index=index)
        assert paperchat("ask", "What is TokenDrop?", index=index)[0] == 0  # reading goes on
        holder.stdin.close()
    assert (code, out) == (2, "")
    assert str(holder.pid) in complaint(err)
    assert (index / "CURRENT").read_text() == before
    assert paperchat("ingest", SAMPLE, index=index)[0] == 0


def test_a_port_in_use_is_one_line(paperchat: Run, complaint: Complaint) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = paperchat("serve", "--port", port)
    assert (code, out) == (2, "")
    line = complaint(err)
    assert f"port {port} of 127.0.0.1 is in use" in line
    assert "--port N" in line


STRAY = "What \udcff is TokenDrop?"  # what Python makes of a byte that is no UTF-8


@pytest.mark.parametrize("arguments", [("ask", "--json", STRAY), ("show", STRAY)])
def test_a_stray_byte_is_no_traceback(arguments: tuple[str, ...], paperchat: Run) -> None:
    assert paperchat(*arguments)[0] in (0, 2)


@pytest.mark.parametrize("report", ["no/such/folder/report.json", "."])
def test_a_report_that_cannot_be_written_is_one_line(
    report: str, paperchat: Run, complaint: Complaint, index: Path, tmp_path: Path
) -> None:
    code, _, err = paperchat("ingest", SAMPLE, "--report", tmp_path / report, index=index)
    assert code == 2
    assert report in complaint(err)


def test_a_history_nested_too_deeply_is_one_line(paperchat: Run, complaint: Complaint, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000)
    code, _, err = paperchat("ask", "x", "--history", tmp_path / "deep.json")
    assert code == 2
    assert "deep.json" in complaint(err)


def test_a_current_that_is_no_text_is_one_line(paperchat: Run, complaint: Complaint, index: Path) -> None:
    (index / "CURRENT").write_bytes(b"\xff\xfe\xff")
    code, _, err = paperchat("ask", "x", index=index)
    assert code == 0
    assert "damaged" in complaint(err)


def test_a_fault_of_our_own_is_not_hidden(paperchat: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli._assistant", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        paperchat("papers")


# Ingesting


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """Three lines of the sample, the second cut in half."""
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()[:3]
    (tmp_path / "cut.jsonl").write_text("\n".join((lines[0], lines[1][: len(lines[1]) // 2], lines[2])) + "\n")
    return tmp_path / "cut.jsonl"


def test_a_line_cut_in_half_is_skipped_and_named(paperchat: Run, cut: Path, tmp_path: Path) -> None:
    code, out, err = paperchat("ingest", cut, "--report", tmp_path / "report.json", index=tmp_path / "index")
    assert code == 0
    assert "Traceback" not in err
    assert f"{cut}:2: not valid JSON" in err
    assert "2 read, 2 new" in out
    assert "1 skipped" in out
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["read"], report["papers"]) == (2, 2)
    (skipped,) = report["skipped"]
    assert skipped.keys() == {"source", "line", "reason"}
    assert (skipped["source"], skipped["line"]) == (str(cut), 2)


def test_strict_exits_1_and_keeps_what_was_read(paperchat: Run, cut: Path, tmp_path: Path) -> None:
    assert paperchat("ingest", "--strict", cut, index=tmp_path / "index")[0] == 1
    assert len(paperchat("papers", index=tmp_path / "index")[1].splitlines()) == 2


def test_strict_exits_0_where_nothing_was_skipped(paperchat: Run, tmp_path: Path) -> None:
    assert paperchat("ingest", "--strict", SAMPLE, index=tmp_path / "index")[0] == 0


def test_a_report_has_the_counts_and_they_add_up(paperchat: Run, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()[:4]]
    rows += [{**rows[0], "id": "other-1"}, {"id": "t-1", "title": "A title alone"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    arguments = ("ingest", tmp_path / "rows.jsonl", "--report", tmp_path / "report.json")
    told = []
    for _ in range(2):
        code, out, _ = paperchat(*arguments, index=tmp_path / "index")
        assert code == 0
        told.append(json.loads((tmp_path / "report.json").read_text()))
        assert "1 without abstract" in out
    for report in told:
        assert report.keys() >= {
            *("read", "new", "updated", "unchanged", "merged", "without_abstract", "skipped", "papers")
        }
        assert report["read"] == report["new"] + report["updated"] + report["unchanged"] + report["merged"] == 6
        assert (report["papers"], report["without_abstract"], report["skipped"]) == (5, 1, [])
    assert [(report["new"], report["merged"], report["unchanged"]) for report in told] == [(5, 1, 0), (0, 0, 6)]


def test_ingesting_twice_changes_nothing(paperchat: Run, index: Path) -> None:
    before = (index / "CURRENT").read_text()
    code, out, _ = paperchat("ingest", SAMPLE, index=index)
    assert code == 0
    assert "37 unchanged" in out
    assert (index / "CURRENT").read_text() == before


def test_rebuild_takes_the_stored_papers_to_another_model(paperchat: Run, index: Path) -> None:
    manifest = index / (index / "CURRENT").read_text().strip() / "manifest.json"
    manifest.write_text(manifest.read_text().replace("hashing-256-v1", "another"))
    assert paperchat("ingest", SAMPLE, index=index)[0] == 2
    code, out, _ = paperchat("ingest", "--rebuild", index=index)
    assert code == 0
    assert "37 papers in the index" in out
    assert paperchat("ask", "What is TokenDrop?", index=index)[0] == 0


def test_progress_is_told_on_standard_error(paperchat: Run, tmp_path: Path) -> None:
    _, out, err = paperchat("ingest", SAMPLE, index=tmp_path / "index")
    stages = [line.split()[0] for line in err.splitlines()]
    assert list(dict.fromkeys(stages)) == ["reading", "merging", "splitting", "embedding", "indexing"]
    assert "embedding 37/37" in err
    assert len(out.splitlines()) == 1


# Processes


def finish(process: "subprocess.Popen[str]", seconds: float = 30) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def test_help_imports_nothing_heavy() -> None:
    look = f"""
import contextlib, io, sys
from app.cli import run_command
for command in ([], ["ingest"], ["ask"], ["papers"], ["show"], ["serve"], ["doctor"]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert run_command([*command, "--help"]) == 0
    assert "Usage: " in out.getvalue()
print(sorted({set(HEAVY)!r} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_what_asks_nothing_of_the_model_does_not_load_it(hashing_root: Path) -> None:
    """`ask` by the cheap double, `papers` and `show` need no torch."""
    look = """
import contextlib, io, sys
from app.cli import run_command
for command in (["ask", "What is TokenDrop?"], ["papers"], ["show", "icml2026-D8DUCALWYb"]):
    with contextlib.redirect_stdout(io.StringIO()):
        assert run_command(command) == 0
print(sorted({"torch", "transformers", "sentence_transformers", "gradio"} & set(sys.modules)))
"""
    environment = {**os.environ, "PAPERCHAT_INDEX_DIR": str(hashing_root), "PAPERCHAT_EMBEDDER": "hashing"}
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=30, env=environment)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_the_console_script_without_arguments_is_its_help() -> None:
    script = Path(sys.executable).with_name("paperchat")
    done = subprocess.run([script], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("ingest", "ask", "papers", "show", "serve", "doctor"))
    wrong = subprocess.run([script, "ask", ""], capture_output=True, text=True, timeout=30)
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Variations of the sample, enough to be interrupted."""
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    path = tmp_path_factory.mktemp("many") / "many.jsonl"
    with path.open("w") as file:
        for turn in range(25):
            for row in rows:
                varied = {"id": f"v{turn}-{row['id']}", "title": f"{turn} {row['title']}"}
                file.write(json.dumps({**varied, "abstract": f"{row['abstract']} It varies {turn} times."}) + "\n")
    return path


def interrupted(process: "subprocess.Popen[str]", stage: str) -> tuple[int, str, str]:
    """What a process leaves behind that is sent Ctrl-C when it has told that it is at `stage`."""
    assert process.stderr is not None
    told = ""
    while not told.startswith(stage):
        told = process.stderr.readline()
        assert told, "it was done before it could be interrupted"
    process.send_signal(signal.SIGINT)
    return finish(process)


@pytest.mark.parametrize("stage", ["reading", "embedding", "indexing"])
def test_interrupted_ingest_leaves_the_old_corpus_and_the_next_goes_on(
    stage: str, spawn: Spawn, paperchat: Run, index: Path, many: Path
) -> None:
    before = (index / "CURRENT").read_text()
    code, out, err = interrupted(spawn("ingest", many, index=index), stage)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert (index / "CURRENT").read_text() == before
    assert "42.9" in paperchat("ask", "How much memory does TokenDrop save?", index=index)[1]
    if stage == "embedding":
        code, out, _ = paperchat("ingest", many, index=index)
        assert code == 0
        assert f"{37 * 26} papers in the index" in out
        assert not list(index.glob("tmp-*"))


def test_interrupted_ingest_says_so(spawn: Spawn, complaint: Complaint, index: Path, many: Path) -> None:
    assert "interrupted" in complaint(interrupted(spawn("ingest", many, index=index), "reading")[2])


def test_a_reader_that_goes_away_is_no_error(spawn: Spawn) -> None:
    process = spawn("papers", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(30) in (0, 1, 141, -signal.SIGPIPE)


def test_nor_does_it_change_the_exit_code(spawn: Spawn) -> None:
    process = spawn("papers", "--json")
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) == 0
