"""Two lives with the same parameters: what is fed differs, nothing else; and forcing token by token is teacher forcing."""

import numpy as np
import pytest
import torch

from playground.config import BOS, EOS, ModelConfig
from playground.decoding import greedy, trace
from playground.model.masks import padding_mask
from playground.model.transformer import Transformer
from playground.queries import teacher_forcing
from playground.queries.teacher_forcing import compare, go_wrong, lens_of

KNOBS = {"task": "reverse", "steps": 12, "dropout": 0.0}
CONFIGS = [
    {}, {"positions": "rotary", "norm": "pre"}, {"positions": "both", "bias": False}, {"positions": "none", "residual": False},
    {"positions": "learned", "attention_scale": 0.0, "embedding_scale": False, "activation": "gelu", "d_k": 1},
]  # fmt: skip


def ids_of(look):
    return [piece.id for piece in look]


@pytest.mark.trust
@torch.inference_mode()
@pytest.mark.parametrize("knobs", CONFIGS, ids=str)
def test_forcing_token_by_token_is_teacher_forcing(knobs):
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


def test_both_lives_are_the_same_until_they_part_and_a_correction_goes_on_from_there(run, reader, model):
    text, answer = reader.examples(run)[0]
    result, right = compare(reader, run, None, text), [*run.tokenizers[1].encode(answer), EOS]
    free, forced, at = ids_of(result.free.asked), ids_of(result.forced.asked), result.parted
    assert (forced, ids_of(result.forced.fed)) == (right, [BOS, *right[:-1]])
    assert ids_of(result.free.fed[1:]) == free[:-1]
    assert at is not None, "twelve steps are too few to be right"
    assert free[:at] == forced[:at]
    assert free[at : at + 1] != forced[at : at + 1]
    np.testing.assert_allclose(result.free.cross[:, :, : at + 1], result.forced.cross[:, :, : at + 1], atol=1e-5)
    assert lens_of(reader, run, None, text, free)[-1].argmax(axis=-1).tolist() == free
    again = compare(reader, run, None, text, fix=(at, right[at]))
    written, source = ids_of(again.corrected.asked), run.tokenizers[0].encode(text)
    assert written == [*greedy(model, [source], 2 * len(source) + 16, prefix=tuple(right[: at + 1]))[0].ids]
    assert written[: at + 1] == right[: at + 1]
    assert (again.recovered is not None) == (written[-1:] == right[-1:] and len(written) == len(right))
    assert ids_of(again.free.asked) == free  # never overwritten
    assert compare(reader, run, None, text, fix=(len(free) - 1, EOS)).corrected.asked[-1].id == EOS
    for fix in ((99, 5), (0, 10**6), (0, 0), (-1, 5)):  # one that makes no sense
        assert compare(reader, run, None, text, fix=fix).corrected is None


def test_recovered_is_the_first_step_from_which_on_both_are_the_same():
    right, cases = (7, 5, 2), {(7, 5, 2): 1, (7, 9, 2): 2, (9, 5, 2): 1, (7, 5, 9): None, (7, 2): None}
    assert {ids: teacher_forcing._recovered(ids, right, 1) for ids in cases} == cases


def test_first_come_those_that_teacher_forcing_saves(run, reader, model):
    wrong, (src, tgt) = go_wrong(reader, run, None, reader.examples(run)[:6]), run.tokenizers
    assert len(wrong) > 1

    def saved(text: str) -> int:
        answer, free = (*tgt.encode(text[::-1]), EOS), compare(reader, run, None, text).free
        fed = trace(model, src.encode(text), answer).probabilities.argmax(axis=-1)
        return sum(one == other for one, other in zip(fed, answer, strict=True)) - sum(free.right)

    assert saved(wrong[0]) == max(map(saved, wrong))
