"""Scores are sacrebleu's and greedy decoding's own; every right answer counts; and a long exam comes piece by piece."""

from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import pytest
import sacrebleu
import torch

from playground.config import EOS, PAD, UNK
from playground.data.corpus import Item
from playground.decoding import greedy
from playground.features.conftest import complete
from playground.features.evaluation import lengths_query, query as evaluation
from playground.features.evaluation.query import measure, scores, tokenization
from playground.features.shared.queries import validation
from playground.runs.history import History
from playground.training.metrics import build_eval_set, tally, validate
from tests.runs.tiny import CORPORA, alone, refused, tiny

KNOBS = {"task": "reverse", "steps": 60, "dropout": 0.0, "d_model": 16, "validation_size": 120}
TWO_WAYS = {"task": "one_to_many", "steps": 10, "dropout": 0.0, "validation_size": 60}
OUTPUTS = ["the cat sat on the mat .", "a dog", "he looks for the castle", ""]
REFERENCES = [
    ["the cat is on the mat .", "there is a cat on the mat ."], ["a dog"], ["she looks for the lock", "he looks for the lock"], ["x y"],
]  # fmt: skip


@pytest.mark.trust
def test_bleu_chrf_and_the_bootstrap_are_sacrebleus():
    streams = [each[0] for each in REFERENCES], [each[1] if len(each) > 1 else None for each in REFERENCES]
    for tokenize in ("13a", "zh"):
        result = measure(OUTPUTS, REFERENCES, tokenize)
        bleu, chrf = sacrebleu.corpus_bleu(OUTPUTS, streams, tokenize=tokenize, force=True), sacrebleu.corpus_chrf(OUTPUTS, streams)
        assert (result.bleu, result.chrf, min(bleu.score, chrf.score) > 0) == (bleu.score, chrf.score, True)
        assert f"tok:{tokenize}" in result.bleu_signature
    outputs, references = OUTPUTS[::2], REFERENCES[::2]
    result = measure(outputs, references, "13a", 200)
    streams = list(zip(*references, strict=True))
    for metric, reach, signature in (
        (sacrebleu.BLEU(force=True), result.bleu_reach, result.bleu_signature),
        (sacrebleu.CHRF(), result.chrf_reach, result.chrf_signature),
    ):
        theirs = metric.corpus_score(outputs, streams, n_bootstrap=200)
        assert f"± {reach:.3f}" in theirs.format(width=3)
        assert reach > 0
        assert signature == str(metric.get_signature())
    assert "bs:200" in result.bleu_signature
    assert measure(outputs, references, "13a").bleu_reach is None


@pytest.mark.trust
@pytest.mark.parametrize("split", ["heldout", "harder"])
def test_the_scores_are_what_greedy_decoding_writes(reader, run, model, split):
    corpus = CORPORA.get(run.experiment, run.pairs)
    result = complete(lambda: scores(reader, CORPORA, run, None, split))
    items = getattr(corpus, split)
    assert (result.step, result.sentences, result.evaluated.of) == (run.step, len(items), len(items))
    limits = [2 * len(item.src_ids) + 16 for item in items]
    outputs = greedy(model, [item.src_ids for item in items], max(limits))
    written = [output.ids[:limit] for output, limit in zip(outputs, limits, strict=True)]
    right = [ids == (*item.tgt_ids, EOS) for ids, item in zip(written, items, strict=True)]
    expected = validate(model, build_eval_set(corpus, items))
    assert result.evaluated.validation.exact_match == pytest.approx(sum(right) / len(items))
    assert result.evaluated.validation.token_accuracy == pytest.approx(expected.token_accuracy)
    texts = [corpus.tgt_tokenizer.decode(ids) for ids in written]
    assert result.measured == measure(texts, [[item.tgt] for item in items], "char", evaluation.RESAMPLES)
    assert (result.wrong, result.tokenize, result.of_words) == (len(items) - sum(right), "char", False)
    assert result.unfinished == sum(ids[-1] != EOS for ids in written)
    assert result.unknown == sum(UNK in ids for ids in written)
    characters = [sum(len(text.replace(" ", "")) for text in some) for some in (texts, [item.tgt for item in items])]
    assert result.measured.length_ratio == pytest.approx(characters[0] / characters[1])
    first = next(at for at, correct in enumerate(right) if not correct)
    mistake = result.mistakes[0]
    assert (mistake.source, "".join(piece.text for piece in mistake.reference)) == (items[first].src, items[first].tgt)
    assert [piece.id for piece in mistake.output] == list(written[first])
    assert len(result.mistakes) <= evaluation.MAX_MISTAKES


class Parrot(torch.nn.Module):
    """Says for each source what it was told to say, whatever it is fed."""

    def __init__(self, says: dict[tuple[int, ...], tuple[int, ...]], size: int):
        super().__init__()
        self.says, self.size = says, size

    def forward(self, src, tgt_in):
        rows = [(*self.says[tuple(token for token in row if token not in (PAD, EOS))], EOS) for row in src.tolist()]
        likely = torch.zeros(*tgt_in.shape, self.size)
        for at, row in enumerate(rows):
            for place, token in enumerate(row[: tgt_in.shape[1]]):
                likely[at, place, token] = 1
        return SimpleNamespace(logits=likely)


@pytest.mark.trust
@pytest.mark.parametrize(("which", "right"), [(0, True), (-1, True), (None, False)])
def test_every_right_answer_counts(reader, monkeypatch, which, right):
    run = alone(tiny(**TWO_WAYS))[0]
    corpus = CORPORA.get(run.experiment, run.pairs)
    encode = corpus.tgt_tokenizer.encode
    spelt = [item for item in corpus.heldout if UNK not in (*item.src_ids, *encode(" ".join(corpus.references[item.src])))]
    says = {item.src_ids: tuple(encode("he" if which is None else corpus.references[item.src][which])) for item in spelt}
    parrot = Parrot(says, corpus.tgt_tokenizer.size).eval()
    monkeypatch.setattr(evaluation, "_write", lambda _, way, model, items: [(*says[item.src_ids], EOS) for item in items])
    monkeypatch.setattr(validation, "tally_of", lambda model, *requests: tally(parrot, build_eval_set(*requests)))
    run = copy(run)
    run.parts = run.parts | {"history": History()}  # as if nothing had been measured
    some = SimpleNamespace(get=lambda *_: replace(corpus, heldout=tuple(spelt)))
    result = complete(lambda: scores(reader, some, run, None, "heldout"))
    assert result.sentences == len(spelt) > 5
    assert (result.most_references, result.evaluated.validation.exact_match, result.wrong) == (2, right, 0 if right else len(spelt))
    assert [score == pytest.approx(100) for score in (result.measured.bleu, result.measured.chrf)] == [right] * 2


def test_the_answer_that_has_most_of_the_tokens_is_judged():
    src_ids, own, other = (4, 5), (6, 7, 8), (9, 7)
    corpus = SimpleNamespace(references={"s": ("own", "other")}, tgt_tokenizer=SimpleNamespace(encode={"own": own, "other": other}.get))
    item = Item("s", "own", src_ids, own)

    def reported(*says):
        ((right, whole),) = lengths_query.teacher_forced(Parrot({src_ids: says}, 12), corpus, [item])
        return right.tolist(), whole

    assert (reported(*own), reported(*other)) == (([True] * 4, True), ([True] * 3, True))
    assert reported(9, 7, 8) == ([False, True, True, True], False)  # three of four of its own, two of three of the other
    assert reported(9, 7, 8, 6) == ([True, True, False], False)  # two of four, two of three


def test_a_long_exam_comes_piece_by_piece_and_nothing_is_asked_twice(reader, run, monkeypatch):
    requests, write = [], evaluation._write
    monkeypatch.setattr(evaluation, "_write", lambda *values: requests.append(len(values[-1])) or write(*values))
    with monkeypatch.context() as slow:
        slow.setattr(validation, "BUDGET_S", -1)
        slow.setattr(evaluation, "MAX_SENTENCES", 50)
        result = [scores(reader, CORPORA, run, None, "heldout") for _ in range(4)]
    assert [entry.sentences for entry in result] == [50, 100, 120, 120]
    assert result[2] is result[3]
    assert {entry.total for entry in result} == {120}
    at_work = copy(run)
    at_work.parts, at_work.status = dict(run.parts), "training"
    result = scores(reader, CORPORA, at_work, None, "heldout")
    assert (result.sentences, result.total, result.evaluated.of) == (25, 25, 120)
    reached = lengths_query.lengths(reader, CORPORA, at_work, None)
    assert reached.sentences == reached.total <= 50
    assert len(reached.reach.counts) == 48  # from the shortest to the longest
    assert requests == [50, 50, 20, 25]


def test_nothing_is_resampled_or_measured_that_cannot_be_and_no_sentence_is_kept(reader):
    result, without = measure(OUTPUTS, REFERENCES, "13a", 200), measure(OUTPUTS, REFERENCES, "13a")
    assert (result.chrf, result.chrf_reach, result.chrf_signature) == (without.chrf, None, without.chrf_signature)
    assert result.bleu == without.bleu
    for wrong in (([], []), (["a"], []), (["a"], [[]])):
        with pytest.raises(ValueError):
            measure(*wrong, "13a")
    for tokenize in ("13a", "zh", "char", "intl"):
        tokenizer = sacrebleu.BLEU(tokenize=tokenize).tokenizer
        measure(OUTPUTS, REFERENCES, tokenize)
        parts = [type(part).__call__ for part in (tokenizer, *vars(tokenizer).values()) if hasattr(type(part).__call__, "cache_info")]
        assert [part.cache_info().currsize for part in parts] == [0] * len(parts) != []
    cuts = {("三千四百", "五"): "zh", ("abc", "xyz"): "char", ("a dog barks .", "it rains"): "13a"}
    assert [tokenization(list(texts)) for texts in cuts] == list(cuts.values())
    assert tokenization(["a b", "c d"], "characters") == "char"
    beer = alone(tiny(task="beer", steps=5))[0]
    with refused("evaluation.no_sentences"):
        scores(reader, CORPORA, beer, None, "harder")
    with pytest.raises(ValueError):
        validation.in_slices(reader, beer, None, ("nothing",), [], lambda model, part: part)
