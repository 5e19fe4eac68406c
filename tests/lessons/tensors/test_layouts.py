"""Truths about the lab of the layouts for cross-entropy."""

import pytest
import torch

from playground.lessons.tensors import layouts as lab


def drawn(tokens=lab.T):
    return torch.randn(lab.B, tokens, lab.V, dtype=torch.float64), torch.randint(lab.V, (lab.B, tokens))


@pytest.mark.parametrize("way", [lab.flattened, lab.transposed, lab.one_hot])
def test_three_ways_give_the_loss_by_hand(way):
    logits, tgt_out = drawn()
    torch.testing.assert_close(way(logits, tgt_out), lab.by_hand(logits, tgt_out))


@pytest.mark.parametrize("tokens", lab.LAB.controls[0].choices)
@pytest.mark.parametrize("seed", range(5))
def test_what_the_prose_says(seed, tokens):
    outcome = lab.run(seed, tokens)
    assert outcome.answer == "wrong"
    verdicts = {row[0]: row[3] for row in outcome.exhibits[0].rows}
    right = dict.fromkeys(("flattened", "transposed", "one_hot"), "right")
    assert verdicts == right | {"viewed": "wrong", "untouched": "wrong" if tokens == lab.V else "refused"}


def test_a_refusal_is_torchs_own():
    logits, tgt_out = drawn(5)
    with pytest.raises((RuntimeError, ValueError)) as refused:
        lab.untouched(logits, tgt_out)
    assert lab.tried(lab.untouched, logits, tgt_out) == str(refused.value).splitlines()[0]
