"""Replicas: one copy of the model for each part of a batch, with faster attention, products and dropout than the model's own.

They have their own modules, dropout masks and hooks, and share one set of parameters: reading the model between steps sees the latest
parameters, never a half-applied update.
"""

from functools import cache

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from playground.model.attention import MASKED, MultiHeadAttention, scaled_dot_product_attention
from playground.model.copies import shared_copy
from playground.model.costs import LARGE
from playground.model.parts import Dropout, Linear
from playground.model.transformer import Transformer


def replica(model: Transformer, product_dtype: torch.dtype = torch.float32) -> Transformer:
    """Returns a copy that shares the model's parameters, with attention that returns no weights and its own generator for dropout. On a CPU
    its linear maps multiply in `product_dtype`."""
    copy = shared_copy(model, torch.Generator(model.generator.device))
    on_cpu = model.generator.device.type == "cpu"
    if not on_cpu:  # cuDNN's backward pass of a fully masked row returns NaN, seen with bfloat16 and 64 tokens
        torch.backends.cuda.enable_cudnn_sdp(False)
    for module in copy.modules():
        if isinstance(module, MultiHeadAttention) and type(module).attend_heads is MultiHeadAttention.attend_heads:
            module.__class__ = _faster(FastAttention, type(module))
        if isinstance(module, Linear) and module is not copy.projection and on_cpu and has_onednn():  # the projection would copy its logits
            module.__class__ = _faster(FastLinear, type(module))
            module.product_dtype = product_dtype
        if isinstance(module, Dropout) and on_cpu:
            module.__class__ = _faster(FastDropout, type(module))
    return copy


@cache
def _faster(fast: type[nn.Module], kind: type[nn.Module]) -> type[nn.Module]:
    """Returns the class `kind` with the methods of `fast`: a variant's attention keeps what it changes besides."""
    return fast if kind is fast.__base__ else type(f"Fast{kind.__name__}", (fast, kind), {})


# --- attention ---


class FastAttention(MultiHeadAttention):
    """Attention by `fast_attention`."""

    def attend_heads(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return fast_attention(q, k, v, mask, self.power, self.dropout)


def fast_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, power: float, dropout: Dropout) -> tuple[Tensor, Tensor | None]:
    """Computes scaled_dot_product_attention of q (B, H, Q, K), k (B, H, L, K), v (B, H, L, U), without returning its weights.

    Torch's fused function never holds all weights, but draws dropout from the global random state, which all runs share. So with dropout a
    function of our own takes the mask as an argument; its backward pass is four products, where autograd would copy all weights at each
    call.
    """
    if not dropout.active:
        return F.scaled_dot_product_attention(q, k, v, mask, scale=None if power == 0.5 else q.shape[-1] ** -power), None
    if mask is None or q.device.type != "cpu" or q.dtype != torch.float32:
        return scaled_dot_product_attention(q, k, v, mask, power, dropout)
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


# --- matrix products ---
#
# Torch itself sends float32 products to MKL, which is slower than oneDNN on AMD processors: 1,040 x 256 times 256 x 1,024 took 4.8 ms on
# one core of an EPYC, and 2.2 ms by oneDNN. The sums are the same but for the order of their terms.
#
# oneDNN compiles code per shape, in a third of a millisecond and up to 0.6 MB, in an LRU cache (see playground/__init__). Batches have ever
# new shapes, so the rows of a product are padded to one of SIZES numbers between one power of two and the next.
#
# In bfloat16 a product takes half of float32's time on processors with the instructions, and less with matrix units. Only these products
# are rounded: attention, norms, sums and whatever a layer returns stay float32, so little is lost on conversions.
SIZES = 16
FEW = 128  # rows: with fewer a product is too small to gain
SMALLEST = {torch.float32: LARGE, torch.bfloat16: 2**14}  # numbers of a matrix from which its products gain: measured


class FastLinear(Linear):
    """The linear map by `fast_linear`."""

    product_dtype = torch.float32

    def forward(self, x: Tensor) -> Tensor:
        return fast_linear(x, self.weight, self.bias, self.product_dtype)


def fast_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, dtype: torch.dtype = torch.float32) -> Tensor:
    """Computes x W^T + b, as F.linear, with products in `dtype`. x (..., I), weight (O, I), bias (O,) -> (..., O)."""
    if weight.numel() < SMALLEST[dtype] or x.shape[:-1].numel() < FEW or x.dtype != torch.float32:
        return F.linear(x, weight, bias)
    return _Linear.apply(x, weight, bias, dtype)


def has_onednn() -> bool:
    """Returns whether torch was built with oneDNN and this product."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Computes x W^T + b, as F.linear, without a gradient, but faster where shapes are few."""
    if x.dtype == torch.float32 and x.device.type == "cpu" and has_onednn():
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return F.linear(x, weight, bias)  # in bfloat16 torch itself takes oneDNN's


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
        ctx.save_for_backward(x, weight)  # x as it is, shared with other users: padded, each product would hold its own copy
        ctx.biased, ctx.dtype = bias is not None, dtype
        out = multiply(_rows(x, dtype), weight.to(dtype), None if bias is None else bias.to(dtype))
        return out[: x.shape[:-1].numel()].view(*x.shape[:-1], len(weight)).float()

    @staticmethod
    @once_differentiable
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        grads, rows = _rows(gradient, ctx.dtype), _rows(x, ctx.dtype)
        to_x = None
        if ctx.needs_input_grad[0]:
            to_x = multiply(grads, weight.to(ctx.dtype).t())[: x.shape[:-1].numel()].view(x.shape).float()
        return to_x, _weight_gradient(grads, rows).float(), gradient.flatten(0, -2).sum(dim=0) if ctx.biased else None, None


def _weight_gradient(gradient: Tensor, rows: Tensor) -> Tensor:
    """Computes G^T X. (N, O), (N, I) -> (O, I). The wider one stands at the right: with a vocabulary of 8,000 that is 4 times faster."""
    if gradient.shape[1] > rows.shape[1]:
        return multiply(rows.t(), gradient.t()).t().contiguous()
    return multiply(gradient.t(), rows.t())


def _rows(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns the rows in `dtype`, padded with zero rows to one of few row counts. (..., I) -> (N or more, I)."""
    rows = x.flatten(0, -2).to(dtype)
    step = 1 << max(len(rows).bit_length() - SIZES.bit_length(), 0)
    return F.pad(rows, (0, 0, 0, missing)) if (missing := -len(rows) % step) else rows


# --- dropout ---

LEVELS = 2**16  # possible draws; a fraction p of them, rounded, means dropped


class FastDropout(Dropout):
    """Dropout with masks drawn as 16-bit integers. Four at a time are one 64-bit integer, drawn in a third of the time of four floats."""

    def multipliers(self, like: Tensor) -> Tensor:
        """Returns 0 for dropped elements, 1 / (fraction not dropped) for the rest. Any shape -> the same shape and dtype."""
        lowest = round(self.p * LEVELS)
        fours = torch.empty(-(-like.numel() // 4), dtype=torch.int64, device=like.device).random_(-(2**63), None, generator=self.generator)
        passed = fours.view(torch.int16)[: like.numel()].view(like.shape) >= lowest - LEVELS // 2
        return passed.to(like.dtype).div_(1 - lowest / LEVELS)
