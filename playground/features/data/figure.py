"""The training data: the distribution of sentence lengths, and the coverage of its most frequent tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.features.shared.figures import theme
from playground.features.shared.figures.theme import PLAIN, Style

BINS = 40  # the most bars; on longer ranges a bar has several lengths


def lengths(source: Sequence[int], target: Sequence[int], *, style: Style = PLAIN) -> dict:
    """Draws histograms of sentence lengths in tokens: source above, target below, on one axis."""
    sides = {"source": np.asarray(source, dtype=np.int64), "target": np.asarray(target, dtype=np.int64)}
    longest = max(int(values.max(initial=0)) for values in sides.values())
    shortest = min(int(values.min()) if values.size else 0 for values in sides.values())
    step = max(1, -(-(longest + 1) // BINS))
    most = 1
    data = []
    for (name, values), kind, axis in zip(sides.items(), ("encoder", "decoder"), ("y", "y2"), strict=True):
        counts = np.bincount(values // step, minlength=longest // step + 1)
        most = max(most, int(counts.max(initial=0)))
        spans = [f"{i * step}" if step == 1 else f"{i * step}–{i * step + step - 1}" for i in range(len(counts))]
        data.append({
            "type": "bar", "x": ((np.arange(len(counts)) + 0.5) * step - 0.5).tolist(), "y": counts.tolist(), "width": step * 0.86,
            "yaxis": axis, "name": style.word(name), "customdata": spans, "marker": {"color": style.hue(kind)},
            "hovertemplate": style.hover("hover_length", length="%{customdata}", count="<b>%{y:,}</b>"),
        })  # fmt: skip
    span = [(shortest // step) * step - 0.9, (longest // step + 1) * step - 0.3]
    x = style.axis(style.word("length"), anchor="y2", showgrid=False, nticks=8, range=span)
    rows = {
        key: style.axis(style.word(name), domain=domain, range=[0, most * 1.05], nticks=3)
        for key, name, domain in (("yaxis", "source", [0.54, 1]), ("yaxis2", "target", [0, 0.46]))
    }
    layout = style.layout(260, (66, 12, 8, 44), xaxis=x, **rows)
    return {"data": data, "layout": layout}


def coverage(source: Sequence[int], target: Sequence[int], *, style: Style = PLAIN) -> dict:
    """Draws the share of a text that its most frequent tokens cover, from either side's token counts, most frequent first."""
    data, most = [], 1
    for name, values, kind, dash in (("source", source, "encoder", "solid"), ("target", target, "decoder", "dash")):
        counts = np.asarray(values, dtype=np.float64)
        places = np.unique(np.geomspace(1, max(len(counts), 1), 60).round().astype(int))[: len(counts)]
        shares = counts.cumsum()[places - 1] / max(counts.sum(), 1.0) if len(counts) else counts
        most = max(most, len(counts))
        data.append({
            "type": "scatter", "mode": "lines", "x": places.tolist(), "y": theme.rounded(shares), "name": style.word(name),
            "line": {"color": style.hue(kind), "width": 2, "dash": dash},
            "hovertemplate": style.hover("hover_coverage", count="<b>%{x:,}</b>", share="%{y:.1%}"),
        })  # fmt: skip
    x = style.axis(style.word("most_frequent"), type="log", range=[0, float(np.log10(most)) + 0.02], dtick=1)
    y = style.axis(style.word("share_of_text"), range=[0, 1.02], tickformat=".0%", nticks=5)
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    layout = style.layout(260, (56, 12, 30, 44), xaxis=x, yaxis=y, showlegend=True, legend=legend)
    return {"data": data, "layout": layout}
