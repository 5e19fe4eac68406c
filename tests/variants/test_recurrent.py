"""Recurrent models: what they are given of a source, checked against the equations of their papers."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from playground.config import PAD
from playground.variants.recurrent import RECURRENT
from tests.variants.varied import SRC, TGT, beside

EACH = pytest.mark.parametrize("variant", RECURRENT)


@torch.inference_mode()
def test_the_decoder_computes_what_bahdanau_et_al_wrote_down():
    """Equations 4 to 6, one sentence and one step at a time, with torch's own cell for the unit."""
    model = beside("gru_attention")[1]
    (decoder,), src, tgt = model.decoder, SRC[0], TGT[0]
    memory, _ = model.encode(src[None])
    _, _, (weights,) = model.decode(tgt[None], memory, torch.ones(1, 1, 1, len(src), dtype=torch.bool))
    cell = nn.GRUCell(decoder.gru.input_size, decoder.gru.hidden_size)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in decoder.gru.state_dict().items()})
    h, s, found = memory[0], torch.tanh(decoder.W_s(memory[0, -1])), []
    for token, row in zip(tgt, weights[0, 0], strict=True):
        y = model.tgt_embedding.weight[token] * model.config.d_model**0.5
        e = torch.stack([decoder.v_a.weight[0] @ torch.tanh(decoder.W_a.weight @ s + decoder.U_a.weight @ h_j) for h_j in h])
        alpha = e.exp() / e.exp().sum()
        torch.testing.assert_close(row, alpha)
        c = sum(weight * h_j for weight, h_j in zip(alpha, h, strict=True))
        s = cell(torch.cat((y, c)), s)
        found.append(model.projection(torch.tanh(decoder.W_o(torch.cat((s, y, c))))))
    torch.testing.assert_close(model(src[None], tgt[None]).logits[0], torch.stack(found), rtol=1e-4, atol=1e-5)


@EACH
@torch.inference_mode()
def test_only_attention_sees_more_of_a_source_than_its_last_state(variant):
    model = beside(variant)[1]
    memory, _ = model.encode(SRC[:1])
    mask = torch.ones(1, 1, 1, memory.shape[1], dtype=torch.bool)
    other = torch.cat((memory[:, :-1].flip(1) + 1, memory[:, -1:]), dim=1)
    wider = torch.cat((SRC, torch.full((2, 3), PAD)), dim=1)
    torch.testing.assert_close(model(wider, TGT).logits, model(SRC, TGT).logits)  # padding behind a sentence changes nothing
    states, others = (model.decode(TGT[:1], seen, mask)[0] for seen in (memory, other))
    assert torch.allclose(states, others) == (variant == "gru")
