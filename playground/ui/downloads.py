"""Downloads that the page can't make by itself: all weights of one kind of attention, as numpy arrays."""

from __future__ import annotations

import io

import numpy as np

from playground.ui.panels.attention import name_axes
from playground.ui.view import View


def attention_file(view: View) -> tuple[str, bytes]:
    """Returns the name and bytes of an .npz: `weights` (layers, heads, queries, keys) in float32, the names of their `queries` and `keys`,
    and their run, step, sentence and part. Nothing is pickled. Raises Refusal like a panel."""
    part, step = view.part, view.look.step
    queries, keys = (np.array([str(name) for name in names]) for names in name_axes(view, part))
    about = {"run": view.run.name, "step": step, "sentence": view.text, "part": part}
    file = io.BytesIO()
    np.savez(file, weights=view.weights.astype(np.float32), queries=queries, keys=keys, **about)
    return f"{view.run.name}-step{step}-attention-{part}.npz", file.getvalue()
