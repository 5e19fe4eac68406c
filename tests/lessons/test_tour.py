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
def by_hand(model: Transformer, src: list[int], tgt: list[int], at: tuple[int, int]) -> dict[str, float]:
    """Computes each stop's number from parameters and the paper's formulas; what enters the attention explained is the model's own."""
    config, table = model.config, model.src_embedding.weight
    ids, fed, (layer_at, head) = torch.tensor([*src, EOS]), torch.tensor([[BOS, *tgt[:-1]]]), at
    d, (d_k, d_v) = config.d_model, head_widths(config)
    x = table[ids] * (math.sqrt(d) if config.embedding_scale else 1)
    numbers = {"ids": ids[0], "embedding": table[ids[0], 0]}
    if config.positions in ("sinusoidal", "both"):
        angles = torch.arange(len(ids))[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
        x = x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    elif config.positions == "learned":
        x = x + model.src_positions.table[: len(ids)]
    numbers["positions"] = x[1, 0]
    if config.encoding.rotary and not config.encoding.added:
        q = model.encoder[0].self_attention.W_q(model.encoder[0].norm_1(x) if config.norm == "pre" else x)
        numbers["positions"] = rotated(q.view(len(ids), config.n_heads, d_k).transpose(0, 1))[head, 1, 0]
    layer, entered = model.decoder[layer_at], []
    attention, inner = layer.cross_attention, layer.feed_forward
    hooks = [part.register_forward_pre_hook(lambda part, inputs: entered.append(inputs)) for part in (attention, layer.residual)]
    output = model(ids[None], fed)
    for hook in hooks:
        hook.remove()
    _, (y, memory, *_), (x, _), _ = [[tensor[0] for tensor in inputs] for inputs in entered]
    parts = ((attention.W_q, y, d_k), (attention.W_k, memory, d_k), (attention.W_v, memory, d_v))
    q, k, v = (part(rows).view(len(rows), config.n_heads, wide).transpose(0, 1) for part, rows, wide in parts)
    numbers["projections"] = q[head, 0, 0]
    scores = q @ k.transpose(1, 2) / d_k**config.attention_scale
    weights = scores.softmax(dim=-1)
    key = weights[head, 0].argmax()
    mixed = weights @ v
    numbers |= {"scores": scores[head, 0, key], "weights": weights[head, 0].max(), "mixed": mixed[head, 0, 0]}
    y = attention.W_o(mixed.transpose(0, 1).flatten(1))
    x = x + y if config.residual else y
    x = layer.norm_2(x) if config.norm == "post" else x
    numbers["sublayer"] = x[0, 0]
    y = inner.W_1(layer.norm_3(x) if config.norm == "pre" else x)
    numbers["feed_forward"] = inner.W_2({"relu": F.relu, "gelu": F.gelu, "none": torch.nn.Identity()}[config.activation](y))[0, 0]
    numbers["self_attention"] = output.encoder[layer_at][0, head, 0].max()
    numbers["mask"] = (output.decoder[0][0, head, min(2, len(tgt) - 1)] > 0).sum()
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
    for head in ((0, 0), (min(model.config.encoder_layers, model.config.decoder_layers) - 1, heads - 1)):
        by_stop = {name: find_reading(stages, model.config, name, head) for name in STOPS}
        assert {name: stop.value for name, stop in by_stop.items()} == pytest.approx(by_hand(model, SRC, TGT, head), abs=2e-5, rel=2e-5)
        assert all(stop.cell is None or float(stages[stop.address].values[stop.cell]) == stop.value for stop in by_stop.values())
