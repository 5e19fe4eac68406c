"""Attention for training steps: the numbers of model/attention.py, with a hand-written backward pass.

Torch's fused function draws dropout from the global random state, which all runs share, so it is used only without dropout. This one takes
the dropout mask as an argument; its backward pass is four products, where autograd would copy all weights at each call.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from playground.model.attention import MASKED, fused_attention
from playground.model.parts import Dropout


def training_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, power: float = 0.5, dropout: Dropout | None = None
) -> tuple[Tensor, None]:
    """Like the model's scaled_dot_product_attention, q (B, H, Q, K), k (B, H, L, K), v (B, H, L, V), but returns no weights."""
    drops = dropout is not None and dropout.active
    if not drops or mask is None or q.dtype != torch.float32 or torch.is_autocast_enabled(q.device.type):
        return fused_attention(q, k, v, mask, power, dropout)
    multipliers = dropout.multipliers(q.new_empty(*q.shape[:-1], k.shape[-2]))
    return _Attention.apply(q, k, v, mask, q.shape[-1] ** -power, multipliers), None


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: float, multipliers: Tensor
    ) -> Tensor:
        batch, heads = q.shape[:2]
        q, k, v = (x.flatten(0, 1) for x in (q, k, v))
        scores = torch.bmm(q, k.mT).unflatten(0, (batch, heads))
        weights = scores.mul_(scale).add_(torch.where(mask, 0.0, MASKED)).softmax(dim=-1)
        if not mask.any(dim=-1).all():
            weights *= mask  # a fully masked row
        weights = weights.flatten(0, 1)
        multipliers = multipliers.flatten(0, 1)
        ctx.save_for_backward(q, k, v, weights, multipliers)
        ctx.scale, ctx.shape = scale, (batch, heads)
        return torch.bmm(weights * multipliers, v).unflatten(0, (batch, heads))

    @staticmethod
    @once_differentiable
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights, multipliers = ctx.saved_tensors
        gradient = gradient.flatten(0, 1)
        to_v = torch.bmm((weights * multipliers).mT, gradient)
        to_weights = torch.bmm(gradient, v.mT).mul_(multipliers)
        to_scores = torch._softmax_backward_data(to_weights, weights, -1, torch.float32).mul_(ctx.scale)
        gradients = torch.bmm(to_scores, k), torch.bmm(to_scores.mT, q), to_v
        return *(x.unflatten(0, ctx.shape) for x in gradients), None, None, None
