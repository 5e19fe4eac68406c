"""The first tab: three numbers that matter, and the others folded away."""

from tests.ui.test_routes import blocks_of


def test_three_numbers_are_in_sight_and_each_says_what_it_is(site):
    (numbers,) = [one for one in blocks_of(site.panel("training", run="reverse")["blocks"]) if one["kind"] == "numbers"]
    assert [one["id"] for one in numbers["items"]] == ["exact", "tokens", "loss"]
    assert [one["id"] for one in numbers["folded"]] == ["seconds", "left", "speed"]
    assert all(one["help"] and one["label"] for one in numbers["items"] + numbers["folded"])
    assert numbers["more"]
