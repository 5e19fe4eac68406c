"""Every way of decoding a sentence, what it cost, what is said of it, and what stands for a word that the model can't write."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from playground.cli.lines import translate_lines
from playground.config import EOS, MAX_POSITIONS, UNK, Refusal
from playground.data.tokenizers import CharacterTokenizer, WordTokenizer
from playground.decoding import classify, greedy, search
from playground.features.translate import query as copying
from playground.features.translate.query import DecodingOptions, trace_output, translate
from playground.tasks.toy_tasks import references
from tests.runs.tiny import refused

KNOBS = {"task": "sort", "steps": 40, "dropout": 0.0, "positions": "learned"}


@pytest.fixture
def write(reader, run, text):
    """write(**options) -> the translation of `text` in that way."""
    return lambda **options: translate(reader, run, None, text, DecodingOptions(**options))


def test_a_translation_is_the_models_own(run, model, text, write):
    result, (src, tgt) = write(), run.tokenizers
    (expected,), (candidate,) = greedy(model, [src.encode(text)], 60), result.candidates
    assert (result.step, result.search, result.verdict, result.prefix) == (40, None, None, ())
    assert tuple(piece.id for piece in candidate.pieces) == expected.ids
    assert candidate.probabilities == pytest.approx(np.exp(expected.logprobs), abs=1e-6)
    assert (candidate.text, candidate.finished) == (tgt.decode(expected.ids), expected.finished)
    assert (result.references, len(candidate.right)) == (references("sort", text), len(candidate.pieces))
    assert candidate.correct == (candidate.text in result.references and candidate.finished)


def test_a_line_of_known_tokens_has_nothing_unknown(reader, run, text):
    assert not next(translate_lines(reader, run, None, [text])).unknown


def test_sampling_draws_and_a_look_follows_the_very_tokens(reader, run, text, write):
    drawn = [write(method="sample", temperature=3.0, seed=seed).candidates[0] for seed in range(5)]
    assert len({candidate.text for candidate in drawn}) > 1
    assert write(method="sample", temperature=3.0, top_k=1, seed=3).candidates[0].text == write().candidates[0].text
    written = tuple(piece.id for piece in drawn[2].pieces)
    look = trace_output(reader, run, None, text, written)
    assert tuple(piece.id for piece in look.targets) == written
    assert trace_output(reader, run, None, text, written) is look
    with pytest.raises(Refusal, match="guess"):
        write(method="guess")


def test_a_prefix_is_continued_and_may_be_unknown_or_nothing_but_not_too_long(run, text, write):
    for method in ("greedy", "beam", "sample"):
        result = write(method=method, prefix="zy")
        assert [piece.text for piece in result.prefix] == ["z", "y"]
        assert all([piece.id for piece in one.pieces[:2]] == run.tokenizers[1].encode("zy") for one in result.candidates)
    (plain,), (right,) = write().candidates, references("sort", text)
    assert write(prefix=plain.text[:2]).candidates[0].text == plain.text
    assert write(prefix=right[0]).candidates[0].right[0]
    (elsewhere,) = write(prefix="zz" if right[0] != "z" else "aa").candidates
    assert (elsewhere.right, elsewhere.correct) == (None, None), "what was given is not held against the model"
    assert [piece.known for piece in write(prefix="z7").prefix] == [True, False]
    assert write(prefix="  ").prefix == ()
    assert len(write(prefix="z" * (MAX_POSITIONS - 1)).candidates[0].pieces) <= MAX_POSITIONS
    for length in (MAX_POSITIONS, 1_000_000):
        with refused("decoding.prefix_too_long"):
            write(prefix="z" * length)


@pytest.mark.parametrize(("method", "prefix"), [("greedy", "z"), ("beam", ""), ("sample", "z")])
def test_the_work_with_the_cache_and_without(write, method, prefix):
    stored, anew = (write(method=method, prefix=prefix, cache=cache) for cache in (True, False))
    for way in ("cached", "uncached"):  # what follows by formula is what is counted when it runs
        one, other = getattr(stored, way), getattr(anew, way)
        assert (one.positions, one.multiplications) == (other.positions, other.multiplications)
    assert stored.cached.positions < stored.uncached.positions
    assert stored.cached.multiplications < stored.uncached.multiplications
    assert (stored.cached.ms, stored.uncached.ms, stored.same, anew.same) == (None, None, None, True)
    assert min(anew.cached.ms, anew.uncached.ms) > 0
    assert [c.text for c in stored.candidates] == [c.text for c in anew.candidates]
    if method != "beam":
        length = len(stored.candidates[0].pieces)
        assert stored.cached.positions == length
        assert stored.uncached.positions == len(prefix) + sum(range(len(prefix) + 1, length + 1))


def test_a_beam_comes_with_its_tree_and_the_verdict(reader, run, model):
    (text, target), (src, tgt) = reader.examples(run)[0], run.tokenizers
    result = translate(reader, run, None, text, DecodingOptions("beam", width=3))
    expected = search(model, src.encode(text), 3, 0.6, 2 * len(text) + 16)
    assert [node.token for node in result.search.nodes] == [node.token for node in expected.nodes]
    assert len(result.candidates) == 3
    assert [one.score for one in result.candidates] == sorted((one.score for one in result.candidates), reverse=True)
    verdict = classify(model, src.encode(text), expected, [(*tgt.encode(target), EOS)])
    assert (result.verdict.kind, result.verdict.pruned) == (verdict.kind, verdict.pruned)
    assert (result.verdict.kind == "found") == result.candidates[0].correct
    assert translate(reader, run, None, "zzé", DecodingOptions("beam")).verdict is None


def test_constraints_are_met_at_a_cost_and_what_cannot_be_written_is_told_before_the_search(write, monkeypatch):
    result = write(method="beam", must=("zz", "k", "k"), must_not=("a",))
    assert all("zz" in each.text and "k" in each.text and "a" not in each.text for each in result.candidates)
    assert (result.verdict, result.free.nodes) == (None, write(method="beam").search.nodes)
    assert write(method="beam", must=("zz",), prefix="z").candidates[0].text.startswith("z")
    monkeypatch.setattr(copying, "search", None)
    letters, words = CharacterTokenizer("abcdezk"), WordTokenizer(["likes", "Zoe"])
    for tokenizer, must, must_not, most, sentence in (
        (letters, ["k7"], [], 60, "“k7” can’t be written with this model’s tokenizer, which lacks 7"),
        (words, [], ["Ben"], 60, "lacks Ben"),
        (letters, [], ["k", " "], 60, "is empty"),
        (letters, ["abc", "de"], [], 5, "5 tokens, at most 4"),
        (letters, ["z" * 11], [], 60, "11 tokens, at most 10"),
        (letters, ["abc"], ["z", "bc"], 60, "“bc” must not come, but “abc”"),
    ):
        with pytest.raises(Refusal, match=sentence):
            copying.build_constraints(tokenizer, must, must_not, most)
    with pytest.raises(Refusal, match="“e” must not come, but “ce”"):
        write(method="beam", prefix="ce", must_not=("e",))
    with pytest.raises(Refusal, match="need beam search"):
        write(must=("a",))


def test_nobody_waits_for_ever(write, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr("playground.features.shared.queries.reader.TIMEOUT_S", 0.05)
    monkeypatch.setattr("playground.features.translate.query.greedy", lambda *arguments: gate.wait(30))
    with pytest.raises(Refusal, match="Stopped after"):
        write(prefix="a")
    gate.set()


def test_the_place_is_the_most_looked_at_of_the_last_layer_as_a_mean_over_its_heads(monkeypatch):
    misleading = [[[1, 0, 0, 0]] * 3] * 2  # the first layer
    first = [[0.6, 0.4, 0, 0], [0.1, 0.2, 0.3, 0.4], [0.5, 0, 0.5, 0]]
    second = [[0, 0.5, 0.5, 0], [0.1, 0.1, 0, 0.8], [0, 0, 1, 0]]
    nothing = np.zeros((0, 0, 2, 3))
    for cross, source, target, places in (
        ([misleading, [first, second]], [4, UNK, 5], [UNK, UNK, EOS], (1, 1, None)),  # of the second token EOS has .6, which is no word
        ([misleading, [first, second]], [4, UNK, 5], [UNK, 4, UNK], (1, None, 2)),
        (nothing, [4, 5], [UNK, EOS], (None, None)),
        (nothing, [4, 5], [6, EOS], (None, None)),
    ):
        monkeypatch.setattr(copying, "trace", lambda *_, cross=cross: SimpleNamespace(cross=np.array(cross, dtype=np.float32)))
        assert copying.align_unknown(None, source, target) == places
    assert copying.copy_words(WordTokenizer(["likes"]), "Zoe likes  Ben", (2, None, 0)) == ("Ben", None, "Zoe")
