"""Exercises: a notebook of seven functions to write, each checked with tensors of a trained model.

`notebook.md` has their texts, solutions and the mistakes in them. Of a solution the notebook keeps the head and the docstring; a result
that equals a mistake's is answered with its name: its lab's title, or a message here. The format is otter-grader's; without it the notebook
checks itself.
"""

import ast
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from playground.config import BOS, EOS, PAD, Refusal
from playground.data.batches import collate
from playground.data.corpus import Item
from playground.decoding import next_logprobs, search
from playground.export.documents import code_cell, markdown_cell, write_notebook
from playground.model.attention import scaled_dot_product_attention
from playground.model.masks import padding_mask, target_mask
from playground.pretrained import load
from playground.training.step import cross_entropy
from playground.words import ENGLISH, known, say

RUN, TOLERANCE = "reverse", 1e-5
PAIRS = {"hello": "oll", "ab": "transformer", "attention": "noit"}  # of unequal lengths: both sides have padding, at other places
SEARCHES = (("baabababaababaaabb", 2, 30), ("rviwdgicusqucczgufqnas", 3, 30), ("hello", 2, 4))  # source, width, most tokens
SECTION = re.compile(r"^# ([a-z_]+)\n(.*?)(?=^# [a-z_]+\n|\Z)", re.MULTILINE | re.DOTALL)
PART = re.compile(r"^## (en|zh|code|mistakes)\n+(.*?)\s*(?=^## (?:en|zh|code|mistakes)\n|\Z)", re.MULTILINE | re.DOTALL)
MISTAKE = re.compile(r"^- (\w+): `(.*)` → `(.*)`$", re.MULTILINE)
_SHEET = Path(__file__).with_name("notebook.md")
DOCTEST = ">>> from playground.exercises import check\n>>> print(check({name}, {language!r}))\n✓ {name}"


@cache
@torch.no_grad()
def list_cases() -> dict[str, list[tuple]]:
    """Returns the arguments of each exercise's calls, as the model itself calls its parts on a batch with padding."""
    trained, calls = load(RUN), []
    model, (src, tgt) = trained.model, trained.tokenizers
    batch = collate([Item(*pair, tuple(src.encode(pair[0])), tuple(tgt.encode(pair[1]))) for pair in PAIRS.items()])
    encoder, decoder = model.encoder[0], model.decoder[0]
    parts = (encoder.self_attention, encoder.norm_1, decoder.self_attention, decoder.cross_attention, decoder.norm_3)
    hooks = [part.register_forward_pre_hook(lambda part, arguments: calls.append((part, *arguments))) for part in parts]
    logits = model(batch.src, batch.tgt_in).logits
    for hook in hooks:
        hook.remove()
    attentions = [call for call in calls if not isinstance(call[0], nn.LayerNorm)]
    return {
        "attention": [(each.split(each.W_q(q)), *each.keys_values(k, v), mask) for each, q, k, v, mask, *_ in attentions],
        "masks": [(batch.src, batch.tgt_in)],
        "positions": [(20, model.config.d_model)],
        "layer_norm": [(x, norm.weight, norm.bias) for norm, x in (call for call in calls if isinstance(call[0], nn.LayerNorm))],
        "shift": [([tgt.encode(text) for text in PAIRS.values()],)],
        "beam_search": [(partial(next_logprobs, model, src.encode(text)), width, most) for text, width, most in SEARCHES],
        "p_minus_y": [(logits, batch.tgt_out)],
    }


def _write_best(following: partial, width: int, most: int) -> tuple[list[int], float]:
    best = search(*following.args, width, 0.0, most).hypotheses[0]
    return [*best.ids], best.score


def _slope(logits: Tensor, tgt_out: Tensor) -> Tensor:
    with torch.enable_grad():
        logits = logits.detach().requires_grad_()
        return torch.autograd.grad(cross_entropy(logits, tgt_out), logits)[0]


# The model's own function of each exercise.
EXERCISES: dict[str, Callable] = {
    "attention": scaled_dot_product_attention,
    "masks": lambda src, tgt_in: (padding_mask(src), target_mask(tgt_in), padding_mask(src)),
    "positions": lambda length, d_model: load(RUN).model.src_positions.table[:length],
    "layer_norm": lambda x, gain, bias: functional.layer_norm(x, gain.shape, gain, bias),
    "shift": lambda rows: collate([Item("", "", (), tuple(row)) for row in rows])[1:3],
    "beam_search": _write_best,
    "p_minus_y": _slope,
}


@cache
def read_sections() -> dict[str, dict[str, str]]:
    """Returns {section: {"en", "zh", "code" and "mistakes": text}} of notebook.md; a section is one exercise."""
    return {name: dict(PART.findall(text)) for name, text in SECTION.findall(_SHEET.read_text(encoding="utf-8"))}


def list_mistakes(name: str) -> list[tuple[str, Callable]]:
    """Returns (name, function) of each mistake in a solution."""
    parts = read_sections()[name]
    return [(bug, define(name, parts["code"].replace(right, wrong))) for bug, right, wrong in MISTAKE.findall(parts["mistakes"])]


def define(name: str, source: str) -> Callable:
    """Runs source of notebook.md and returns its function of this name."""
    names: dict[str, Any] = {"torch": torch, "BOS": BOS, "EOS": EOS, "PAD": PAD}
    exec(source.strip("`").removeprefix("python"), names)
    return names[name]


def check(function: Callable, language: str = ENGLISH) -> str:
    """Calls a function and the model's own of that name with the same tensors. Returns "✓" with the name when results are equal up to
    TOLERANCE; else a sentence with the bug, the shapes, or the distance. Raises Refusal for a name without an exercise."""
    name = function.__name__
    if name not in EXERCISES:
        raise Refusal("exercises.no_such", name=name, names=", ".join(EXERCISES))
    cases, results = list_cases()[name], []
    for case in cases:
        try:
            results.append(function(*(part.clone() if isinstance(part, Tensor) else part for part in case)))
        except Exception as error:
            return f"✗ {name}: {say(language, 'exercises.raised', error=f'{type(error).__name__}: {error}', given=_describe(case))}"
    expected = [EXERCISES[name](*case) for case in cases]
    if _are_equal(results, expected):
        return f"✓ {name}"
    for bug, mistake in list_mistakes(name):
        if _are_equal(results, [mistake(*case) for case in cases]):
            lab = f"lab_{bug}.title"
            return f"✗ {name}: {say(language, lab if known(language, lab) else f'exercises.mistake_{bug}')}"
    shapes, rights = _describe(results[0]), _describe(expected[0])
    return f"✗ {name}: {say(language, 'exercises.value' if shapes == rights else 'exercises.shape', given=shapes, right=rights)}"


def _describe(values: Any) -> str:
    values = values if isinstance(values, tuple) else (values,)
    return ", ".join(str(tuple(value.shape)) if isinstance(value, Tensor) else type(value).__name__ for value in values)


def _are_equal(results: list, expected: list) -> bool:
    try:
        torch.testing.assert_close(results, expected, rtol=TOLERANCE, atol=TOLERANCE, check_dtype=False)
    except (AssertionError, TypeError, ValueError):  # another number, shape or type
        return False
    return True


def write_files(language: str, solved: bool = False) -> dict[str, bytes]:
    """Returns the notebook, `solved` or with functions to write, and the tests with which otter-grader makes an autograder."""
    file, cells, tests = f"exercises_{language}.ipynb", [], {}
    for name, parts in read_sections().items():
        code = parts.get("code", "").removeprefix("```python\n").removesuffix("\n```")
        cells.append(markdown_cell(f"about-{name}", parts[language]))
        if name not in EXERCISES:
            cells += [code_cell(name, code.format(file=file, language=language))] if code else []
            continue
        cells += [code_cell(name, code if solved else _strip_body(code)), code_cell(f"check-{name}", f'grader.check("{name}")')]
        case = {"code": DOCTEST.format(name=name, language=language), "hidden": False, "locked": False}
        suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
        tests[name] = {"name": name, "points": 1, "suites": [suite]}
    files = {f"tests/{name}.py": f"OK_FORMAT = True\n\ntest = {test!r}\n".encode() for name, test in tests.items()}
    return {file: write_notebook(cells, {"otter": {"OK_FORMAT": True, "tests": tests}}), **files}


def _strip_body(code: str) -> str:
    """Keeps a function's head and docstring."""
    (function,) = ast.parse(code).body
    return "\n".join([*code.splitlines()[: function.body[0].end_lineno], "    ..."])
