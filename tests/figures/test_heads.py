"""Curves of heads along the replay, and the products behind a score."""

import numpy as np

from playground.figures import heads, products, theme

STEPS = [0, 5, 20]
VALUES = np.array([[[0.1, 0.2, 0.9], [0.3, 0.3, 0.3]], [[0.0, 0.0, 0.1], [0.5, 0.6, 0.7]]])


def test_every_head_has_a_line_and_the_chosen_one_lies_on_top_in_its_colour():
    data = heads.over_training(STEPS, VALUES, chosen=(0, 1), kind="cross")["data"]
    assert [(trace["meta"]["layer"], trace["meta"]["head"]) for trace in data] == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert [trace["y"] for trace in data] == [VALUES[trace["meta"]["layer"], trace["meta"]["head"]].tolist() for trace in data]
    assert [trace["line"]["color"] == theme.hue("cross") for trace in data] == [False, False, False, True]
    assert [trace["showlegend"] for trace in data] == [True, False, False, True]  # "the other heads" once, and the chosen one


def test_products_add_up_to_the_score():
    query, key = np.array([1.0, -2.0, 0.5]), np.array([3.0, 1.0, -4.0])
    figure = products.bars(query, key)
    shown = [trace["y"] for trace in figure["data"]]
    assert shown == [[1.0, -2.0, 0.5], [3.0, 1.0, -4.0], [3.0, -2.0, -2.0]]
    assert sum(shown[2]) == query @ key
    assert [trace["x"] for trace in figure["data"]] == [[1, 2, 3]] * 3


def test_signed_values_are_centred_at_zero_and_query_and_key_share_a_scale():
    figure = products.bars(np.array([1.0, -2.0]), np.array([4.0, 0.1]))
    axes = [figure["layout"][name] for name in ("yaxis", "yaxis2", "yaxis3")]
    assert all(axis["range"][0] == -axis["range"][1] for axis in axes)
    assert axes[0]["range"] == axes[1]["range"]
    assert axes[0]["tickvals"] == [-2, 0, 2]
    for trace in figure["data"]:
        most = np.abs(axes[["y", "y2", "y3"].index(trace["yaxis"])]["range"][1]) / 1.12
        assert trace["marker"]["color"] == theme.signed_shades(np.array(trace["y"]) / most)
