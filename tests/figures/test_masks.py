"""The picture of a mask."""

import numpy as np

from playground.figures import masks

TOKENS = ["<bos>", "a", "<pad>"]
CAUSAL = np.tril(np.ones((3, 3), dtype=bool))
PADDING = np.array([[True, True, False]])


def hatched(figure):
    """{name: cells} of the visible hatching."""
    found = {}
    for trace in figure["data"]:
        if trace["type"] == "bar" and trace["visible"]:
            runs = zip(trace["y"], trace["base"], trace["x"], strict=True)
            found[trace["name"]] = {(row, int(base + 0.5) + i) for row, base, length in runs for i in range(length)}
    return found


def test_a_padding_mask_of_one_row_holds_for_every_query():
    figure = masks.grid(PADDING, ["x"] * 5, TOKENS)
    assert figure["data"][0]["z"] == [[1, 1, None]] * 5
    assert figure["layout"]["yaxis"]["ticktext"] == ["x"] * 5


def test_each_cause_has_hatching_of_its_own_and_both_together_are_crossed():
    figure = masks.grid(PADDING & CAUSAL, TOKENS, TOKENS, kind="decoder", causes={"padding": PADDING, "future": CAUSAL})
    assert hatched(figure) == {"padding": {(2, 2)}, "future": {(0, 1)}, "both": {(0, 2), (1, 2)}}
    shapes = {trace["name"]: trace["marker"]["pattern"]["shape"] for trace in figure["data"] if trace["type"] == "bar"}
    assert shapes == {"padding": "/", "future": "\\", "both": "x"}


def test_three_causes_and_cells_with_more_than_one():
    """Two pairs in a row of three cells, the last of which is padding."""
    pair = np.array([[True, False, False], [False, True, False], [False, False, True]])
    causes = {"padding": PADDING, "segment": pair, "future": CAUSAL}
    figure = masks.grid(PADDING & pair & CAUSAL, TOKENS, TOKENS, kind="decoder", causes=causes)
    assert hatched(figure) == {"padding": {(2, 2)}, "segment": {(1, 0), (2, 0), (2, 1)}, "several": {(0, 1), (0, 2), (1, 2)}}


def test_the_mouse_is_told_why_a_cell_is_masked():
    said = {"hover_padding": "padding", "hover_future": "future", "hover_allowed": "allowed"}
    figure = masks.grid(PADDING & CAUSAL, TOKENS, TOKENS, kind="decoder", causes={"padding": PADDING, "future": CAUSAL}, labels=said)
    answers = np.full((3, 3), "", dtype=object)
    for trace in figure["data"]:
        for q, row in enumerate(trace.get("z", [])):
            for k, value in enumerate(row):
                if value is not None:
                    assert answers[q, k] == ""  # one answer a cell
                    answers[q, k] = trace["hovertemplate"].removesuffix("<extra></extra>")
    assert answers.tolist() == [["allowed", "future", "padding"], ["allowed", "allowed", "padding"], ["allowed", "allowed", "padding"]]
