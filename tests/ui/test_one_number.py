"""The exact match of a run at its last step is one number: in the header, on every tab, and on the command line."""

import json
import re

import pytest

from playground.cli import main
from playground.runs.disk.store import SHIPPED
from tests.ui.panels.looking import block, complete

NAMES = ["reverse", *(pytest.param(name, marks=pytest.mark.night) for name in ("numbers_de", "german_english"))]


def percents(text: str) -> list[str]:
    return re.findall(r"[\d.]+(?=\s?%)", text)


@pytest.mark.parametrize("name", NAMES)
def test_everybody_says_the_same_number(site, name, capsys):
    run = site.runs.get(name)
    update = json.loads(site.runs.update(run)[0])  # from this the page takes what the header and the first tab say
    newest = {name: values[-1] for name, values in update["validations"].items()}
    assert (newest["step"], newest["pairs"]) == (run.step, newest["all_pairs"]), "at the end all held-out sentences were asked"
    number = f"{100 * newest['exact_match']:.1f}"
    query = {"run": run.id}

    exact = block(complete(site, "evaluation", **query), "scores")["rows"][0]
    assert percents(exact[1]) == [number]
    for change in ({}, {"off": "c1.1"}):
        before = block(complete(site, "score", **query, **change), "score")["rows"][0][1]
        assert percents(before) == [number]
    assert percents(block(complete(site, "importance", **query), "importance-said")["text"])[-1] == number
    assert percents(block(site.panel("teacher_forcing", **query), "caption")["text"])[-1] == number

    assert main(["history", str(SHIPPED / name), "--validations"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    last = dict(zip(head.split(), rows[-1].split(), strict=True))
    assert (f"{100 * float(last['exact_match']):.1f}", last["pairs"]) == (number, last["all_pairs"])
    (row,) = site.runs.table([run]).to_dict("records")
    assert f"{100 * row['exact_match']:.1f}" == number
