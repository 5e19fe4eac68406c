import pytest
import torch
from torch.nn import functional as F

from playground.config import PAD
from playground.training.loss import cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_equals_torch_value_and_gradient(smoothing):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 5, 7, generator=generator, requires_grad=True)
    tgt_out = torch.randint(1, 7, (3, 5), generator=generator)
    tgt_out[0, 3:] = PAD
    ours = cross_entropy(logits, tgt_out, smoothing)
    theirs = F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, label_smoothing=smoothing)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(torch.autograd.grad(ours, logits)[0], torch.autograd.grad(theirs, logits)[0])
