"""The guesses of a class: a bar for each guess, stacked by confidence, with a grey part for unknown confidence."""

from collections.abc import Sequence

import numpy as np

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

SHADES = (4, 6, 9)  # of the sequential scale, from the least confident: differing in lightness, for colour-blind readers; then grey
LINE, BAR, GAP = 17, 24, 14  # px of height: of a line of words, of a bar, between a bar and the next words
LEGEND, AXIS = 34, 44  # px above and below
NUMBER = 34  # px beside the longest bar
WIDE = 560  # px from which the legend is one line
CHECK = "✓"


def histogram(
    names: Sequence[str],
    counts: Sequence[Sequence[int]],
    degrees: Sequence[str],
    *,
    right: int | None = None,
    late: bool = False,
    scale: float = 1.0,
    style: Style = PLAIN,
) -> dict:
    """Draws `counts` (guesses, degrees) of each guess by degree of confidence. `degrees` are named from the least confident, with an
    optional last one for unknown confidence; a single one counts answers without confidence. The guess at `right` has a strong outline and
    a check mark. With `late` the last bar and the last degree are the guesses, among the others, made after training began: crossed. Bars
    and words are `scale` times as large. Raises ValueError if the shapes differ."""
    values = np.asarray(counts, dtype=np.int64).reshape(-1, len(degrees))
    if len(values) != len(names) or len(degrees) - late not in (1, len(SHADES), len(SHADES) + 1):
        raise ValueError(f"{len(names)} guesses and {len(degrees)} degrees but counts of shape {values.shape}")
    palette, graded, crossed = style.colors, len(degrees) > 1, len(degrees) - 1 if late else None
    shades = [theme.sequential(style.dark)[at] for at in (SHADES if graded else SHADES[1:2])] + [palette["muted"]] * 2
    titles = [f"{CHECK} {name}" if at == right else name for at, name in enumerate(names)]
    texts = [wrap(text, (style.width - 8 - NUMBER) / scale) for text in titles]
    line, bar, gap = (scale * size for size in (LINE, BAR, GAP))
    tops = np.cumsum([0, *(line * len(lines) + bar + gap for lines in texts)])  # px, the tops of the guesses' words
    middles = [float(top + line * len(lines) + bar / 2) for top, lines in zip(tops[:-1], texts, strict=True)]
    bars = [
        {
            "type": "bar", "orientation": "h", "name": tokens.escape(degree), "y": middles, "x": values[:, at].tolist(), "width": bar,
            "showlegend": at != crossed,
            "marker": {
                "color": shades[at], "pattern": {"shape": "x" if at == crossed else "/" if at == len(SHADES) else ""},
                "line": {
                    "color": [palette["text"] if i == right else palette["paper"] for i in range(len(names))],
                    "width": [2 if i == right else 1 for i in range(len(names))],
                },
            },
            "customdata": [tokens.escape(text) for text in titles],
            "hovertemplate": style.hover("hover_guess", guess="%{customdata}", sure=tokens.escape(degree), count="%{x}"),
        }
        for at, degree in enumerate(degrees)
    ]  # fmt: skip
    sums = values.sum(axis=1)
    notes = _annotate(texts, tops[:-1], sums, middles, right, scale * theme.SIZE)
    most = max(int(sums.max(initial=0)), 1)
    legend = LEGEND * (1 if style.width >= WIDE else len(degrees))
    height = legend + float(tops[-1]) + AXIS
    layout = style.layout(
        height, (8, NUMBER, legend, AXIS),
        barmode="stack", showlegend=graded, annotations=notes,
        legend={
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "traceorder": "normal",
            "itemclick": False, "itemdoubleclick": False, "font": {"size": theme.SIZE},
            "title": {"text": style.word("how_sure") + "  ", "font": style.font("muted")},
        },
        xaxis=style.axis(style.word("guesses"), range=[0, most], dtick=max(1, -(-most // 8)), showgrid=False),
        yaxis=style.axis("", range=[float(tops[-1]), 0], showgrid=False, showticklabels=False),
    )  # fmt: skip
    head = [style.word("guess"), *(degrees if graded else ()), style.word("sum")]
    parts = values.tolist() if graded else [[] for _ in names]
    table = {"head": head, "rows": [[text, *row, int(total)] for text, row, total in zip(titles, parts, sums, strict=True)]}
    return {"data": bars, "layout": layout | {"meta": {"table": table}}}


def _annotate(
    texts: Sequence[Sequence[str]], tops: np.ndarray, sums: np.ndarray, middles: Sequence[float], right: int | None, size: float
) -> list[dict]:
    """Annotates the words of each guess, above its bar, and its count at the end of the bar."""
    note = {"font": {"size": size}, "showarrow": False, "xanchor": "left"}
    above = note | {"x": 0, "xref": "paper", "yref": "y", "yanchor": "top", "align": "left", "borderpad": 0}
    words = ["<br>".join(map(tokens.escape, lines)) for lines in texts]
    words = [f"<b>{text}</b>" if at == right else text for at, text in enumerate(words)]
    counts = [
        note | {"text": str(total), "x": total, "xshift": 4, "y": middle, "yanchor": "middle"}
        for total, middle in zip(sums.tolist(), middles, strict=True)
    ]
    return [above | {"text": text, "y": float(top)} for text, top in zip(words, tops, strict=True)] + counts


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
