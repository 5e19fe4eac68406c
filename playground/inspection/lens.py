"""The logit lens: each decoder layer's prediction if it were the last one (nostalgebraist, 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from playground.config import BOS, EOS
from playground.inspection.fact import Fact
from playground.model.copies import shadow_copy
from playground.model.transformer import Transformer


@torch.inference_mode()
def probabilities(model: Transformer, source: Sequence[int], target: Sequence[int]) -> np.ndarray:
    """Reads probabilities off each decoder layer while `target` is forced: (N + 1, T, V) for N layers and T target tokens.

    Row 0 is read off the embeddings before the first layer, row N is the model's output. Every row goes through the last norm and the
    output projection, which were trained on the last layer only. `source` comes without its EOS; the model is in eval mode. Raises
    ValueError for an empty target.
    """
    if not target:
        raise ValueError("a lens needs at least one target token")
    copy, states = shadow_copy(model), []
    copy.decoder[0].register_forward_pre_hook(lambda layer, inputs: states.append(inputs[0]))
    for layer in copy.decoder:
        layer.register_forward_hook(lambda layer, inputs, output: states.append(output[0]))
    device = model.projection.weight.device
    copy(torch.tensor([(*source, EOS)], device=device), torch.tensor([(BOS, *target[:-1])], device=device))
    return torch.stack([_read_off(copy, state) for state in states]).cpu().numpy()


def _read_off(model: Transformer, state: Tensor) -> Tensor:
    """(1, T, D) -> (T, V)."""
    return model.project(model.decoder_norm(state))[0].softmax(dim=-1)


def decided(rows: np.ndarray) -> np.ndarray:
    """Returns for each step the first row of a lens (N + 1, T, V) from which on the likeliest token is the final one: (T,) in 0..N."""
    agrees = rows.argmax(axis=-1) == rows[-1].argmax(axis=-1)  # (N + 1, T)
    return len(rows) - np.cumprod(agrees[::-1], axis=0).sum(axis=0)


def facts(lens: np.ndarray) -> Fact:
    """States the layer of the final answer: "teacher_forcing.lens_layer" with the {layer} that decides most steps, {steps} of {all}, and
    {early}, those decided by the embeddings; "teacher_forcing.lens_embedding" when most are decided before the first layer."""
    rows = decided(lens)
    counts = np.bincount(rows, minlength=len(lens))
    most = int(counts.argmax())
    values = {"layer": most, "steps": int(counts[most]), "all": len(rows), "early": int(counts[0])}
    return Fact("teacher_forcing.lens_layer" if most else "teacher_forcing.lens_embedding", values)
