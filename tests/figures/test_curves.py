"""The curves of a run."""



from playground.figures import curves
from tests.figures.gallery import HISTORY


def test_fill_puts_each_column_where_its_meta_says():
    filled = {name: curves.fill(figure, HISTORY) for name, figure in curves.skeletons().items()}
    training, validation = filled["loss"]["data"]
    assert training["x"] == [1, 2, 3, 4]
    assert training["y"] == [3.0, 2.0, None, 1.0]  # NaN is a gap, not a number
    assert (validation["x"], validation["y"]) == ([2, 4], [2.5, 1.5])
    assert [trace["y"] for trace in filled["accuracy"]["data"]] == [[0.3, 0.9], [0.0, 0.5]]
    assert filled["learning_rate"]["data"][0]["y"] == [1e-5, 2e-5, 3e-5, 4e-5]  # not rounded away


def test_the_first_shape_is_the_replays_cursor():
    for figure in curves.skeletons().values():
        cursor = figure["layout"]["shapes"][0]
        assert (cursor["type"], cursor["yref"], cursor["visible"]) == ("line", "paper", False)
        moved = curves.fill(figure, HISTORY, step=340)["layout"]["shapes"][0]
        assert (moved["x0"], moved["x1"], moved["visible"]) == (340, 340, True)
