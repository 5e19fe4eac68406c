"""The picture of a beam search: nobody hangs in the air, no two stand in one place, all that was kept is there, and so is each score."""

import numpy as np
import pytest

from playground.features.shared.figures.theme import Style
from playground.features.translate import figure as tree

# <bos> -> a, b (kept), c (pruned); a -> d (kept, best), e (pruned); b -> f (pruned); d -> <eos> (finished)
NAMES = ["<bos>", "a", "b", "c", "d", "e", "f", "<eos>"]
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
    drawn = tree.tree(NAMES, PARENTS, NUMBERS, FATES, best=[1, 4, 7], reference=[2, 6])
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
