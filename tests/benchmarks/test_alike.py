"""What is compared is alike: the same pairs of the same size, the same exam, sentences as long as asked, answers that were never learnt."""

import pytest
import torch

from benchmarks import peers
from benchmarks.decoding.calls import calls
from benchmarks.decoding.models import LENGTH, VOCABULARY, endless, plain, plain_greedy, sentences
from benchmarks.decoding.other import SCRIPT
from benchmarks.peers import plain as peer
from benchmarks.peers.common import Setting, exact_match, exam, rows_right
from benchmarks.step_rate import at_width, inside, theirs
from benchmarks.step_rate.floor import step_flops, step_tokens
from playground.config import BOS, EOS, MAX_POSITIONS, PAD, Experiment, ModelConfig
from playground.data.corpus import Item, build_corpus
from playground.decoding import greedy
from playground.model.positions import sinusoids
from playground.model.sublayers import flops
from playground.training.loop import Training

SMALL = {"train_size": 200, "validation_size": 20, "batch_size": 8, "encoder_layers": 1, "decoder_layers": 1}
TINY = ModelConfig(d_model=16, n_heads=2, d_ff=32)
LETTERS = 9


@pytest.fixture(scope="module")
def corpus():
    return build_corpus(Experiment().with_(**SMALL).data)


def test_both_sides_take_the_same_pairs_and_the_floor_counts_real_tokens_only(corpus):
    experiment = at_width("default", 16, SMALL)
    peer_step, ours = theirs(experiment, corpus), Training(experiment, corpus).steps()
    assert [peer_step() for _ in range(30)] == [next(ours).tokens for _ in range(30)], "more than one pass over the data"
    each = [flops(experiment.model, 30, len(item.src_ids) + 1, len(item.tgt_ids) + 1) for item in corpus.train]
    mean = sum(sum(one.values()) for one in each) / len(each)
    assert step_flops(experiment.model, 30, corpus.train, 8) == pytest.approx(3 * 8 * mean)
    tokens = sum(len(item.src_ids) + len(item.tgt_ids) + 2 for item in corpus.train)
    assert step_tokens(corpus.train, len(corpus.train)) == tokens


@pytest.mark.night
def test_looking_inside_leaves_no_trace(corpus):
    experiment = at_width("fast", 16, SMALL)
    watched, alone = (Training(experiment, corpus) for _ in range(2))
    before = torch.autograd.grad, torch.autograd.backward
    steps = watched.steps()
    inside.parts(watched, steps, 2)
    inside.kinds(watched, steps, 1, 1.0)
    assert (torch.autograd.grad, torch.autograd.backward) == before
    assert "step" not in vars(watched.optimiser)
    losses = [step.loss for step, _ in zip(alone.steps(), range(5), strict=False)][3:]
    assert [next(steps).loss for _ in range(2)] == losses


@torch.no_grad()
def test_exact_match_of_a_peer_is_what_greedy_decoding_gets_right():
    torch.manual_seed(0)
    model = peer.Plain(LETTERS, LETTERS, 16, 2, 2, 32, 0.1).eval()
    torch.testing.assert_close(model.positions, sinusoids(MAX_POSITIONS, 16))

    def written(source: tuple[int, ...], most: int) -> tuple[int, ...]:
        tokens = [BOS]
        while len(tokens) <= most and tokens[-1] != EOS:
            tokens.append(int(model(torch.tensor([[*source, EOS]]), torch.tensor([tokens]))[0, -1].argmax()))
        return tuple(tokens[1:])

    sources = [(4, 5), (6, 7, 8), (8,), (5, 5, 5, 5)]
    answers = [written(source, 5) for source in sources]  # an untrained model seldom writes EOS: ask for a longer answer then
    items = [Item("", "", source, one[:-1] if one[-1] == EOS else (*one, 4)) for source, one in zip(sources, answers, strict=True)]
    right = [written(one.src_ids, len(one.tgt_ids) + 1) == (*one.tgt_ids, EOS) for one in items]
    assert exact_match(model, lambda batch: model(batch.src, batch.tgt_in), exam(tuple(items))) == sum(right) / len(right)
    wanted, output = torch.tensor([[4, 5, EOS], [4, EOS, PAD], [4, EOS, PAD]]), torch.tensor([[4, 5, 6], [4, EOS, 7], [5, EOS, PAD]])
    assert rows_right(torch.nn.functional.one_hot(output, LETTERS).float(), wanted) == 1


def test_equal_is_as_large_as_ours_and_own_is_no_wider_than_asked():
    ours = Experiment().with_(d_model=32, n_heads=2, d_ff=64, dropout=0.2, batch_size=7)
    equal = Setting(d_model=32, n_heads=2, layers=ours.model.encoder_layers, d_ff=64, dropout=0.2, pairs=7)
    assert {peers.sizes(name, "equal", ours, 128) for name in peers.PEERS} == {equal}
    assert peers.sizes("plain", "own", ours, 512) == peer.OWN
    narrow = peers.sizes("plain", "own", ours, 128)
    assert (narrow.d_model, narrow.d_ff) == (128, 128)
    assert peers.sizes("joey", "own", ours, 128).d_model == 64, "as in its example"


def test_everybody_writes_as_many_tokens_the_likeliest_ones_in_few_calls():
    model, sources = plain(TINY), sentences(5, 3)
    theirs = plain_greedy(model, sources)
    for ids in ([one.ids for one in greedy(endless(TINY), sources, LENGTH)], theirs):
        assert [len(one) for one in ids] == [LENGTH] * 5
        assert all(min(one) > EOS and max(one) < VOCABULARY for one in ids)
    logits = model(torch.tensor([[*source, EOS] for source in sources]), torch.tensor([[BOS, *ids[:-1]] for ids in theirs]))
    assert logits.argmax(dim=-1).tolist() == [list(ids) for ids in theirs]
    assert calls(endless(TINY), {})["calls"] <= 65, "71 before a new token was computed where its key and value are kept"
    text = SCRIPT.read_text(encoding="utf-8")
    assert "torch" not in text
    assert "playground" not in text, "it runs where only CTranslate2 and numpy are"
