"""Products: the linear map of a training step, by oneDNN where torch has it.

By itself torch gives products in float32 to MKL, which is slower than oneDNN on processors of AMD: 1,040 x 256 times 256 x 1,024 took
4.8 milliseconds on one core of an EPYC, and 2.2 by oneDNN. Nothing else changes: the same sums, but for the order of their terms.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from playground.model.size import LARGE

# oneDNN compiles code for each shape, in a third of a millisecond and to 0.6 MB, and keeps what was used last (see playground/__init__).
# Batches are of ever new shapes: so the rows of a product are filled up, to one of SIZES numbers between one power of two and the next.
SIZES = 16
FEW = 128  # rows: with fewer a product is too small for all that


def fast_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b, as F.linear. x (..., I), weight (O, I), bias (O,) -> (..., O)."""
    small = weight.numel() < LARGE or x.shape[:-1].numel() < FEW
    if small or x.dtype != torch.float32 or torch.is_autocast_enabled(x.device.type):
        return F.linear(x, weight, bias)
    return _Linear.apply(x, weight, bias)


def available() -> bool:
    """Whether torch was built with oneDNN, and it with this product."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def product_like(x: Tensor) -> Callable[..., Tensor]:
    """The faster way to the product x W^T + b, for numbers of this kind, when its shape is one of a few; it knows no gradient."""
    return _product if x.dtype == torch.float32 and x.device.type == "cpu" and available() else F.linear


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)  # x as it is, which others keep too: filled up, each product would keep a copy of its own
        ctx.biased = bias is not None
        return _product(_filled(x.flatten(0, -2)), weight, bias)[: x.shape[:-1].numel()].view(*x.shape[:-1], len(weight))

    @staticmethod
    @once_differentiable
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        given = gradient.flatten(0, -2)
        filled, rows = _filled(given), _filled(x.flatten(0, -2))
        to_x = _product(filled, weight.t())[: len(given)].view(*gradient.shape[:-1], -1) if ctx.needs_input_grad[0] else None
        return to_x, _of_weight(filled, rows), given.sum(dim=0) if ctx.biased else None


def _of_weight(gradient: Tensor, rows: Tensor) -> Tensor:
    """G^T X. (N, O), (N, I) -> (O, I). The wider of the two stands at the right: with a vocabulary of 8,000 that is 4 times faster."""
    if gradient.shape[1] > rows.shape[1]:
        return _product(rows.t(), gradient.t()).t().contiguous()
    return _product(gradient.t(), rows.t())


def _product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def _filled(rows: Tensor) -> Tensor:
    """(N, I) -> (N or a few more, I), the rest 0."""
    step = 1 << max(len(rows).bit_length() - SIZES.bit_length(), 0)
    return F.pad(rows, (0, 0, 0, missing)) if (missing := -len(rows) % step) else rows
