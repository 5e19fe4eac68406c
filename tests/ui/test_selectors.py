"""The page's style asks nothing of the whole page again: a root that depends on what it holds is restyled, with all below it, whenever
anything anywhere is added, which while a run trains is some fifty times a second."""

from __future__ import annotations

import re

from playground.ui.assets import STATIC

ROOT = re.compile(r"(?:^|[\s,(}])(?:html|body|:root|main|\.gradio-container)[^\s>,{]*:has\(")


def test_no_root_depends_on_what_it_holds():
    for file in STATIC.glob("*.css"):
        assert not ROOT.search(file.read_text(encoding="utf-8")), file.name


def test_one_that_does_is_found():
    assert ROOT.search("a { }\nbody[data-room]:has(#pg-arm) .main { }")
    assert ROOT.search(".main:is(body:has(#pg-arm) *) { }")
