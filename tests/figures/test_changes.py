"""Two probabilities on one line, and what is lost without a head."""


from playground.figures import changes

NAMES = ["a", "<b>", "c"]


def numbers(picture: dict) -> list[str]:
    return [note["text"] for note in picture["layout"]["annotations"]]


def test_before_and_after_stand_on_one_line_and_differ_in_shape():
    picture = changes.pairs(NAMES, [0.9, 0.0, 1.0], [0.2, 0.001, 0.999])
    between, before, after = picture["data"]
    assert (before["x"], after["x"]) == ([0.9, 0.0, 1.0], [0.2, 0.001, 0.999])
    assert before["y"] == after["y"] == [0, 1, 2]
    assert between["x"] == [0.9, 0.2, None, 0.0, 0.001, None, 1.0, 0.999, None]
    assert before["marker"]["symbol"] != after["marker"]["symbol"]
    assert (before["name"], after["name"]) == ("before", "after")
    assert numbers(picture) == ["0.90 → 0.20", "0.00 → &lt;0.01", "1.00 → &gt;0.99"]
    assert picture["layout"]["yaxis"]["range"] == [2.5, -0.5], "the first token on top"
    assert picture["layout"]["showlegend"]
    rows = [["a", "0.900", "0.200"], ["<b>", "0.000", "0.001"], ["c", "1.000", "0.999"]]
    assert picture["layout"]["meta"]["table"] == {"head": ["pair token", "before", "after"], "rows": rows}


def test_a_bar_for_each_head_with_its_number_and_one_scale_for_all():
    names, lost, fewer = ["1.1", "1.2", "2.1"], [41.0, 0.0, -2.5], [9.0, 0.0, -0.4]
    picture = changes.losses(names, lost, fewer, kind="cross", least=-2.5, most=60.0, off=[False, True])
    bar, diamonds = picture["data"]
    assert bar["x"] == [41.0, 0.0, -2.5]
    assert diamonds["x"] == [9.0, 0.0, -0.4]
    assert numbers(picture) == ["41", "0", "−2"]
    assert picture["layout"]["xaxis"]["range"] == [-2.5, 60.0]
    assert picture["layout"]["yaxis"]["ticktext"] == ["1.1", "<b>1.2</b>", "2.1"]
