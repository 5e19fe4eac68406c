"""The exercises: right solutions pass, and a common bug is answered with its name, with otter-grader and without."""

import json
from functools import cache
from pathlib import Path

import pytest
import torch

from playground import exercises
from playground.cli import main
from playground.config import BOS, EOS, PAD
from playground.exercises import EXERCISES, check
from playground.words import LANGUAGES, entries, say

# Exercise: (what the solution says, a mistake in its place, the bug's lab or message)
MISTAKES = {
    "attention": (
        ("** 0.5", "", "bug_scale"), ("/ q.shape[-1] ** 0.5", "", "attention_scale"), ("-1e30", "-1e-9", "bug_fill"),
        ("-1e30", "0", "bug_fill"), ("~mask", "mask", "bug_inverted"), ("dim=-1", "dim=-2", "bug_axis"),
        ("k.transpose(-2, -1)", "k", "Expected size for first two dimensions of batch2 tensor to be: [12, 16] but got: [12, 10]"),
    ),
    "masks": (
        ("tgt_padding & causal", "tgt_padding", "bug_future"), ("return src_mask", "return src_mask | True", "bug_source"),
        ("causal, src_mask", "causal, src_mask | True", "bug_memory"), ("causal, src_mask", "causal, tgt_padding", "bug_lengths"),
        ("return src_mask, tgt_padding & causal, src_mask", "return ~src_mask, ~(tgt_padding & causal), ~src_mask", "bug_inverted"),
        ("[:, None, None, :]", "[:, None, :, None]", "mistake_rows"), ("[:, None, None, :]", "", "a (3) must match"),
    ),
    "positions": (
        ("stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)", "cat((angles.sin(), angles.cos()), dim=-1)", "mistake_halves"),
        ("length)[:, None] / 10_000 ** (2 * pairs / d_model)", "length + 1)[1:, None] / 10_000 ** (2 * pairs / d_model)", "value"),
    ),
    "layer_norm": (
        ("dim=-1", "dim=1", "bug_norm"), ("((x - mean) ** 2).mean(dim=-1", "x.var(dim=-1", "mistake_variance"),
        (", keepdim=True", "", "size of tensor a (64) must match the size of tensor b (10)"),
    ),
    "shift": (("[*row, EOS]", "[BOS, *row]", "bug_shift"), ("[BOS, *row]", "[*row, EOS]", "bug_shift")),
    "beam_search": (("[:width]", "[:1]", "mistake_greedy"), ("return ids[1:], total", "return ids[1:]", "list")),
    "p_minus_y": (
        ("    p =", "    logits = logits.softmax(-1)\n    p =", "bug_softmax"), ("!= PAD", "> -1", "bug_loss"),
        (" / counted.sum()", "", "mistake_sum"), ("[..., None]", "", "a (30) must match the size of tensor b (12)"),
    ),
}  # fmt: skip


@cache
def cells(language: str, solved: bool) -> dict[str, dict]:
    book = json.loads(exercises.write_files(language, solved)[f"exercises_{language}.ipynb"])
    return {cell["id"]: cell for cell in book["cells"]}


def define(name: str, source: str):
    functions = {"torch": torch, "BOS": BOS, "EOS": EOS, "PAD": PAD}
    exec(source, functions)
    return functions[name]


@pytest.mark.parametrize("name", EXERCISES)
def test_a_right_solution_passes_and_each_mistake_is_answered_with_its_name(name):
    source = cells("en", True)[name]["source"]
    assert check(define(name, source)) == f"✓ {name}"
    for right, wrong, bug in MISTAKES[name]:
        assert right in source
        for language in LANGUAGES:
            key = f"lab_{bug}.title" if f"lab_{bug}.title" in entries(language) else f"exercises.{bug}"
            expected = say(language, key) if key in entries(language) else bug
            assert expected in check(define(name, source.replace(right, wrong)), language), (name, wrong)
    assert "NoneType" in check(define(name, cells("en", False)[name]["source"])), "the function is left to write"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_command_writes_a_notebook_and_its_tests(language, tmp_path, capsys):
    assert main(["exercises", str(tmp_path / "here"), "--language", language]) == 0
    notebook, *tests = map(Path, capsys.readouterr().out.split())
    book = json.loads(notebook.read_text(encoding="utf-8"))
    assert [test.stem for test in tests] == [*EXERCISES] == [*book["metadata"]["otter"]["tests"]]
    assert (book["nbformat"], len({cell["id"] for cell in book["cells"]})) == (4, len(book["cells"]))
    assert any(letter > "\u4e00" for letter in book["cells"][0]["source"]) == (language == "zh")
    functions = {"p_minus_y": define("p_minus_y", cells(language, True)["p_minus_y"]["source"])}
    exercises.Grader(functions, language).check("p_minus_y")
    expected = book["metadata"]["otter"]["tests"]["p_minus_y"]["suites"][0]["cases"][0]["code"].splitlines()[-1]
    assert capsys.readouterr().out.strip() == expected


@pytest.mark.night
def test_otter_grader_gives_a_point_for_each_right_function(tmp_path, capsys):
    grade = pytest.importorskip("otter.execute").grade_notebook
    main(["exercises", str(tmp_path), "--solutions"])
    file = tmp_path / "exercises_en.ipynb"
    file.write_text(file.read_text(encoding="utf-8").replace(*MISTAKES["masks"][0][:2]), encoding="utf-8")
    tests = tmp_path / "tests"
    results = grade(str(file), tests_glob=[str(path) for path in tests.iterdir()], cwd=str(tmp_path), test_dir=str(tests))
    assert {name: results.get_score(name) for name in EXERCISES} == {name: float(name != "masks") for name in EXERCISES}
    assert say("en", "lab_bug_future.title") in results.summary()
