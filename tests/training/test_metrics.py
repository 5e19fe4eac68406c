from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.nn import functional as F

from playground.config import EOS, PAD, UNK, limits
from playground.data.batches import collate
from playground.data.corpus import Corpus, Item
from playground.decoding import greedy
from playground.model.copies import shadow_copy
from playground.model.packing import padded
from playground.training import metrics
from playground.training.loop import Training
from playground.training.metrics import build_eval_set, validate
from tests.model.shared_copies import disturb
from tests.training.corpora import corpus_of, taught, training_of
from tests.variants.varied import naive


def by_greedy_decoding(model, corpus: Corpus, items: tuple[Item, ...]) -> float:
    """Exact match as one would define it: write a sentence, read it, compare it with all right answers."""
    written = greedy(model, [item.src_ids for item in items], max_length=40)
    texts = [corpus.tgt_tokenizer.decode(hypothesis.ids) if hypothesis.finished else None for hypothesis in written]
    return sum(text in corpus.references[item.src] for text, item in zip(texts, items, strict=True)) / len(items)


@pytest.mark.parametrize("task", ["copy", "one_to_many"])
def test_exact_match_by_teacher_forcing_is_exact_match_by_greedy_decoding(task):
    training = taught(task)
    assert training.validate("harder").pairs == len(training.corpus.harder)
    exact = training.validate().exact_match
    assert 0 < exact < 1, "the test needs a model that is right and wrong"
    assert exact == by_greedy_decoding(training.model, training.corpus, training.corpus.heldout)


def test_chunks_change_nothing(monkeypatch):
    training = taught("copy")
    whole = training.validate()
    monkeypatch.setattr(metrics, "VALIDATION_CELLS", 50)
    eval_set = build_eval_set(training.corpus, training.corpus.heldout)
    assert len(eval_set.batches) > 10
    for chunk, following in pairwise(eval_batch.batch for eval_batch in eval_set.batches):
        assert chunk.src.numel() + chunk.tgt_in.numel() <= 50 or len(chunk.src) == 1
        longest = int((following.src[0] != PAD).sum() + (following.tgt_in[0] != PAD).sum())
        assert (len(chunk.src) + 1) * longest > 50, "one more would have had room"
    pieces = validate(training.model, eval_set)
    assert (pieces.exact_match, pieces.token_accuracy, pieces.pairs) == (whole.exact_match, whole.token_accuracy, whole.pairs)
    assert pieces.loss == pytest.approx(whole.loss, rel=1e-4)


def test_any_right_answer_counts_only_the_items_own_is_averaged_and_one_that_cannot_be_written_is_never_exact():
    training = taught("copy")
    corpus, model = training.corpus, training.model
    answers = {item: corpus.tgt_tokenizer.decode(greedy(model, [item.src_ids], max_length=40)[0].ids) for item in corpus.heldout}
    wrong = next(item for item, answer in answers.items() if answer != item.tgt)
    lenient = Corpus(**{**vars(corpus), "references": {wrong.src: (wrong.tgt, answers[wrong])}})
    alone, forgiven = (validate(model, build_eval_set(data, (wrong,))) for data in (corpus, lenient))
    assert (alone.exact_match, forgiven.exact_match, forgiven.pairs) == (0.0, 1.0, 1)
    assert forgiven.loss == pytest.approx(alone.loss, rel=1e-4)
    assert forgiven.token_accuracy == alone.token_accuracy
    unwritable = shadow_copy(model)
    unwritable.projection.bias = torch.nn.Parameter(model.projection.bias + 1e4 * F.one_hot(torch.tensor(UNK), len(model.projection.bias)))
    result = validate(unwritable, build_eval_set(corpus, (Item("x", "ß", wrong.src_ids, (UNK,)),)))
    assert (result.exact_match, result.token_accuracy) == (0, 0.5), "<unk> is right, EOS is not"


def test_refuses_a_model_in_training_mode_and_an_empty_exam():
    training = training_of()
    eval_set = build_eval_set(training.corpus, training.corpus.heldout)
    training.model.train()
    with pytest.raises(ValueError, match="eval"):
        validate(training.model, eval_set)
    training.model.eval()
    with pytest.raises(ValueError, match="at least one"):
        build_eval_set(corpus_of(), ())


def examined(variant: str) -> tuple[Training, list[tuple[int, ...]], list[bool]]:
    """A training whose held-out answers are what its model writes, but for every third; what it writes; and which it gets right."""
    training = training_of(variant=variant, positions="both", seed=1)
    corpus, model = training.corpus, disturb(training.model)

    def scale(table: torch.Tensor) -> float:
        return 0.1 / table.std().item() if variant.endswith("_embeddings") else 5.0  # those begin larger than others

    with torch.no_grad():
        for embedding in (model.src_embedding, model.tgt_embedding):
            embedding.weight.mul_(scale(embedding.weight))  # so that tokens matter as much as their places
        model.projection.weight.mul_(4)
        model.projection.bias[EOS] += 4
        model.projection.bias[[PAD, UNK]] -= 1e4
    written = naive(model, padded([(*item.src_ids, EOS) for item in corpus.heldout]), 20)
    answers = [ids[:-1] if n % 3 else (*ids[:-1], 5) for n, ids in enumerate(written)]
    items = [Item(item.src, "", item.src_ids, ids) for item, ids in zip(corpus.heldout, answers, strict=True)]
    training.corpus = Corpus(**{**vars(corpus), "heldout": tuple(items), "references": {}})
    return training, written, [(*item.tgt_ids, EOS) == ids for item, ids in zip(items, written, strict=True)]


@settings(max_examples=10)
@given(st.sampled_from(limits("variant").choices))
def test_metrics_of_a_changed_model_are_those_of_what_it_writes_and_is_given(variant):
    """Of one that sees what it is to predict too. Padding is as in the exam, for those to whom it matters."""
    training, _, right = examined(variant)
    assert 0 < sum(right) < len(right), "the test needs a model that is right and wrong"
    assert training.validate().exact_match == sum(right) / len(right)
    batch = (training.variant.batch or (lambda batch: batch))(collate(training.corpus.heldout))
    logits, validation = training.model(batch.src, batch.tgt_in).logits, training.validate()
    loss = F.cross_entropy(logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD)
    assert validation.loss == pytest.approx(loss.item(), rel=1e-4)
    real = batch.tgt_out != PAD
    assert validation.token_accuracy == pytest.approx((logits.argmax(-1) == batch.tgt_out)[real].float().mean().item())


def test_written_and_in_one_pass_only_an_honest_model_gets_the_same_right():
    """One that looks ahead would be believed."""
    trainings = (taught("copy"), taught("one_to_many"), examined("none")[0], examined("no_causal_mask")[0])
    for training, same in zip(trainings, (True, True, True, False), strict=True):
        eval_set = build_eval_set(training.corpus, training.corpus.heldout)
        first, other = (validate(training.model, eval_set, **how) for how in ({}, {"written": True}))
        assert (first == other, first.exact_match == other.exact_match) == (same, same)
