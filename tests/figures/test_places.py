"""Bars, planes, clocks, strips and trees: what stands where is what was given, all of it is there, and nothing lies over anything else."""

from html import unescape

import numpy as np
import pytest

from playground.features.embeddings import figure as vectors
from playground.features.evaluation import figure as lengths
from playground.features.interventions import figure as changes
from playground.features.lessons import figure as guesses
from playground.features.positions.panel import ROOM, clocks
from playground.features.shared.figures import graph
from playground.features.shared.figures.theme import Style
from playground.features.teacher_forcing import figure as votes_figure
from playground.features.translate import figure as tree
from playground.inspection.vectors import frequencies, sinusoids

XY = np.array([[0.0, 0.0], [1.0, 1.0], [-2.0, 1.5], [0.01, 0.0]])
NONE = np.nan


def plane(**more):
    return vectors.plane(XY, ["a", "<b>", "c d", "e"], limit=2.0, shares=(0.5, 0.25), **more)


def test_points_stand_where_they_are_with_their_names_on_one_scale_and_states_are_the_stronger_the_later():
    figure = plane(ids=[4, 5, 6, 7], chosen=2, near=[0, 1], style=Style({"axis_1": "{percent} one", "axis_2": "{percent} two"}))
    (line, points, near, chosen), layout = figure["data"], figure["layout"]
    assert list(zip(points["x"], points["y"], strict=True)) == [tuple(point) for point in XY.tolist()]
    assert (points["hovertext"], points["customdata"]) == (["a", "&lt;b&gt;", "c␣d", "e"], [4, 5, 6, 7])
    assert points["meta"] == {"field": "token"}  # a click chooses it
    assert (near["x"], chosen["x"], chosen["y"], line["visible"]) == ([0, 1], [-2], [1.5], False)
    assert layout["xaxis"]["range"] == layout["yaxis"]["range"] == [-2.16, 2.16]  # of the limit: a replay moves its points only
    assert layout["yaxis"]["scaleanchor"] == "x"
    assert [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")] == ["50 one", "25 two"]
    drawn = plane(places=[1, 2, 1, 2], own=2, by_place=True)["data"]
    assert (drawn[0]["visible"], drawn[0]["x"]) == (True, [-2, 0.01])
    assert drawn[1]["hovertext"] == ["a (1)", "&lt;b&gt; (2)", "c␣d (1)", "e (2)"]
    faint, strong, *own = drawn[1]["marker"]["color"]
    assert faint != strong
    assert len({*own}) == 1
    assert plane(by_place=True)["data"][1]["hovertext"] == points["hovertext"]  # without places
    assert set(plane(places=[1, 1, 1, 1])["data"][1]["marker"]["color"])  # all first places: no division by their range


@pytest.mark.parametrize("shift", [1, 3, 17])
def test_hands_are_sin_and_cos_of_the_table_and_the_arc_ends_at_the_second(shift):
    pairs, table = [0, 2, 7], sinusoids(60, 16)
    figure = clocks(table, [2, 20], pairs, shift, [shift * frequencies(16)[pair] for pair in pairs])
    hands = [trace for trace in figure["data"] if "meta" in trace]
    assert [hand["meta"]["position"] for hand in hands] == [2, 2 + shift] * 3 + [20, 20 + shift] * 3
    for at, hand in enumerate(hands):
        column, row, position = at // 2 % 3, at // 6, hand["meta"]["position"]
        centre, end = np.array([column * ROOM, -row * ROOM]), 2 * pairs[column]
        assert np.array([hand["x"][0], hand["y"][0]]) == pytest.approx(centre)
        assert np.array([hand["x"][1], hand["y"][1]]) - centre == pytest.approx(table[position, end : end + 2], abs=1e-3)
    for place in range(0, len(figure["data"]), 4):
        arc, hand = ({axis: np.array(figure["data"][place + at][axis]) for axis in "xy"} for at in (1, 3))
        to_arc, to_hand = (np.array([line[axis][-1] - hand[axis][0] for axis in "xy"]) for line in (arc, hand))
        assert to_arc / np.linalg.norm(to_arc) == pytest.approx(to_hand, abs=5e-3)


def corners(shape):
    return {tuple(map(float, corner.split(","))) for corner in shape["path"].strip("MZ").split("L")}


def test_every_run_has_its_strip_every_place_its_cell_and_the_frames_hold_the_lengths_of_training():
    shares, counts = [np.array([1.0, NONE, 0.5]), np.array([0.25, 0.0, 1.0, 0.75])], [np.array([4, 0, 2]), np.array([1, 1, 1, 4])]
    drawn = lengths.by_length(shares, ["one", "two"], [(1, 2), (2, 3)], counts)
    (cells, gaps), layout = drawn["data"], drawn["layout"]
    assert (gaps["y"], gaps["base"], gaps["x"], gaps["marker"]["pattern"]["shape"]) == ([0, 0], [1.5, 3.5], [1, 1], "/"), "not measured"
    assert (cells["x"], cells["z"]) == ([1, 2, 3, 4], [[1, None, 0.5, None], [0.25, 0, 1, 0.75]])
    assert (cells["customdata"], cells["zmin"], cells["zmax"]) == ([[4, 0, 2, 0], [1, 1, 1, 4]], 0, 1)
    assert [note["text"] for note in layout["annotations"]] == layout["meta"]["rows"] == ["one", "two"]
    frames = [({x for x, _ in corners(shape)}, {round(y) for _, y in corners(shape)}) for shape in layout["shapes"]]
    assert frames == [({0.5, 2.5}, {0}), ({1.5, 3.5}, {1})]
    shares = np.array([[1.0, 0.5, 0.25], [0.75, 1.0, 0.0], [NONE, 0.5, 1.0], [NONE, NONE, 1.0]])
    drawn = lengths.by_place(shares, (2, 3))
    cells = drawn["data"][0]
    assert (cells["x"], cells["y"]) == ([1, 2, 3], [1, 2, 3, 4])
    assert cells["z"] == [[1, 0.5, 0.25], [0.75, 1, 0], [None, 0.5, 1], [None, None, 1]]
    assert [drawn["data"][1][name] for name in ("y", "base", "x")] == [[3, 4], [0.5, 0.5], [1, 2]]
    steps = {(1.5, 0.5), (3.5, 0.5), (3.5, 4.5), (2.5, 4.5), (2.5, 3.5), (1.5, 3.5)}  # from the first token down to each length's <eos>
    assert corners(drawn["layout"]["shapes"][0]) == steps
    longer = lengths.by_place(shares, (1, 9))["layout"]["shapes"][0]
    assert max(x for x, _ in corners(longer)) == 3.5  # training had longer ones: the frame ends with the map


# <bos> -> a, b (kept), c (pruned); a -> d (kept, best), e (pruned); b -> f (pruned); d -> <eos> (finished)
TOKENS = ["<bos>", "a", "b", "c", "d", "e", "f", "<eos>"]
PARENTS = [-1, 0, 0, 0, 1, 1, 2, 4]
FATES = ["kept", "kept", "kept", "pruned", "kept", "pruned", "pruned", "finished"]
NUMBERS = np.array([[1, 0, 0], [0.6, -0.5, -0.5], [0.3, -1.2, -1.2], [0.1, -2.3, -2.3], [0.9, -0.6, -0.55], [0.1, -2.8, -2.6],
                    [0.2, -2.9, -2.7], [1, -0.6, -0.5]])  # fmt: skip
NODES = slice(4, 9)  # the traces that hold nodes


def places(drawn):
    """{the label without its score: (lane, step)} of every node."""
    return {
        text.split("<br>")[0]: (x, y)
        for trace in drawn["data"][NODES] for text, x, y in zip(trace["text"], trace["x"], trace["y"], strict=True)
    }  # fmt: skip


def large(width=4, steps=12):
    """A beam of so many, each of which has as many children as it is wide."""
    names, parents, fates, numbers, alive = ["<bos>"], [-1], ["kept"], [(1, 0, 0)], [0]
    rng = np.random.default_rng(1)
    for step in range(1, steps + 1):
        born = range(len(names), len(names) + len(alive) * width)
        for parent in alive:
            parents += [parent] * width
        names += [f"t{node}" for node in born]
        numbers += [(0.5, -step - extra, -step - extra) for extra in rng.random(len(born))]
        alive = sorted(born, key=lambda node: -numbers[node][2])[:width]
        fates += ["kept" if node in alive else "pruned" for node in born]
    best, at = [], alive[0]
    while at:
        best, at = [at, *best], parents[at]
    return names, parents, np.array(numbers), fates, best


def test_every_hypothesis_stands_at_its_step_with_its_score_and_fates_are_told_by_shape_and_line():
    drawn = tree.tree(TOKENS, PARENTS, NUMBERS, FATES, best=[1, 4, 7], reference=[2, 6])
    assert {name: step for name, (_, step) in places(drawn).items()} == {
        "&lt;bos&gt;": 0, "a": 1, "b": 1, "c": 1, "d": 2, "e": 2, "f": 2, "&lt;eos&gt;": 3
    }  # fmt: skip
    texts = [text for trace in drawn["data"][NODES] for text in trace["text"]]
    assert any(text.startswith("b<br>") and "−1.20<" in text for text in texts)
    assert "&lt;bos&gt;" in texts  # nothing has been scored yet
    assert drawn["layout"]["meta"]["drawn"] == drawn["layout"]["meta"]["considered"] == 7
    shapes = {trace["name"]: set(trace["marker"]["symbol"]) for trace in drawn["data"][4:8]}
    assert (shapes["tree pruned"], shapes["tree kept"]) == ({"circle-open"}, {"circle"})
    assert drawn["data"][8]["marker"]["symbol"] == ["circle", "circle", "square"]  # the best: kept, kept, finished
    lost = drawn["data"][9]
    assert [*zip(lost["x"], lost["y"], strict=True)] == [places(drawn)["f"]]


@pytest.mark.parametrize(("beam", "width"), [(1, 300), (3, 1100), (10, 300)])
def test_all_that_was_kept_is_drawn_and_no_two_in_one_place(beam, width):
    names, parents, numbers, fates, best = large(beam)
    drawn = tree.tree(names, parents, numbers, fates, best=best, style=Style(width=width))
    where = places(drawn)
    assert len(set(where.values())) == len(where)
    assert {name for name, fate in zip(names[1:], fates[1:], strict=True) if fate == "kept"} <= set(where)
    for step in range(1, 13):
        row = sorted((lane, names[parents[names.index(name)]]) for name, (lane, at) in where.items() if at == step)
        assert all(parent == "<bos>" or where[parent][1] == step - 1 for _, parent in row)
        above = [where.get(parent, (0,))[0] for _, parent in row]
        assert above == sorted(above), "lines do not cross"
        pruned = [node for node, fate in enumerate(fates) if fate == "pruned" and where.get(names[node], (0, 0))[1] == step]
        assert len(pruned) <= tree.PRUNED
    room = drawn["layout"].get("width", width) - tree.AXIS - 8
    domain = drawn["layout"]["xaxis"]["domain"][1]
    assert domain * room / (1 + max(lane for lane, _ in where.values())) >= 50  # px for each: a score finds room


NAMES = ["a", "<b>", "c"]
PARTS, VOTES = ["embedding", "self 1.1", "cross 1.1", "FFN 1"], [0.5, -1.25, 2.0, 0.0]
KINDS, HEADS = ["others", "decoder", "cross", "feed_forward"], ["", "d1.1", "c1.1", ""]
DEGREES, COUNTS = ("50 %", "75 %", "95 %"), [[1, 0, 3], [0, 0, 0], [2, 2, 0]]


def notes(picture):
    return [note["text"] for note in picture["layout"]["annotations"]]


def test_the_likeliest_tokens_stand_in_order_and_no_number_claims_certainty_where_there_is_none():
    style = Style({"taken": "taken"})
    figure = graph.top_tokens(["dog", "cat", "<eos>"], [0.5, 0.3, 0.2], chosen=1, style=style)
    trace, layout = figure["data"][0], figure["layout"]
    assert (trace["x"], trace["text"]) == ([0.5, 0.3, 0.2], ["0.50", "0.30 · taken", "0.20"])
    assert (layout["xaxis"]["range"], layout["yaxis"]["range"]) == ([0, 1], [2.5, -0.5])  # the first on top
    assert layout["yaxis"]["ticktext"] == ["dog", "cat", "&lt;eos&gt;"]
    figure = graph.frequencies(["a", "b", "c", "d"], [5, 9, 5, 1], most=3, kind="decoder")
    assert (figure["data"][0]["x"], figure["layout"]["xaxis"]["range"]) == ([9, 5, 5], [0, 9])
    assert figure["layout"]["meta"]["tokens"] == ["b", "a", "c"]  # ties as they came
    assert graph.lines([0], {"w" * 30: [0], "b": [0]}, style=Style(width=300))["layout"]["legend"]["x"] < 0, "a long name has the page"
    assert graph.frequencies([], [])["data"][0]["x"] == graph.top_tokens([], [])["data"][0]["x"] == []
    for value, text in ((0.0, "0.00"), (0.001, "<0.01"), (0.0049, "<0.01"), (0.005, "0.01"), (0.994, "0.99"), (0.9999, ">0.99")):
        assert unescape(graph.top_tokens(["a"], [value])["data"][0]["text"][0]) == text


def test_before_and_after_stand_on_one_line_each_vote_is_one_bar_and_only_heads_can_be_switched_off():
    picture = changes.pairs(NAMES, [0.9, 0.0, 1.0], [0.2, 0.001, 0.999], chosen=1)
    between, before, after = picture["data"]
    assert (before["x"], after["x"]) == ([0.9, 0.0, 1.0], [0.2, 0.001, 0.999])
    assert before["y"] == after["y"] == [0, 1, 2]
    assert between["x"] == [0.9, 0.2, None, 0.0, 0.001, None, 1.0, 0.999, None]
    assert before["marker"]["symbol"] != after["marker"]["symbol"]
    assert notes(picture) == ["0.90 → 0.20", "0.00 → &lt;0.01", "1.00 → &gt;0.99"]
    rows = [["a", "0.900", "0.200"], ["<b>", "0.000", "0.001"], ["c", "1.000", "0.999"]]
    assert picture["layout"]["meta"]["table"]["rows"] == rows
    frame = picture["layout"]["shapes"][0]
    assert (frame["visible"], frame["y0"], frame["y1"]) == (True, 0.5, 1.5)
    assert not any(changes.pairs(NAMES, [0.1] * 3, [0.2] * 3, chosen=at)["layout"]["shapes"][0]["visible"] for at in (None, 3, -1))
    picture = votes_figure.votes(PARTS, VOTES, KINDS, HEADS, tokens_of=("a", "<b>"))
    rows = {row: value for trace in picture["data"] for row, value in zip(trace["y"], trace["x"], strict=True)}
    assert [rows[row] for row in range(4)] == VOTES
    assert picture["layout"]["yaxis"]["ticktext"] == PARTS
    clicks = {trace["y"][0]: (trace["meta"].get("field"), trace["customdata"]) for trace in picture["data"]}
    assert clicks == {0: (None, [""]), 1: ("off", ["d1.1"]), 2: ("off", ["c1.1"]), 3: (None, [""])}
    picture = votes_figure.path(["embedding", "FFN 1"], np.array([[1.0, 0.5], [3.0, -1.0]]), tokens_of=("a", "b"))
    arrows = [note for note in picture["layout"]["annotations"] if note["showarrow"]]
    assert [(note["ax"], note["ay"], note["x"], note["y"]) for note in arrows] == [(0, 0, 1, 0.5), (1, 0.5, 3, -1)]


def test_each_guess_has_a_bar_in_parts_its_sum_beside_it_and_none_of_it_is_lost():
    figure = guesses.histogram(["yes", "no", "maybe"], COUNTS, DEGREES)
    assert [(trace["name"], trace["x"]) for trace in figure["data"]] == [("50 %", [1, 0, 2]), ("75 %", [0, 0, 2]), ("95 %", [3, 0, 0])]
    assert (notes(figure), "✓" in str(figure)) == (["yes", "no", "maybe", "4", "0", "4"], False)
    figure = guesses.histogram(["yes", "no"], COUNTS[:2], DEGREES, right=1)
    assert notes(figure)[:2] == ["yes", "<b>✓ no</b>"]  # by more than a colour
    figure = guesses.histogram(["a", "b"], [[2], [5]], [""], right=1)
    assert ([trace["x"] for trace in figure["data"]], figure["layout"]["showlegend"]) == ([[2, 5]], False)
    assert figure["layout"]["meta"]["table"]["rows"] == [["a", 2], ["✓ b", 5]]
    crossed = guesses.histogram(["a", "b", "late"], [[2, 0], [5, 0], [0, 3]], ["", "late"], late=True)["data"][-1]
    assert (crossed["marker"]["pattern"]["shape"], crossed["x"], crossed["showlegend"]) == ("x", [0, 0, 3], False)
    assert guesses.histogram(["yes"], [[0, 0, 0]], DEGREES)["layout"]["xaxis"]["range"] == [0, 1]
    for text in ("It vanishes: no gradient passes through the softmax", "消失：几乎没有梯度能通过，训练因此停滞不前"):
        lines = guesses.wrap(text, 200)
        assert (len(lines) > 1, "".join("".join(lines).split())) == (True, "".join(text.split()))
        assert not any(line.startswith(("：", "，", " ")) for line in lines)
