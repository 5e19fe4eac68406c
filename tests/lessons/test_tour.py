"""The numbers that the tour asks for are the model's: computed once more here, by hand from its parameters, for models of every kind."""

import math

import pytest
import torch
import torch.nn.functional as F

from playground.config import BOS, EOS
from playground.inspection.activations import record
from playground.lessons.tour import STOPS, find_reading
from playground.model.attention import head_widths
from playground.model.transformer import Transformer
from tests.inspection.test_activations import build

SRC, TGT = [4, 5, 6, 4], [7, 5, 8, EOS]
KINDS = [  # the paper's, and what its stops can be different for
    {}, {"norm": "pre"}, {"positions": "learned"}, {"positions": "rotary"}, {"positions": "both"}, {"positions": "none"},
    {"residual": False}, {"residual": False, "norm": "pre"}, {"norm": "none"}, {"residual": False, "norm": "none"}, {"activation": "none"},
    {"activation": "gelu", "bias": True}, {"d_k": 2}, {"attention_scale": 0.0}, {"attention_scale": 0.25}, {"share_embeddings": "output"},
    {"embedding_scale": False, "positions": "none"}, {"memory_mode": "mean"}, {"memory_mode": "cut"}, {"n_heads": 1},
    {"encoder_layers": 2, "decoder_layers": 3},
]  # fmt: skip


@torch.inference_mode()
def by_hand(model: Transformer, src: list[int], tgt: list[int], head: int) -> dict[str, float]:
    """Computes each stop's number from parameters and the paper's formulas; the decoder's from a pass through the model."""
    config, table = model.config, model.src_embedding.weight
    ids, fed = torch.tensor([*src, EOS]), torch.tensor([[BOS, *tgt[:-1]]])
    d, (d_k, d_v) = config.d_model, head_widths(config)
    x = table[ids] * (math.sqrt(d) if config.embedding_scale else 1)
    numbers = {"ids": ids[0], "embedding": table[ids[0], 0]}
    if config.positions in ("sinusoidal", "both"):
        angles = torch.arange(len(ids))[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
        x = x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    elif config.positions == "learned":
        x = x + model.src_positions.table[: len(ids)]
    numbers["positions"] = x[1, 0]
    layer = model.encoder[0]
    attention, inner = layer.self_attention, layer.feed_forward
    y = layer.norm_1(x) if config.norm == "pre" else x
    parts = ((attention.W_q, d_k), (attention.W_k, d_k), (attention.W_v, d_v))
    q, k, v = (part(y).view(len(ids), config.n_heads, wide).transpose(0, 1) for part, wide in parts)
    numbers["projections"] = q[head, 0, 0]
    if config.encoding.rotary:
        q, k = (rotated(each) for each in (q, k))
        if not config.encoding.added:
            numbers["positions"] = q[head, 1, 0]
    scores = q @ k.transpose(1, 2) / d_k**config.attention_scale
    weights = scores.softmax(dim=-1)
    key = weights[head, 0].argmax()
    mixed = weights @ v
    numbers |= {"scores": scores[head, 0, key], "weights": weights[head, 0].max(), "mixed": mixed[head, 0, 0]}
    y = attention.W_o(mixed.transpose(0, 1).flatten(1))
    x = x + y if config.residual else y
    x = layer.norm_1(x) if config.norm == "post" else x
    numbers["sublayer"] = x[0, 0]
    y = inner.W_1(layer.norm_2(x) if config.norm == "pre" else x)
    numbers["feed_forward"] = inner.W_2({"relu": F.relu, "gelu": F.gelu, "none": torch.nn.Identity()}[config.activation](y))[0, 0]
    output = model(ids[None], fed)
    numbers["mask"] = (output.decoder[0][0, head, min(2, len(tgt) - 1)] > 0).sum()
    numbers["cross"] = output.cross[-1][0, head, 0].max()
    numbers["token"] = output.logits[0, 0].softmax(dim=-1).max()
    return {name: float(value) for name, value in numbers.items()} | {"loop": len(tgt)}


def rotated(x: torch.Tensor) -> torch.Tensor:
    """Pairs of dimensions as complex numbers, each turned by its position's angle."""
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    angles = torch.arange(x.shape[-2])[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


@pytest.mark.parametrize("knobs", KINDS, ids=str)
def test_each_number_is_what_the_formulas_give(knobs):
    model = build(**knobs)
    stages, heads = record(model, SRC, TGT), model.config.n_heads
    for head in {0, heads - 1}:
        by_stop = {name: find_reading(stages, model.config, name, head) for name in STOPS}
        assert {name: stop.value for name, stop in by_stop.items()} == pytest.approx(by_hand(model, SRC, TGT, head), abs=2e-5, rel=2e-5)
        assert all(stop.cell is None or float(stages[stop.address].values[stop.cell]) == stop.value for stop in by_stop.values())
