"""Matrix products: the linear map of a training step, by oneDNN where torch has it.

Torch itself sends float32 products to MKL, which is slower than oneDNN on AMD processors: 1,040 x 256 times 256 x 1,024 took 4.8 ms on one
core of an EPYC, and 2.2 ms by oneDNN. The sums are the same but for the order of their terms.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from playground.model.size import LARGE

# oneDNN compiles code per shape, in a third of a millisecond and up to 0.6 MB, in an LRU cache (see playground/__init__). Batches have ever
# new shapes, so the rows of a product are padded to one of SIZES numbers between one power of two and the next.
SIZES = 16
FEW = 128  # rows: with fewer a product is too small to gain


def fast_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Computes x W^T + b, as F.linear. x (..., I), weight (O, I), bias (O,) -> (..., O)."""
    small = weight.numel() < LARGE or x.shape[:-1].numel() < FEW
    if small or x.dtype != torch.float32 or torch.is_autocast_enabled(x.device.type):
        return F.linear(x, weight, bias)
    return _Linear.apply(x, weight, bias)


def has_onednn() -> bool:
    """Returns whether torch was built with oneDNN and this product."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def product_like(x: Tensor) -> Callable[..., Tensor]:
    """Returns the faster function for x W^T + b on tensors of this dtype and device, if their shapes are few; it has no gradient."""
    return _product if x.dtype == torch.float32 and x.device.type == "cpu" and has_onednn() else F.linear


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)  # x as it is, shared with other users: padded, each product would hold its own copy
        ctx.biased = bias is not None
        return _product(_pad_rows(x.flatten(0, -2)), weight, bias)[: x.shape[:-1].numel()].view(*x.shape[:-1], len(weight))

    @staticmethod
    @once_differentiable
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        grads = gradient.flatten(0, -2)
        padded, rows = _pad_rows(grads), _pad_rows(x.flatten(0, -2))
        to_x = _product(padded, weight.t())[: len(grads)].view(*gradient.shape[:-1], -1) if ctx.needs_input_grad[0] else None
        return to_x, _weight_gradient(padded, rows), grads.sum(dim=0) if ctx.biased else None


def _weight_gradient(gradient: Tensor, rows: Tensor) -> Tensor:
    """Computes G^T X. (N, O), (N, I) -> (O, I). The wider one stands at the right: with a vocabulary of 8,000 that is 4 times faster."""
    if gradient.shape[1] > rows.shape[1]:
        return _product(rows.t(), gradient.t()).t().contiguous()
    return _product(gradient.t(), rows.t())


def _product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def _pad_rows(rows: Tensor) -> Tensor:
    """Pads with zero rows to one of few row counts. (N, I) -> (N or more, I)."""
    step = 1 << max(len(rows).bit_length() - SIZES.bit_length(), 0)
    return F.pad(rows, (0, 0, 0, missing)) if (missing := -len(rows) % step) else rows
