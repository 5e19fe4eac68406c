"""Attention as a file for numpy, from outside."""

from __future__ import annotations

import io

import numpy as np
import pytest

from playground.queries.reader import REFERENCE

TEXT = "playground"


def arrays(site, **query: object) -> tuple[str, dict[str, np.ndarray]]:
    """The file's name and what is in it; reading it needs no pickles."""
    answer = site.get("attention", text=TEXT, **query)
    assert answer.headers["Content-Type"] == "application/octet-stream", answer.text
    with np.load(io.BytesIO(answer.content)) as found:
        return answer.headers["Content-Disposition"], dict(found)


@pytest.fixture(scope="module")
def run(site):
    return next(run for run in site.runs.shipped() if run.name == "reverse")


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_all_weights_of_every_layer_and_head_with_their_tokens(site, run, part):
    name, found = arrays(site, run=run.id, part=part)
    look = site.reader.look(run, None, TEXT, REFERENCE)
    assert name == f'attachment; filename="reverse-step{look.step}-attention-{part}.npz"'
    np.testing.assert_array_equal(found["weights"], getattr(look, part))
    assert found["weights"].dtype == np.float32
    assert found["weights"].shape[2:] == (len(found["queries"]), len(found["keys"]))
    np.testing.assert_allclose(found["weights"].sum(axis=-1), 1, atol=1e-5)
    assert (str(found["run"]), int(found["step"]), str(found["sentence"]), str(found["part"])) == ("reverse", look.step, TEXT, part)


def test_an_earlier_step_is_fed_the_reference(site, run):
    step = run.replay.parameter_steps[0]
    _, found = arrays(site, run=run.id, part="cross", step=step)
    look = site.reader.look(run, step, TEXT, REFERENCE)
    assert int(found["step"]) == look.step == step
    np.testing.assert_array_equal(found["weights"], look.cross)


def test_what_a_figure_says_of_its_file_leads_to_its_own_weights(site, run):
    block = next(block for block in _figures(site.panel("attention", run=run.id, text=TEXT, part="cross", layer=2, head=1)["blocks"]))
    assert block["saved"]["file"] == "attention-cross-L2H1"
    answer = site.get("attention", **block["saved"]["arrays"])
    with np.load(io.BytesIO(answer.content)) as found:
        np.testing.assert_allclose(np.array(block["figure"]["data"][0]["z"], float), found["weights"][1, 0], atol=5.1e-5)


@pytest.mark.parametrize("query", [{"run": "nobody"}, {"text": ""}, {"text": "a" * 6000}])
def test_what_a_panel_refuses_is_refused_with_the_same_sentence(site, run, query):
    asked = {"run": run.id, "part": "cross", "text": TEXT, **query}
    answer, panel = site.get("attention", **asked), site.panel("attention", **asked)
    if "error" in panel:
        assert (answer.json()["error"], answer.json()["key"]) == (panel["error"], panel["key"])
    else:
        assert answer.headers["Content-Type"] == "application/octet-stream"


def _figures(blocks):
    for block in blocks:
        if block["kind"] == "figure":
            yield block
        yield from _figures(block.get("blocks", []))
