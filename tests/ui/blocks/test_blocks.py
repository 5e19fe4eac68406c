"""Every kind of block is declared once, with its fields; the page's scripts know the same. That panels say nothing else, see
tests/ui/panels/test_every_panel.py."""

import inspect
import re
from pathlib import Path

import pytest

from playground.ui import blocks
from playground.ui.blocks import KINDS
from tests.js.typedefs import FILE, fields_of, typescript

UI = Path(blocks.__file__).parents[1]
SLIDER = {"kind": "slider", "id": "beam", "field": "beam", "label": "Width", "low": 1, "high": 10, "step": 1, "value": 4, "first": 0}


def test_a_kind_takes_the_fields_that_it_declares_and_no_others():
    assert blocks.slider("beam", "beam", "Width", 4) == SLIDER
    for name, declared in KINDS.items():
        parameters = list(inspect.signature(declared).parameters)
        assert (parameters, parameters[0]) == (list(fields_of(declared)), "id"), name
        assert inspect.getdoc(declared), name
    for wrong in (("a",), ("a", "force", "label", "", "hint", "more")):
        with pytest.raises(TypeError):
            blocks.field(*wrong)
    with pytest.raises(TypeError, match="hue"):
        blocks.text("about", "It learns.", hue="red")


def test_the_scripts_type_checker_is_told_the_same():
    assert FILE.read_text(encoding="utf-8") == typescript(), "run: python -m tests.js.typedefs"


def test_the_page_draws_exactly_these_kinds():
    script = (UI / "static" / "kinds.js").read_text(encoding="utf-8")
    table = script.partition("const KINDS = {")[2].partition("\n};")[0]
    assert sorted(re.findall(r"^  (?:async )?(\w+)[(:,]", table, re.MULTILINE)) == sorted(KINDS)
