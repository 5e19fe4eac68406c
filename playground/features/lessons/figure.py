"""The guesses of a class: a bar for each guess, stacked by confidence, with a grey part for unknown confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import theme, tokens

SHADES = (4, 6, 9)  # of the sequential scale, from the least confident: differing in lightness, for colour-blind readers; then grey
LINE, BAR, GAP = 17, 24, 14  # px of height: of a line of words, of a bar, between a bar and the next words
LEGEND, AXIS = 34, 44  # px above and below
NUMBER = 34  # px beside the longest bar
CHECK = "✓"


def histogram(
    names: Sequence[str],
    counts: Sequence[Sequence[int]],
    degrees: Sequence[str],
    *,
    right: int | None = None,
    scale: float = 1.0,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws `counts` (guesses, degrees) of each guess by degree of confidence. `degrees` are named from the least confident, with an
    optional last one for unknown confidence; a single one counts answers without confidence. The guess at `right` has a strong outline and
    a check mark. Bars and words are `scale` times as large. Raises ValueError if the shapes differ."""
    values = np.asarray(counts, dtype=np.int64).reshape(-1, len(degrees))
    if len(values) != len(names) or len(degrees) not in (1, len(SHADES), len(SHADES) + 1):
        raise ValueError(f"{len(names)} guesses and {len(degrees)} degrees but counts of shape {values.shape}")
    palette = theme.colors(dark)
    graded = len(degrees) > 1
    shades = [*(theme.sequential(dark)[at] for at in SHADES), palette["muted"]] if graded else [theme.sequential(dark)[SHADES[1]]]
    titles = [f"{CHECK} {name}" if at == right else name for at, name in enumerate(names)]
    texts = [wrap(text, (width - 8 - NUMBER) / scale) for text in titles]
    line, bar, gap = (scale * size for size in (LINE, BAR, GAP))
    tops = np.cumsum([0, *(line * len(lines) + bar + gap for lines in texts)])  # px, the tops of the guesses' words
    middles = [float(top + line * len(lines) + bar / 2) for top, lines in zip(tops[:-1], texts, strict=True)]
    bars = [
        {
            "type": "bar", "orientation": "h", "name": tokens.escape(degree), "y": middles, "x": values[:, at].tolist(), "width": bar,
            "marker": {
                "color": shades[at], "pattern": {"shape": "/" if at == len(SHADES) else ""},
                "line": {
                    "color": [palette["text"] if i == right else palette["paper"] for i in range(len(names))],
                    "width": [2 if i == right else 1 for i in range(len(names))],
                },
            },
            "customdata": [tokens.escape(text) for text in titles],
            "hovertemplate": theme.phrase(labels, "hover_guess", guess="%{customdata}", sure=tokens.escape(degree), count="%{x}")
            + "<extra></extra>",
        }
        for at, degree in enumerate(degrees)
    ]  # fmt: skip
    sums = values.sum(axis=1)
    size = scale * theme.SIZE
    notes = [_annotate_words(lines, float(top), size, at == right) for at, (lines, top) in enumerate(zip(texts, tops[:-1], strict=True))]
    notes += [_annotate_count(int(total), middle, size) for total, middle in zip(sums, middles, strict=True)]
    most = max(int(sums.max(initial=0)), 1)
    height = LEGEND + float(tops[-1]) + AXIS
    layout = theme.layout(
        height, {"l": 8, "r": NUMBER, "t": LEGEND, "b": AXIS}, dark,
        barmode="stack", hovermode="closest", showlegend=graded, annotations=notes,
        legend={
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "traceorder": "normal",
            "itemclick": False, "itemdoubleclick": False, "font": {"size": theme.SIZE},
            "title": {"text": theme.word(labels, "how_sure") + "  ", "font": {"size": theme.SIZE, "color": palette["muted"]}},
        },
        xaxis=theme.axis(theme.word(labels, "guesses"), dark, range=[0, most], dtick=max(1, -(-most // 8)), showgrid=False),
        yaxis=theme.axis("", dark, range=[float(tops[-1]), 0], showgrid=False, showticklabels=False),
    )  # fmt: skip
    head = [theme.word(labels, "guess"), *(degrees if graded else ()), theme.word(labels, "sum")]
    parts = values.tolist() if graded else [[] for _ in names]
    table = {"head": head, "rows": [[text, *row, int(total)] for text, row, total in zip(titles, parts, sums, strict=True)]}
    return {"data": bars, "layout": layout | {"meta": {"table": table}}}


def wrap(text: str, width: float) -> list[str]:
    """Wraps `text` to lines of about `width` pixels, at spaces and between Chinese characters."""
    lines, line = [], ""
    for piece in _split_words(text):
        if line.strip() and tokens.extent(line + piece.rstrip(), len(line + piece)) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


def _split_words(text: str) -> list[str]:
    """Splits a text into words with the following space; a Chinese character is a word, with the following punctuation."""
    pieces = [""]
    for character in text:
        wide = tokens.extent(character) == tokens.WIDE
        if (wide and character.isalnum()) or pieces[-1].endswith(" "):
            pieces.append("")
        pieces[-1] += character
    return pieces


def _annotate_words(lines: Sequence[str], top: float, size: float, right: bool) -> dict:
    """Annotates the words of a guess, above its bar."""
    text = "<br>".join(map(tokens.escape, lines))
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": top, "yref": "y", "yanchor": "top", "align": "left", "borderpad": 0}
    return {"text": f"<b>{text}</b>" if right else text, "font": {"size": size}, "showarrow": False, **place}


def _annotate_count(total: int, middle: float, size: float) -> dict:
    """Annotates the count of a guess at the end of its bar."""
    place = {"x": total, "xanchor": "left", "xshift": 4, "y": middle, "yanchor": "middle"}
    return {"text": str(total), "font": {"size": size}, "showarrow": False, **place}
