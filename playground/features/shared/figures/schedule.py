"""The learning rate over the steps of a planned training: one line, as an SVG beside its controls."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

WIDTH, HEIGHT, EDGE = 280, 64, 2  # units of the SVG; the page's style sets its width


def drawing(rates: Mapping[int, float], label: str, ends: tuple[str, str]) -> str:
    """Draws step -> learning rate, by step, as an SVG named `label`, with the texts `ends` below its two ends. The lower edge is 0, the
    upper the highest rate."""
    first, last, top = min(rates), max(rates), max(rates.values())
    across, down = (WIDTH - 2 * EDGE) / max(last - first, 1), (HEIGHT - 2 * EDGE) / top
    points = " ".join(f"{EDGE + (step - first) * across:.1f},{HEIGHT - EDGE - rate * down:.1f}" for step, rate in rates.items())
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}"><path d="M0 {HEIGHT - 0.5}H{WIDTH}"/>'
        f'<polyline points="{points}"/></svg><div><span>{escape(ends[0])}</span><span>{escape(ends[1])}</span></div>'
    )
