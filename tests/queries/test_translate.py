"""Every way of decoding a sentence, what it cost, and what is said of it."""

import threading

import numpy as np
import pytest

from playground.config import EOS, MAX_POSITIONS, Refusal
from playground.decoding import classify, greedy, search
from playground.queries.translate import DecodingOptions, trace_of, translate
from playground.tasks.toy_tasks import references
from tests.runs.tiny import alone, tiny

KNOBS = {"task": "sort", "steps": 40, "dropout": 0.0, "positions": "learned"}


@pytest.fixture(scope="module")
def run():
    """A trained run; nobody serves it."""
    return alone(tiny(**KNOBS))[0]


def sentence(reader, run):
    return reader.examples(run)[0][0]


def test_a_translation_is_the_models_own(reader, run):
    text = sentence(reader, run)
    found = translate(reader, run, None, text)
    model, step = reader.model_at(run, None)
    src, tgt = run.tokenizers
    (expected,) = greedy(model, [src.encode(text)], 60)
    (candidate,) = found.candidates
    assert (found.step, step) == (40, 40)
    assert tuple(piece.id for piece in candidate.pieces) == expected.ids
    assert candidate.probabilities == pytest.approx(np.exp(expected.logprobs), abs=1e-6)
    assert candidate.text == tgt.decode(expected.ids)
    assert candidate.finished == expected.finished
    assert found.references == references("sort", text)
    assert len(candidate.right) == len(candidate.pieces)
    assert candidate.correct == (candidate.text in found.references and candidate.finished)
    assert (found.search, found.verdict, found.prefix) == (None, None, ())


def test_every_method_has_candidates(reader, run):
    text = sentence(reader, run)
    beams = translate(reader, run, None, text, DecodingOptions("beam", width=3)).candidates
    assert len(beams) == 3
    assert [c.score for c in beams] == sorted((c.score for c in beams), reverse=True)
    drawn = {
        translate(reader, run, None, text, DecodingOptions("sample", temperature=3.0, seed=seed)).candidates[0].text for seed in range(5)
    }
    assert len(drawn) > 1
    one = DecodingOptions("sample", temperature=3.0, top_k=1, seed=3)
    assert translate(reader, run, None, text, one).candidates[0].text == translate(reader, run, None, text).candidates[0].text
    way = DecodingOptions("sample", temperature=3.0, seed=2)
    written = tuple(piece.id for piece in translate(reader, run, None, text, way).candidates[0].pieces)
    look = trace_of(reader, run, None, text, written)
    assert tuple(piece.id for piece in look.asked) == written, "a look follows the very tokens"
    assert trace_of(reader, run, None, text, written) is look
    with pytest.raises(Refusal, match="guess"):
        translate(reader, run, None, text, DecodingOptions("guess"))


def test_a_prefix_is_continued(reader, run):
    text, tokenizer = sentence(reader, run), run.tokenizers[1]
    for method in ("greedy", "beam", "sample"):
        found = translate(reader, run, None, text, DecodingOptions(method, prefix="zy"))
        assert [piece.text for piece in found.prefix] == ["z", "y"]
        for candidate in found.candidates:
            assert [piece.id for piece in candidate.pieces[:2]] == tokenizer.encode("zy")
    (plain,) = translate(reader, run, None, text).candidates
    assert translate(reader, run, None, text, DecodingOptions(prefix=plain.text[:2])).candidates[0].text == plain.text
    (right,) = references("sort", text)
    (reported,) = translate(reader, run, None, text, DecodingOptions(prefix=right[0])).candidates
    assert reported.right[0]
    (elsewhere,) = translate(reader, run, None, text, DecodingOptions(prefix="zz" if right[0] != "z" else "aa")).candidates
    assert (elsewhere.right, elsewhere.correct) == (None, None), "what was given is not held against the model"


def test_a_prefix_that_is_unknown_too_long_or_nothing(reader, run):
    text = sentence(reader, run)
    found = translate(reader, run, None, text, DecodingOptions(prefix="z7"))
    assert [piece.known for piece in found.prefix] == [True, False]
    assert translate(reader, run, None, text, DecodingOptions(prefix="  ")).prefix == ()
    assert len(translate(reader, run, None, text, DecodingOptions(prefix="z" * (MAX_POSITIONS - 1))).candidates[0].pieces) <= MAX_POSITIONS
    for length in (MAX_POSITIONS, 1_000_000):
        with pytest.raises(Refusal) as refusal:
            translate(reader, run, None, text, DecodingOptions(prefix="z" * length))
        assert refusal.value.key == "decoding.prefix_too_long"


@pytest.mark.parametrize("prefix", ["", "z"])
@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_the_work_with_the_cache_and_without(reader, run, method, prefix):
    text = sentence(reader, run)
    stored, anew = (translate(reader, run, None, text, DecodingOptions(method, prefix=prefix, cache=cache)) for cache in (True, False))
    for way in ("cached", "anew"):  # what follows by formula is what is counted when it runs
        one, other = getattr(stored, way), getattr(anew, way)
        assert (one.positions, one.multiplications) == (other.positions, other.multiplications)
    assert stored.cached.positions < stored.anew.positions
    assert stored.cached.multiplications < stored.anew.multiplications
    assert (stored.cached.ms, stored.anew.ms, stored.same) == (None, None, None)
    assert anew.same
    assert min(anew.cached.ms, anew.anew.ms) > 0
    assert [c.text for c in stored.candidates] == [c.text for c in anew.candidates]
    if method != "beam":
        length = len(stored.candidates[0].pieces)
        assert stored.cached.positions == length
        assert stored.anew.positions == len(prefix) + sum(range(len(prefix) + 1, length + 1))


def test_a_beam_comes_with_its_tree_and_the_verdict(reader, run):
    text, target = reader.examples(run)[0]
    found = translate(reader, run, None, text, DecodingOptions("beam", width=3))
    model, _ = reader.model_at(run, None)
    src, tgt = run.tokenizers
    expected = search(model, src.encode(text), 3, 0.6, 2 * len(text) + 16)
    assert [node.token for node in found.search.nodes] == [node.token for node in expected.nodes]
    verdict = classify(model, src.encode(text), expected, [(*tgt.encode(target), EOS)])
    assert (found.verdict.kind, found.verdict.pruned) == (verdict.kind, verdict.pruned)
    assert (found.verdict.kind == "found") == found.candidates[0].correct
    assert translate(reader, run, None, "zzé", DecodingOptions("beam")).verdict is None


def test_nobody_waits_for_ever(reader, run, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr("playground.queries.reader.TIMEOUT_S", 0.05)
    monkeypatch.setattr("playground.queries.translate.greedy", lambda *arguments: gate.wait(30))
    with pytest.raises(Refusal, match="longer than"):
        translate(reader, run, None, "some text")
    gate.set()
