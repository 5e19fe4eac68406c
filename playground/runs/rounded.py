"""Parameters of many steps in a byte per number: the first step in half precision, each later one as its rounded difference from the step
before, with one scale per matrix row.

Errors don't accumulate: a difference is taken from the values as decoded, not from the exact parameters of the step before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

LARGEST = 127  # magnitude of a difference
HEADER_BYTES = 160  # of one tensor in a safetensors file: name, type, shape and offsets
Shapes = Mapping[str, tuple[int, ...]]
Difference = tuple[torch.Tensor, torch.Tensor]  # (*shape) int8 and (*shape[:-1], 1) bfloat16, its scale


class RoundedParameters(Mapping[str, torch.Tensor]):
    """The parameters of one step, decoded to float32 on access. `stored` maps names to float16 tensors, or to the Difference from `before`,
    the step before. `read` caches the decoded values while the next step needs them."""

    def __init__(self, stored: Mapping[str, torch.Tensor | Difference], before: RoundedParameters | None = None) -> None:
        self.stored, self.before = stored, before
        self.read: Mapping[str, torch.Tensor] | None = None

    def __getitem__(self, name: str) -> torch.Tensor:
        step, differences = self, []
        while (read := step.read) is None and step.before is not None:
            differences.append(step.stored[name])
            step = step.before
        values = step.stored[name].float() if read is None else read[name]
        for steps, scale in reversed(differences):
            values = values + steps * scale.float()
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)


def round_parameters(exact: Mapping[str, torch.Tensor], before: RoundedParameters | None) -> RoundedParameters:
    """Encodes `exact` as the step after `before`, or as a first one."""
    if before is None:
        rounded = RoundedParameters({name: values.half() for name, values in exact.items()})
    else:
        rounded = RoundedParameters({name: _encode_difference(values, before[name]) for name, values in exact.items()}, before)
    rounded.read = {name: rounded[name] for name in exact}
    if before is not None:
        before.read = None
    return rounded


def pack_rounded(steps: Sequence[RoundedParameters]) -> dict[str, torch.Tensor]:
    """Packs N consecutive steps: for each parameter "first." (*shape), "differences." (N - 1, *shape) and "scales." (N - 1, *shape[:-1],
    1)."""
    tensors = {}
    for name in steps[0] if steps else ():
        tensors[f"first.{name}"] = steps[0].stored[name]
        if len(steps) > 1:
            differences, scales = zip(*(rounded.stored[name] for rounded in steps[1:]), strict=True)
            tensors |= {f"differences.{name}": torch.stack(differences), f"scales.{name}": torch.stack(scales)}
    return tensors


def unpack_rounded(count: int, tensors: Mapping[str, torch.Tensor], names: Sequence[str]) -> list[RoundedParameters]:
    """Restores `count` steps from the tensors of `pack_rounded`."""
    steps = [RoundedParameters({name: tensors[f"first.{name}"].clone() for name in names})] if count else []
    for at in range(count - 1):
        stored = {name: (tensors[f"differences.{name}"][at].clone(), tensors[f"scales.{name}"][at].clone()) for name in names}
        steps.append(RoundedParameters(stored, steps[-1]))
    return steps


def rounded_shapes(count: int, parameters: Shapes) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Returns the type and shape of each tensor that holds `count` steps in a safetensors file."""
    expected: dict[str, tuple[str, tuple[int, ...]]] = {}
    for name, shape in parameters.items() if count else ():
        expected[f"first.{name}"] = ("F16", shape)
        if count > 1:
            expected[f"differences.{name}"] = ("I8", (count - 1, *shape))
            expected[f"scales.{name}"] = ("BF16", (count - 1, *shape[:-1], 1))
    return expected


def shapes_of(parameters: Mapping[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in parameters.items()}


def rounded_bytes(parameters: Shapes) -> tuple[int, int]:
    """Returns the bytes of the first step with all headers, and of each later one."""
    numbers = sum(torch.Size(shape).numel() for shape in parameters.values())
    rows = sum(torch.Size(shape[:-1]).numel() for shape in parameters.values())
    return 2 * numbers + 3 * HEADER_BYTES * len(parameters), numbers + 2 * rows


def _encode_difference(values: torch.Tensor, before: torch.Tensor) -> Difference:
    scale = ((values - before).abs().amax(dim=-1, keepdim=True) / LARGEST).bfloat16()
    steps = torch.where(scale > 0, (values - before) / scale, 0.0).round().clamp(-LARGEST, LARGEST).to(torch.int8)
    return steps, scale
