"""Draws arrays that any model gives, with the page's own figures: `playground.plot.attention(weights, queries, keys)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from playground.config import Refusal
from playground.features.shared.figures import attention as figures
from playground.features.shared.figures.theme import Style
from playground.features.shared.view import figure_words
from playground.words import ENGLISH, say

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MAX_ACROSS = 8  # matrices in a line


def attention(
    weights: Any, rows: Sequence[str], columns: Sequence[str], *, kind: str = "cross", width: int = 720, dark: bool = False,
    language: str = ENGLISH,
) -> Figure:  # fmt: skip
    """Draws attention weights of any model, 0 to 1, whose rows are queries and columns are keys.

    weights        array or tensor: (Q, K) is one matrix; (H, Q, K) a small one for each head; (L, H, Q, K) a line for each layer
    rows, columns  the Q and K tokens
    kind           "encoder", "decoder" or "cross": hue of the frame
    width          of the figure, in pixels

    Raises ValueError with one sentence for another shape, Refusal without plotly.
    """
    try:
        from plotly.graph_objects import Figure
    except ImportError:
        raise Refusal("export.no_package", package="plotly") from None
    array = np.asarray(weights.detach().float().cpu() if hasattr(weights, "detach") else weights, dtype=float)
    if not 2 <= array.ndim <= 4 or array.shape[-2:] != (len(rows), len(columns)) or not array.size:
        shape = " × ".join(map(str, array.shape))
        raise ValueError(say(language, "plot.shape", shape=shape, rows=len(rows), columns=len(columns)))
    titles = {f"rows_{kind}": say(language, "plot.query"), f"columns_{kind}": say(language, "plot.key")}
    style = Style(figure_words(language) | titles, dark, width)
    if array.ndim == 2:
        figure = figures.matrix(array, rows, columns, kind=kind, style=style)
    else:
        heads = array.shape[-3]
        names = [say(language, "plot.head", head=head + 1) for head in range(heads)]
        if array.ndim == 4:
            names = [say(language, "plot.layer", layer=layer + 1, head=name) for layer in range(len(array)) for name in names]
        small = array.reshape(-1, *array.shape[-2:])
        figure = figures.small_matrices(small, rows, columns, names, min(heads, MAX_ACROSS), kind=kind, style=style)
    return Figure(figure["data"], figure["layout"] | {"width": width})
