"""Parameters of many steps in a byte per number: the first step in half precision, each later one as its rounded difference from the step
before, with one scale for each row of a matrix.

Errors don't add up: a difference is taken from what will be read back, not from the exact parameters of the step before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from playground.runs.replay import Parameters

LARGEST = 127  # of a difference
Shapes = Mapping[str, tuple[int, ...]]


def pack_rounded(kept: Mapping[int, Parameters]) -> dict[str, torch.Tensor]:
    """For each parameter "first." (*shape), "differences." (N - 1, *shape) and "scales." (N - 1, *shape[:-1], 1), for N kept steps."""
    tensors = {}
    for name in next(iter(kept.values()), ()):
        exact = [kept[step][name] for step in sorted(kept)]
        first = exact[0].half()
        so_far, differences, scales = first.float(), [], []
        for values in exact[1:]:
            scale = ((values - so_far).abs().amax(dim=-1, keepdim=True) / LARGEST).bfloat16()
            steps = torch.where(scale > 0, (values - so_far) / scale, 0.0).round().clamp(-LARGEST, LARGEST).to(torch.int8)
            so_far = _next(so_far, steps, scale)
            differences.append(steps)
            scales.append(scale)
        tensors[f"first.{name}"] = first
        if differences:
            tensors |= {f"differences.{name}": torch.stack(differences), f"scales.{name}": torch.stack(scales)}
    return tensors


def unpack_rounded(steps: Sequence[int], tensors: Mapping[str, torch.Tensor], names: Sequence[str]) -> dict[int, dict[str, torch.Tensor]]:
    """The parameters of these steps, which `pack_rounded` made the tensors of."""
    kept: dict[int, dict[str, torch.Tensor]] = {step: {} for step in steps}
    for name in names if steps else ():
        kept[steps[0]][name] = so_far = tensors[f"first.{name}"].float()
        for at, step in enumerate(steps[1:]):
            kept[step][name] = so_far = _next(so_far, tensors[f"differences.{name}"][at], tensors[f"scales.{name}"][at])
    return kept


def rounded_shapes(count: int, parameters: Shapes) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The tensors that hold `count` kept steps, as a safetensors file says them."""
    expected: dict[str, tuple[str, tuple[int, ...]]] = {}
    for name, shape in parameters.items() if count else ():
        expected[f"first.{name}"] = ("F16", shape)
        if count > 1:
            expected[f"differences.{name}"] = ("I8", (count - 1, *shape))
            expected[f"scales.{name}"] = ("BF16", (count - 1, *shape[:-1], 1))
    return expected


def _next(so_far: torch.Tensor, differences: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return so_far + differences * scale.float()
