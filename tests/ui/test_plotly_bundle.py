"""Plotly's file without what nobody draws: small, whole, and with every trace that our figures have."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import plotly
import pytest

from playground.ui.plotly_bundle import TRACES, reduced
from tests.figures.gallery import gallery

ROOT = Path(__file__).parents[2]
WHOLE = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
ESLINT = ROOT / "node_modules" / ".bin" / "eslint"
UNKNOWN_TO_PLOTLY = {"Sizzle", "XDomainRequest", "MathJax", "d3_scale_linearTickFormat"}  # names that its own file doesn't declare


@pytest.fixture(scope="module")
def small() -> str:
    return reduced(WHOLE)


def test_it_is_less_than_a_third(small):
    assert len(small) < len(WHOLE) / 3


@pytest.mark.parametrize("length", [1, 12])
def test_every_figure_is_of_its_traces(length):
    for name, figure in gallery(length).items():
        assert {trace["type"] for trace in figure["data"]} <= set(TRACES), name


def test_no_source_names_another_trace():
    """What a figure is made of, wherever it is made."""
    kinds = r'"?type"?: "(scatter\w+|bar\w+|heatmap\w*|surface|contour|pie|histogram\w*|violin|box|mesh3d|sankey)"'
    files = [file for folder in ("figures", "ui") for file in (ROOT / "playground" / folder).rglob("*") if file.suffix in (".py", ".js")]
    said = {found for file in files for found in re.findall(kinds, file.read_text(encoding="utf-8"))}
    assert said <= set(TRACES)
    assert "heatmap" in said


def test_another_kind_of_file_comes_back_as_it_is():
    for source in ("", "var Plotly=function(){return{}}();", "var a=W((e,t)=>{t.exports=1});var b=W(e=>{a()});"):
        assert reduced(source) == source


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
def test_it_is_a_script(small, tmp_path):
    (tmp_path / "plotly.js").write_text(small, encoding="utf-8")
    done = subprocess.run(["node", "--check", tmp_path / "plotly.js"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.night
@pytest.mark.skipif(not ESLINT.exists(), reason="ESLint is not installed: run npm ci")
def test_nothing_is_missing(small, tmp_path):
    """No name that is used was left out with its module."""
    (tmp_path / "plotly.js").write_text(small, encoding="utf-8")
    config = f"""import globals from "{ROOT / 'node_modules' / 'globals' / 'index.js'}";
        export default [{{ languageOptions: {{ sourceType: "script", globals: {{ ...globals.browser, ...globals.node, define: false }} }},
          linterOptions: {{ noInlineConfig: true, reportUnusedDisableDirectives: "off" }}, rules: {{ "no-undef": "error" }} }}];"""
    (tmp_path / "eslint.config.mjs").write_text(config, encoding="utf-8")
    done = subprocess.run([ESLINT, "--format", "json", "plotly.js"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    [found] = json.loads(done.stdout)
    assert {re.search("'(.*?)'", message["message"])[1] for message in found["messages"]} <= UNKNOWN_TO_PLOTLY
