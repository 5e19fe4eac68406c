"""The tabs where decoding is seen: every way of it, what it cost, and teacher forcing beside free running."""

import json
import re
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.utils.flop_counter import FlopCounterMode

from playground import load
from playground.cli import main
from playground.config import EOS, MAX_POSITIONS, UNK, Experiment, ModelConfig, Refusal
from playground.data.corpus import build_corpus
from playground.data.tokenizers import CharacterTokenizer, WordTokenizer
from playground.decoding import classify, greedy, limit_output, search
from playground.decoding.model_decoder import ModelDecoder
from playground.features.evaluation.query import scores
from playground.features.shared.queries.activations import activations
from playground.features.teacher_forcing.query import compare
from playground.features.translate import query as copying
from playground.features.translate.price_query import CACHES, LENGTHS, compute_price
from playground.features.translate.query import DecodingOptions, trace_output, translate
from playground.model.masks import padding_mask
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import write_run
from playground.runs.queue import train_inline
from playground.tasks.toy_tasks import TASKS, references
from playground.training.bleu import BeamGain
from playground.variants import build
from playground.words import say
from tests.runs.tiny import CORPORA, refused, train_here
from tests.ui.looking import block, find

LONG = "ich weiß , dass das Mädchen das Schaf sucht"
EARLY = {"run": "german_english", "text": LONG, "step": 29}  # the model is half taught: beam search loses the right answer

LONG_BEAM = {"run": "german_english", "text": LONG, "method": "beam"}


def ask(site, **parameters) -> dict:
    return site.panel("translate", **{"run": "reverse", "text": "hello", **parameters})


def lines(panel: dict) -> list[list[str]]:
    return [[token["text"] for token in line["tokens"]] for line in block(panel, "candidates")["lines"]]


def written(panel: dict) -> list[str]:
    return [row[0].split("→")[1] for row in block(panel, "steps")["rows"]]


def test_beam_search_shows_its_tree_a_score_that_can_be_worked_out_and_the_verdict(site):
    for language, penalty in (("en", 0.6), ("zh", 1.2)):
        answer = ask(site, **EARLY, method="beam", beam=4, penalty=penalty, lang=language)
        tree, verdict = block(answer, "tree"), block(answer, "beam-verdict")["text"]
        assert site.reader.look(site.runs.get(EARLY["run"]), None, LONG).references[0] in verdict
        assert verdict.startswith(say(language, "decoding.search_error", reference="|", score="", best="").split("|")[0])
        drawn = tree["figure"]["layout"]["meta"]
        assert 0 < drawn["drawn"] < drawn["considered"]
        assert str(drawn["considered"]) in tree["caption"]
        pattern = r"(-[\d.]+) / \(\(5 \+ (\d+)\) / 6\)\^([\d.]+) = (-[\d.]+\d)"
        total, length, exponent, score = map(float, re.search(pattern, tree["caption"].replace("−", "-")).groups())
        assert (length, exponent, len(lines(answer))) == (len(lines(answer)[0]), penalty, 4)
        assert total / ((5 + length) / 6) ** penalty == pytest.approx(score, abs=1e-3)
    assert lines(answer)[0] != [piece.text for piece in site.reader.look(site.runs.get(EARLY["run"]), EARLY["step"], LONG).targets]
    assert block(answer, "greedy")["text"] == say("zh", "decoding.frame_is_greedy")
    easy = ask(site, method="beam")
    assert (block(easy, "beam-verdict")["text"], find(easy, "greedy")) == (say("en", "decoding.found"), None)
    assert find(ask(site, method="beam", text="h9llo"), "beam-verdict") is None  # nobody knows the right answer


def test_the_method_that_scored_higher_is_the_default_of_both_tabs(site, monkeypatch):
    monkeypatch.setattr(site.runs.get("reverse").history, "beam", BeamGain(200, 4, 1.0, 2.0))
    for tab, more in (("translate", ["sample"]), ("evaluation", [])):
        chosen, greedy_way = (site.panel(tab, run="reverse", text="hi", **way) for way in ({}, {"method": "greedy"}))
        assert [option["value"] for option in block(chosen, "method")["options"]] == ["greedy", "", *more]
        ways = [(block(panel, "method")["value"], find(panel, "beam") is None) for panel in (chosen, greedy_way)]
        assert (ways, site.panel("sentence", run="reverse", text="hi")["method"]) == ([("", False), ("greedy", True)], "beam")
        assert say("en", "decoding.gain", sentences=200, width=4, beam=2.0, greedy=1.0) == block(chosen, "gain")["text"]


def test_constraints_are_drawn_with_what_they_cost_and_one_that_cannot_be_met_leaves_the_fields(site):
    answer = ask(site, **LONG_BEAM, must="dog", must_not="girl")
    assert [token for token in lines(answer)[0] if token in ("dog", "girl")] == ["dog"]
    cost, score, free = map(float, re.findall(r"-?\d+\.\d+", block(answer, "beam-verdict")["text"].replace("−", "-")))
    assert (cost > 0, free - cost) == (True, pytest.approx(score, abs=2e-3))
    figure = block(answer, "tree")["figure"]
    assert f"{cost:.3f}" in figure["data"][0]["name"]
    outputs = lines(ask(site, **LONG_BEAM))[0], lines(answer)[0]  # the branches of both end where these do
    assert [max(filter(None, figure["data"][branch]["y"])) for branch in (0, 3)] == [len(output) for output in outputs]
    assert figure["data"][9]["y"] == [1 + outputs[0].index("girl")]
    assert block(ask(site, **LONG_BEAM, must="girl"), "beam-verdict")["text"] == say("en", "decoding.constraint_is_met")
    refused = ask(site, **LONG_BEAM, must="xyzzy")
    assert "“xyzzy”" in block(refused, "refused")["text"]
    assert (block(refused, "must")["value"], lines(refused)) == ("xyzzy", lines(ask(site, **LONG_BEAM)))


def test_a_prefix_is_written_first_and_marked_a_draw_is_repeated_by_its_seed_and_twenty_are_counted(site):
    answer = ask(site, method="beam", prefix="xy")
    output = block(answer, "candidates")["lines"][0]["tokens"]
    assert [(token["text"], bool(token.get("given"))) for token in output[:3]] == [("x", True), ("y", True), (output[2]["text"], False)]
    assert block(answer, "at")["value"] >= 2  # a step that the model took by itself
    assert block(answer, "verdict")["text"] == say("en", "decoding.no_verdict")
    assert block(ask(site, prefix="ol"), "verdict")["text"] == say("en", "page.verdict_right")
    answer = ask(site, **EARLY, prefix="she xyzzy")
    assert block(answer, "unknown-prefix")["text"] == say("en", "decoding.prefix_unknown", words="xyzzy")
    assert find(ask(site, prefix=" \u200b\x00"), "given") is None
    hot = {"method": "sample", "temperature": 3}
    assert lines(ask(site, **hot, draw=3)) == lines(ask(site, **hot, draw=3))
    for narrow in ({"top_k": 1}, {"top_p": 0.05}):
        assert lines(ask(site, **hot, **narrow))[0] == written(ask(site))
    assert block(ask(site, **hot, draw=7), "seed")["value"] == "7"
    answer = ask(site, method="sample", temperature=2, draws=20)
    rows = block(answer, "spread")["rows"]
    counts = [row[1] for row in rows]
    assert (sum(counts), counts) == (20, sorted(counts, reverse=True))
    assert len({row[0] for row in rows}) == len(rows) > 1
    assert all((row[3] == "✓") == (row[0] == "olleh") for row in rows)
    same = ask(site, method="sample", draws=20, temperature=0.1)
    assert len(block(same, "spread")["rows"]) == 1
    assert find(ask(site, method="sample", draws=20, **block(same, "warmer")["to"]), "warmer") is None


def test_it_offers_a_sentence_that_goes_wrong_or_else_the_one_of_the_greatest_doubt_and_takes_none_by_itself(site):
    (offered,) = block(site.panel("translate", run="reverse"), "suggested")["options"]
    look = site.reader.look(site.runs.get("reverse"), None, offered["value"])
    assert not (look.finished and all(look.right))
    german = site.runs.get("german_english")
    doubt = {text: min(site.reader.look(german, None, text).probabilities) for text, _ in site.reader.examples(german, "heldout", 100)}
    least = min(doubt, key=lambda text: doubt[text])
    assert [block(ask(site, run="german_english", text=text), "suggested")["value"] == least for text in ("", least)] == [False, True]


LETTERS = "abcdefghijklmnopqrst"  # longer than any word in training
RIGHT = [*reversed(LETTERS), "<eos>"]
FORCED, FREE, CORRECTED, BOTH = (say("en", f"teacher_forcing.{name}") for name in ("forced", "free", "corrected", "both"))


def forcing(site, **parameters) -> dict:
    return site.panel("teacher_forcing", **{"run": "reverse"} | parameters)


def lanes(panel: dict) -> dict[str, dict]:
    return {lane["name"]: {row["name"]: row["tokens"] for row in lane["rows"]} for lane in block(panel, "lanes")["lanes"]}


def test_a_long_word_parts_the_lives_and_the_caption_the_votes_and_a_correction_say_where(site):
    panel = forcing(site, text=LETTERS)
    forced, free = lanes(panel)[FORCED], lanes(panel)[FREE]
    assert [token["text"] for token in forced["fed"]] == ["<bos>", *reversed(LETTERS)]
    assert [token["text"] for token in free["fed"][1:]] == [token["text"] for token in free["says"][:-1]]
    assert [token["right"] for token in forced["says"]] == [
        token["text"] == wanted for token, wanted in zip(forced["says"], RIGHT, strict=True)
    ]
    at = next(at for at, (token, wanted) in enumerate(zip(free["says"], RIGHT, strict=False)) if token["text"] != wanted)
    wrote, right = free["says"][at]["text"], RIGHT[at]
    assert block(panel, "lanes")["parted"] == at
    assert say("en", "teacher_forcing.parted", step=at + 1, wrote=wrote, right=right) in block(panel, "caption")["text"]
    assert block(panel, "votes-title")["text"] == say("en", "votes.title", step=at + 1, token=wrote, other=right)
    option = next(one for one in block(panel, "fix")["options"] if one["label"].split()[0] == LETTERS[-1])
    after = forcing(site, text=LETTERS, fix=option["value"])
    assert (lanes(after)[FREE], block(after, "fix")["value"]) == (free, option["value"])
    assert lanes(after)[CORRECTED]["says"][int(option["value"].split(":")[0])]["text"] == LETTERS[-1]
    for fix in ("x", "1", ":", "1:2:3", "99:99999", "-1:4", "0:0", "٣:٤", "1:" + "9" * 50):
        assert list(lanes(forcing(site, fix=fix))) == [BOTH], fix


LENGTHY = " ".join(f"w{place}" for place in range(30))  # the answer to everything: fifteen times as long as what is asked
PAIRS = Pairs(tuple(Pair(f"ask {n}", LENGTHY, n + 1) for n in range(40)), {}, 40, "tsv", ("own.tsv",))
LEARNER = {"task": "own", "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "steps": 40, "batch_size": 16, "threads": 1}


@pytest.mark.night
@settings(max_examples=4)
@given(st.sampled_from(list(TASKS)), st.sampled_from(("auto", "characters")))
def test_every_task_can_write_its_answers(task, tokenizer):
    corpus = build_corpus(Experiment().with_(task=task, tokenizer=tokenizer, train_size=300, validation_size=100).data)
    room = [limit_output(corpus.longest_target, len(item.src_ids)) - len(item.tgt_ids) for item in (*corpus.heldout, *corpus.harder)]
    assert min(room) > 0  # one is the end's


def test_what_the_curve_calls_right_is_written_everywhere(reader, tmp_path, capsys):
    """By a run that learnt long answers to short questions."""
    trained, folder = train_here(Experiment().with_(**LEARNER), PAIRS), tmp_path / "long"
    write_run(folder, trained, train_inline.contents(trained))
    run = Folder(folder).run
    source = CORPORA.get(run.experiment, run.pairs).heldout[0].src
    result = scores(reader, CORPORA, run, None, "heldout")
    assert (trained.exact_match, result.wrong, result.unfinished, result.measured.bleu) == (1, 0, 0, pytest.approx(100))
    assert translate(reader, run, None, source).candidates[0].correct
    assert all(reader.look(run, None, source).right)
    assert compare(reader, run, None, source).parted is None
    assert (len(activations(reader, run, None, source)[0].targets), load(folder).translate(source)) == (31, LENGTHY)
    assert main(["translate", str(folder), source, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"][0]["text"] == LENGTHY


KNOBS = {"task": "sort", "steps": 40, "dropout": 0.0, "positions": "learned"}


@pytest.fixture
def write(reader, run, text):
    """write(**options) -> the translation of `text` in that way."""
    return lambda **options: translate(reader, run, None, text, DecodingOptions(**options))


def test_a_translation_is_the_models_own_and_a_look_follows_its_very_tokens(reader, run, model, text, write):
    result, (src, tgt) = write(), run.tokenizers
    (expected,), (candidate,) = greedy(model, [src.encode(text)], 60), result.candidates
    assert (result.step, result.search, result.verdict, result.prefix) == (40, None, None, ())
    assert tuple(piece.id for piece in candidate.pieces) == expected.ids
    assert candidate.probabilities == pytest.approx(np.exp(expected.logprobs), abs=1e-6)
    assert (candidate.text, candidate.finished) == (tgt.decode(expected.ids), expected.finished)
    assert (result.references, len(candidate.right)) == (references("sort", text), len(candidate.pieces))
    assert candidate.correct == (candidate.text in result.references and candidate.finished)
    for seed in (2, 3):
        written = tuple(piece.id for piece in write(method="sample", temperature=3.0, seed=seed).candidates[0].pieces)
        assert tuple(piece.id for piece in trace_output(reader, run, None, text, written).targets) == written
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
    assert ([piece.known for piece in write(prefix="z7").prefix], write(prefix="  ").prefix) == ([True, False], ())
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
        (words, [], ["Ben"], 60, "lacks Ben"), (letters, [], ["k", " "], 60, "is empty"),
        (letters, ["abc", "de"], [], 5, "5 tokens, at most 4"), (letters, ["z" * 11], [], 60, "11 tokens, at most 10"),
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
        ([misleading, [first, second]], [4, UNK, 5], [UNK, 4, UNK], (1, None, 2)), (nothing, [4, 5], [UNK, EOS], (None, None)),
        (nothing, [4, 5], [6, EOS], (None, None)),
    ):
        monkeypatch.setattr(copying, "trace", lambda *_, cross=cross: SimpleNamespace(cross=np.array(cross, dtype=np.float32)))
        assert copying.align_unknown(None, source, target) == places
    assert copying.copy_words(WordTokenizer(["likes"]), "Zoe likes  Ben", (2, None, 0)) == ("Ben", None, "Zoe")


@pytest.mark.night
@pytest.mark.trust
@pytest.mark.parametrize("architecture", ["encoder_decoder", "causal_decoder"])
def test_the_price_of_a_length_is_what_torch_counts(architecture):
    model, length, stored = build(ModelConfig(architecture=architecture, d_model=24, n_heads=2, d_k=5, d_ff=40), 9, 11).eval(), 8, {}
    price, at, tokens = compute_price(model), LENGTHS.index(length), torch.full((1, length), EOS + 1)
    for name in CACHES:
        with FlopCounterMode(display=False) as counter, torch.inference_mode():
            decoder = ModelDecoder(model, tokens, name == "cached")
            for end in range(1, length + 1):
                decoder.logits(tokens[:, :end], 1)
        batched = counter.get_flop_counts()["Global"][torch.ops.aten.bmm] // 2  # the products of attention, which has no matrix
        rest = counter.get_total_flops() // 2 - batched
        assert (price.operations[f"attention_{name}"][at], price.operations[f"rest_{name}"][at]) == (batched, rest)
        stored[name] = decoder.cache
    *_, weights, crossing = model.decode(tokens, *model.encode(tokens)[:1], padding_mask(tokens))
    every = [each for part in (model.encode(tokens)[1], weights, crossing) for each in part]
    assert price.bytes["weights_uncached"][at] == sum(each.nbytes for each in every)
    own = [each.k.nbytes + each.v.nbytes for layer in stored["cached"].layers for each in layer if each.k is not None]
    of_source = 0 if architecture == "encoder_decoder" else model.encode(tokens)[0].nbytes
    assert price.bytes["keys_values"][at] == sum(own) + of_source
    assert min(map(min, price.ms.values())) > 0
