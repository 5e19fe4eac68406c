"""The training data: the distribution of sentence lengths, and the coverage of its most frequent tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import theme

BINS = 40  # the most bars; on longer ranges a bar has several lengths


def lengths(source: Sequence[int], target: Sequence[int], *, dark: bool = False, labels: Mapping[str, str] | None = None) -> dict:
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
            "yaxis": axis, "name": theme.word(labels, name), "customdata": spans, "marker": {"color": theme.hue(kind, dark)},
            "hovertemplate": theme.phrase(labels, "hover_length", length="%{customdata}", count="<b>%{y:,}</b>") + "<extra></extra>",
        })  # fmt: skip
    span = [(shortest // step) * step - 0.9, (longest // step + 1) * step - 0.3]
    x = theme.axis(theme.word(labels, "length"), dark, anchor="y2", showgrid=False, nticks=8, range=span)
    rows = {
        key: theme.axis(theme.word(labels, name), dark, domain=domain, range=[0, most * 1.05], nticks=3)
        for key, name, domain in (("yaxis", "source", [0.54, 1]), ("yaxis2", "target", [0, 0.46]))
    }
    layout = theme.layout(260, {"l": 66, "r": 12, "t": 8, "b": 44}, dark, xaxis=x, **rows, hovermode="closest")
    return {"data": data, "layout": layout}


def coverage(source: Sequence[int], target: Sequence[int], *, dark: bool = False, labels: Mapping[str, str] | None = None) -> dict:
    """Draws the share of a text that its most frequent tokens cover, from either side's token counts, most frequent first."""
    data, most = [], 1
    for name, values, kind, dash in (("source", source, "encoder", "solid"), ("target", target, "decoder", "dash")):
        counts = np.asarray(values, dtype=np.float64)
        places = np.unique(np.geomspace(1, max(len(counts), 1), 60).round().astype(int))[: len(counts)]
        shares = counts.cumsum()[places - 1] / max(counts.sum(), 1.0) if len(counts) else counts
        most = max(most, len(counts))
        data.append({
            "type": "scatter", "mode": "lines", "x": places.tolist(), "y": theme.rounded(shares), "name": theme.word(labels, name),
            "line": {"color": theme.hue(kind, dark), "width": 2, "dash": dash},
            "hovertemplate": theme.phrase(labels, "hover_coverage", count="<b>%{x:,}</b>", share="%{y:.1%}") + "<extra></extra>",
        })  # fmt: skip
    x = theme.axis(theme.word(labels, "most_frequent"), dark, type="log", range=[0, float(np.log10(most)) + 0.02], dtick=1)
    y = theme.axis(theme.word(labels, "share_of_text"), dark, range=[0, 1.02], tickformat=".0%", nticks=5)
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    layout = theme.layout(
        260, {"l": 56, "r": 12, "t": 30, "b": 44}, dark, xaxis=x, yaxis=y, hovermode="closest", showlegend=True, legend=legend
    )
    return {"data": data, "layout": layout}
