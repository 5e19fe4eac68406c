"""Two lives with the same parameters: what is fed differs, nothing else; and forcing token by token is teacher forcing."""


import numpy as np
import pytest
import torch

from playground.config import BOS, EOS, ModelConfig
from playground.decoding import greedy, trace
from playground.model.masks import padding_mask
from playground.model.transformer import Transformer
from playground.queries.teacher_forcing import compare, go_wrong, lens_of
from tests.runs.tiny import alone, tiny

CONFIGS = [
    {}, {"positions": "rotary", "norm": "pre"}, {"positions": "both", "bias": False}, {"positions": "none", "residual": False},
    {"positions": "learned", "attention_scale": 0.0, "embedding_scale": False, "activation": "gelu", "d_k": 1},
]  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return alone(tiny(task="reverse", steps=12, dropout=0.0))[0]


@pytest.mark.trust
@torch.inference_mode()
@pytest.mark.parametrize("knobs", CONFIGS, ids=str)
def test_forcing_token_by_token_is_teacher_forcing(knobs):
    """What the decoder says after a prefix is what it says at that place of the whole sentence: the future is invisible."""
    model = Transformer(ModelConfig(d_model=16, d_ff=32, **knobs), 14, 13, torch.Generator().manual_seed(5)).eval()
    source, target = [5, 9, 4, 4, 11], [7, 4, 4, 12, 8, EOS]
    whole = trace(model, source, target).probabilities
    src = torch.tensor([[*source, EOS]])
    memory, mask = model.encode(src)[0], padding_mask(src)
    for step in range(len(target)):
        states, _, _ = model.decode(torch.tensor([[BOS, *target[:step]]]), memory, mask)
        np.testing.assert_allclose(model.project(states[0, -1]).softmax(dim=-1), whole[step], atol=1e-5)
    forced = greedy(model, [source], len(target), prefix=target)[0]
    np.testing.assert_allclose(np.exp(forced.logprobs), whole[np.arange(len(target)), target], atol=1e-5)
    written = greedy(model, [source], 12)[0].ids
    assert tuple(trace(model, source, written).probabilities.argmax(axis=-1)) == written  # fed its own words, it says them again


def test_both_lives_are_the_same_until_they_part(run, reader):
    text, answer = reader.examples(run)[0]
    result = compare(reader, run, None, text)
    ids = run.tokenizers[1].encode(answer)
    assert [piece.id for piece in result.forced.asked] == [*ids, EOS]
    assert [piece.id for piece in result.forced.fed] == [BOS, *ids]
    assert [piece.id for piece in result.free.fed[1:]] == [piece.id for piece in result.free.asked[:-1]]
    pairs = list(zip((p.id for p in result.free.asked), (p.id for p in result.forced.asked), strict=False))
    assert result.parted is not None, "twelve steps are too few to be right"
    assert all(a == b for a, b in pairs[: result.parted])
    assert result.parted == min(len(pairs), next((at for at, (a, b) in enumerate(pairs) if a != b), len(pairs)))
    np.testing.assert_allclose(result.free.cross[:, :, : result.parted + 1], result.forced.cross[:, :, : result.parted + 1], atol=1e-5)
    reply = lens_of(reader, run, None, text, [piece.id for piece in result.free.asked])
    assert reply[-1].argmax(axis=-1).tolist() == [piece.id for piece in result.free.asked]


def test_a_correction_is_written_and_life_goes_on_from_it(run, reader):
    text, answer = reader.examples(run)[0]
    right = (*run.tokenizers[1].encode(answer), EOS)
    free = compare(reader, run, None, text)
    at = free.parted
    result = compare(reader, run, None, text, fix=(at, right[at]))
    written = tuple(piece.id for piece in result.corrected.asked)
    assert written[: at + 1] == right[: at + 1]
    model, _ = reader.model_at(run, None)
    source = run.tokenizers[0].encode(text)
    assert written == greedy(model, [source], 2 * len(source) + 16, prefix=right[: at + 1])[0].ids
    assert (result.recovered is not None) == (written[-1:] == right[-1:] and len(written) == len(right))
    assert [piece.id for piece in result.free.asked] == [piece.id for piece in free.free.asked]  # never overwritten
    whole = compare(reader, run, None, text, fix=(len(free.free.asked) - 1, EOS))
    assert whole.corrected.asked[-1].id == EOS


@pytest.mark.parametrize("fix", [(99, 5), (0, 10**6), (0, 0), (-1, 5)])
def test_a_correction_that_makes_no_sense_is_ignored(run, reader, fix):
    assert compare(reader, run, None, reader.examples(run)[0][0], fix=fix).corrected is None


def test_first_come_those_that_teacher_forcing_saves(run, reader):
    """So that the two differ in what is shown: at the first there are at least as many tokens saved as at any other."""
    wrong = go_wrong(reader, run, None, reader.examples(run)[:6])
    assert len(wrong) > 1

    model, _ = reader.model_at(run, None)
    src, tgt = run.tokenizers

    def saved(text: str) -> int:
        answer, free = (*tgt.encode(text[::-1]), EOS), compare(reader, run, None, text).free
        fed = trace(model, src.encode(text), answer).probabilities.argmax(axis=-1)
        return sum(one == other for one, other in zip(fed, answer, strict=True)) - sum(free.right)

    assert saved(wrong[0]) == max(map(saved, wrong))
