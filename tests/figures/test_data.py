"""The lengths of the sentences."""

from playground.figures import data, theme


def test_each_length_is_counted_once():
    figure = data.lengths([2, 2, 4], [3, 5, 5])
    source, target = figure["data"]
    assert source["y"] == [0, 0, 2, 0, 1, 0]
    assert target["y"] == [0, 0, 0, 1, 0, 2]
    assert source["x"] == [0, 1, 2, 3, 4, 5]  # a bar stands on its length
    assert source["customdata"][2] == "2"
    assert (source["marker"]["color"], target["marker"]["color"]) == (theme.hue("encoder"), theme.hue("decoder"))
    assert figure["layout"]["yaxis"]["range"] == figure["layout"]["yaxis2"]["range"]


def test_long_ranges_share_bars_and_lose_nothing():
    lengths = list(range(1, 251))
    figure = data.lengths(lengths, lengths)
    source = figure["data"][0]
    assert len(source["y"]) <= data.BINS
    assert sum(source["y"]) == 250
    assert source["customdata"][:2] == ["0–6", "7–13"]


def test_coverage_is_the_share_of_the_most_frequent():
    source, target = data.coverage([6, 3, 1], [4])["data"]
    assert source["x"] == [1, 2, 3]
    assert source["y"] == [0.6, 0.9, 1.0]
    assert (target["x"], target["y"]) == ([1], [1.0])
    assert source["line"]["dash"] != target["line"]["dash"]
