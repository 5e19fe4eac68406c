"""Every kind of block is declared once, with its fields; panels say nothing else, and the page's scripts know the same."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.ui import blocks
from playground.ui.blocks import KINDS
from tests.js.typedefs import FILE, fields_of, typescript
from tests.ui.blocks.conforming import faults

UI = Path(blocks.__file__).parents[1]
FILES = [file for file in sorted(UI.rglob("*.py")) if file.parent != UI / "blocks"]
STATES = {  # of panels whose blocks depend on more than the run: parameters, one set a request
    "attention": [
        {"view": view, "part": part, "q": "1", "k": "0"} for view in ("lines", "product", "rollout") for part in ("encoder", "cross")
    ],
    "translate": [{"method": "beam"}, {"method": "sample", "prefix": "a"}],
    "map": [{"stage": stage, "row": "1", "col": "1", "hide": "on"} for stage in ("decoder.0.cross_attention.weights", "logits", "src.ids")],
    "teacher_forcing": [{"fix": "1:7"}, {"force": "a b"}],
    "interventions": [{"off": "c1.1"}, {"change": "row", "q": "1", "k": "1"}, {"change": "row", "cells": "1.1.1-1", "q": "3"}],
    "training": [{"step": "8"}],
    "positions": [{"pos": "learned"}, {"pos": "shift"}],
    "labs": [{}, *({"lab": name, "guess": lab.guesses[0], "sure": "75"} for name, lab in LABS.items())],
    "course": [{}, {"notes": "on"}, *({"lesson": lesson.name, "predicted": "unknown"} for lesson in LESSONS)],
    "reach": [{}],
    "score": [{"off": "c1.1"}],
    "importance": [{}],
}


def test_a_block_takes_its_own_fields_and_no_others():
    made = blocks.field("a", "force", "label", value="", hint="hint")
    assert list(made) == ["kind", *inspect.signature(blocks.field).parameters]
    for wrong in (("a",), ("a", "force", "label", "", "hint", "more")):
        with pytest.raises(TypeError):
            blocks.field(*wrong)
    for more in ({"id": "b"}, {"unheard": 1}):
        with pytest.raises(TypeError):
            blocks.field("a", "force", "label", "", "hint", **more)


def raw_kinds(source: str) -> list[int]:
    """Lines of the dictionaries that say of what kind they are."""
    made = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Dict)]
    pairs = [pair for node in made for pair in zip(node.keys, node.values, strict=True)]
    named = [key for key, value in pairs if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)]
    return [key.lineno for key in named if key.value == "kind"]


def test_no_block_is_made_by_hand():
    assert raw_kinds('found = [{"id": "a", "kind": "text"}, {"kind": kind}]') == [1]
    assert {str(file.relative_to(UI)): lines for file in FILES if (lines := raw_kinds(file.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_says_its_fields_their_types_and_what_it_is(name):
    declared = KINDS[name]
    parameters = inspect.signature(declared).parameters
    assert next(iter(parameters)) == "id"
    assert list(parameters) == list(fields_of(declared))
    assert inspect.getdoc(declared)
    assert len(inspect.getdoc(declared).splitlines()) <= 3


def test_a_block_has_the_fields_of_its_kind_and_nothing_else():
    made = blocks.slider("beam", "beam", "Width", 4)
    assert made == {
        "kind": "slider", "id": "beam", "field": "beam", "label": "Width", "low": 1, "high": 10, "step": 1, "value": 4, "first": 0
    }  # fmt: skip
    assert not list(faults(made))
    with pytest.raises(TypeError, match="label"):
        blocks.slider("beam", "beam")
    with pytest.raises(TypeError, match="hue"):
        blocks.text("about", "It learns.", hue="red")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": "knob"}, "no such kind"),
        ({"hue": "red"}, "hue isn't declared"),
        ({"first": "0"}, "is no <class 'int'>"),
        ({"first": True}, "is no <class 'int'>"),
    ],
)
def test_a_block_that_is_otherwise_is_found(changed, said):
    (fault,) = faults(blocks.slider("beam", "beam", "Width", 4) | changed)
    assert said in fault


def test_a_fault_deep_inside_is_found():
    deep = blocks.column("all", blocks.choice("part", "part", "Part", [{"value": "a", "label": "A"}, {"value": 3}], "a"))
    assert len(list(faults(deep))) == 2  # no label, and a value that is no text


@pytest.mark.parametrize("name", STATES)
def test_panels_say_what_is_declared(site, name):
    """What they say at first is looked at by test_routes.py."""
    for parameters in STATES[name]:
        panel = site.panel(name, run="reverse", **parameters)
        assert "error" not in panel, panel
        assert not [fault for block in panel["blocks"] for fault in faults(block)]


def test_the_scripts_type_checker_is_told_the_same():
    assert FILE.read_text(encoding="utf-8") == typescript(), "run: python -m tests.js.typedefs"


def test_the_page_draws_exactly_these_kinds():
    """By their names; that each is drawn from the fields it has is for the type checker to see (tests/js)."""
    script = (UI / "static" / "kinds.js").read_text(encoding="utf-8")
    table = script.partition("const KINDS = {")[2].partition("\n};")[0]
    assert sorted(re.findall(r"^  (?:async )?(\w+)[(:,]", table, re.MULTILINE)) == sorted(KINDS)
