"""The exercises: right solutions pass, and a common bug is answered with its name, with otter-grader and without."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn

from playground.cli import main
from playground.data.batches import collate
from playground.data.corpus import Item
from playground.exercises import EXERCISES, MISTAKE, check, define, list_mistakes, read_sections, write_files
from playground.model.masks import padding_mask, target_mask
from playground.variants import bugs
from playground.words import LANGUAGES, known, say


def norm_over_positions(x, gain, bias):
    norm = bugs.PositionNorm(len(gain))
    norm.load_state_dict({"weight": gain, "bias": bias})
    return norm(x)


def unshifted(rows):
    return bugs.unshifted(collate([Item("", "", (), tuple(row)) for row in rows]))[1:3]


def slope_with_padding(logits, tgt_out):
    logits = logits.requires_grad_()
    return torch.autograd.grad(bugs.with_padding(logits, tgt_out, 0.0), logits)[0]


# The bug museum's own code, as far as an exercise asks for that part, and what torch says of wrong shapes.
MUSEUM = {
    "bug_scale": ("attention", partial(bugs.scaled_twice, power=0.5, dropout=nn.Identity())),
    "bug_axis": ("attention", partial(bugs.over_queries, power=0.5, dropout=nn.Identity())),
    "bug_fill": ("attention", partial(bugs.tiny_filled, power=0.5, dropout=nn.Identity())),
    "bug_future": ("masks", lambda src, tgt: (padding_mask(src), padding_mask(tgt), padding_mask(src))),
    "bug_inverted": ("masks", lambda src, tgt: (~padding_mask(src), ~target_mask(tgt), ~padding_mask(src))),
    "bug_norm": ("layer_norm", norm_over_positions), "bug_shift": ("shift", unshifted), "bug_loss": ("p_minus_y", slope_with_padding),
}  # fmt: skip
SHAPES = {
    "attention": ("k.transpose(-2, -1)", "k", "[12, 16] but got: [12, 10]"), "masks": ("[:, None, None, :]", "", "a (3) must match"),
    "layer_norm": (", keepdim=True", "", "size of tensor a (64) must match the size of tensor b (10)"),
    "p_minus_y": ("[..., None]", "", "a (30) must match the size of tensor b (12)"), "beam_search": ("ids[1:], total", "ids[1:]", "list"),
    "positions": ("angles.cos()", "angles.sin()", say("en", "exercises.value")), "shift": ("len(rows)", "1 + len(rows)", "(4, 12)"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXERCISES)
def test_a_right_solution_passes_and_each_mistake_is_answered_with_its_name(name):
    code = read_sections()[name]["code"]
    assert check(define(name, code)) == f"✓ {name}"
    mistakes = [*list_mistakes(name), *((bug, function) for bug, (part, function) in MUSEUM.items() if part == name)]
    assert all(right in code for _, right, _ in MISTAKE.findall(read_sections()[name]["mistakes"]))
    for bug, mistake in mistakes:
        named = partial(mistake)
        named.__name__ = name
        for language in LANGUAGES:
            key = f"lab_{bug}.title" if known(language, f"lab_{bug}.title") else f"exercises.mistake_{bug}"
            assert check(named, language) == f"✗ {name}: {say(language, key)}"
    right, wrong, sentence = SHAPES[name]
    assert sentence in check(define(name, code.replace(right, wrong)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_command_writes_a_notebook_and_its_tests(language, tmp_path, capsys):
    assert main(["exercises", str(tmp_path / "here"), "--language", language]) == 0
    notebook, *tests = map(Path, capsys.readouterr().out.split())
    book = json.loads(notebook.read_text(encoding="utf-8"))
    assert [test.stem for test in tests] == [*EXERCISES] == [*book["metadata"]["otter"]["tests"]]
    assert any(letter > "\u4e00" for letter in book["cells"][0]["source"]) == (language == "zh")
    books = (json.loads(next(iter(write_files(language, each).values()))) for each in (True, False))
    solved, left = ({cell["id"]: cell["source"] for cell in each["cells"]} for each in books)
    exec(solved["title"] + "\n" + solved["shift"] + "\n" + solved["check-shift"], names := {})
    assert capsys.readouterr().out == "✓ shift\n"
    exec(left["shift"], names)
    assert "NoneType" in check(names["shift"], language), "the function is left to write"


@pytest.mark.night
def test_otter_grader_gives_a_point_for_each_right_function(tmp_path):
    grade = pytest.importorskip("otter.execute").grade_notebook
    main(["exercises", str(tmp_path), "--solutions"])
    file, tests = tmp_path / "exercises_en.ipynb", tmp_path / "tests"
    file.write_text(file.read_text(encoding="utf-8").replace("tgt_padding & causal", "tgt_padding"), encoding="utf-8")
    results = grade(str(file), tests_glob=[str(path) for path in tests.iterdir()], cwd=str(tmp_path), test_dir=str(tests))
    assert {name: results.get_score(name) for name in EXERCISES} == {name: float(name != "masks") for name in EXERCISES}
    assert say("en", "lab_bug_future.title") in results.summary()
