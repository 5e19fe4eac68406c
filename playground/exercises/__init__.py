"""Exercises: a notebook of seven functions to write, each checked with tensors of a trained model.

`notebook.md` has their texts and solutions; of a solution the notebook keeps the head and the docstring. A result that equals that of a
common bug is answered with the bug's name. The format is otter-grader's; without it the notebook checks itself.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from playground.config import EOS, PAD, Refusal
from playground.data.batches import collate
from playground.data.corpus import Item
from playground.decoding import beam
from playground.export.documents import code_cell, markdown_cell, write_notebook
from playground.model.attention import MASKED, scaled_dot_product_attention
from playground.model.masks import causal_mask, padding_mask, target_mask
from playground.model.transformer import Transformer
from playground.pretrained import load
from playground.training.step import cross_entropy
from playground.variants import bugs
from playground.words import ENGLISH, known, say

RUN, TOLERANCE = "reverse", 1e-5
PAIRS = {"hello": "oll", "ab": "transformer", "attention": "noit"}  # of unequal lengths: both sides have padding, at other places
SEARCHES = (("baabababaababaaabb", 2, 30), ("rviwdgicusqucczgufqnas", 3, 30), ("hello", 2, 4))  # source, width, most tokens
SECTION = re.compile(r"^# ([a-z_]+)\n(.*?)(?=^# [a-z_]+\n|\Z)", re.MULTILINE | re.DOTALL)
PART = re.compile(r"^## (en|zh|code)\n+(.*?)\s*(?=^## (?:en|zh|code)\n|\Z)", re.MULTILINE | re.DOTALL)
_SHEET = Path(__file__).with_name("notebook.md")
DOCTEST = ">>> from playground.exercises import check\n>>> print(check({name}, {language!r}))\n✓ {name}"


@dataclass(frozen=True)
class NextToken:
    """The log probabilities of the token after each of N prefixes that begin with BOS: (N, L) -> (N, V)."""

    model: Transformer
    source: list[int]

    def __call__(self, prefixes: Tensor) -> Tensor:
        src = torch.tensor([[*self.source, EOS]]).expand(len(prefixes), -1)
        return self.model(src, prefixes).logits[:, -1].log_softmax(dim=-1)


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
        "beam_search": [(NextToken(model, src.encode(text)), width, most) for text, width, most in SEARCHES],
        "p_minus_y": [(logits, batch.tgt_out)],
    }


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float = 0.5, fill: float = MASKED, dim: int = -1
) -> tuple[Tensor, Tensor]:
    """Attention as it is often written; in a fully masked row its weights are equal where the model's are 0."""
    weights = (q @ k.mT / q.shape[-1] ** power).masked_fill(~mask, fill).softmax(dim)
    return weights @ v, weights


def _masks(src: Tensor, tgt_in: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return padding_mask(src), target_mask(tgt_in), padding_mask(src)


def _hide_queries(src: Tensor, tgt_in: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    rows = padding_mask(src).mT
    return rows, padding_mask(tgt_in).mT & causal_mask(tgt_in.shape[1]), rows


def _positions(length: int, d_model: int) -> Tensor:
    return load(RUN).model.src_positions.table[:length]


def _sinusoids(apart: bool, length: int, d_model: int) -> Tensor:
    """Sinusoids with a mistake: the cosines `apart`, behind all sines, or a frequency for each dimension in place of each pair."""
    dims = torch.arange(d_model)
    angles = torch.arange(length)[:, None] / 10_000 ** ((dims[::2] if apart else dims) / d_model)
    return torch.cat((angles.sin(), angles.cos()), -1) if apart else torch.where(dims % 2 == 0, angles.sin(), angles.cos())


def _norm(dim: int, correction: int, x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    return (x - x.mean(dim, keepdim=True)) / (x.var(dim, correction=correction, keepdim=True) + 1e-5).sqrt() * gain + bias


def _batch(ids: list[list[int]]) -> tuple[Tensor, Tensor]:
    return collate([Item("", "", (), tuple(row)) for row in ids])[1:3]


def _write_best(narrow: bool, following: NextToken, width: int, most: int) -> tuple[list[int], float]:
    best = beam(following.model, following.source, 1 if narrow else width, 0.0, most)[0]
    return [*best.ids], best.score


def _slope(loss: Callable[..., Tensor], logits: Tensor, tgt_out: Tensor) -> Tensor:
    with torch.enable_grad():
        logits = logits.detach().requires_grad_()
        return torch.autograd.grad(loss(logits, tgt_out, 0.0), logits)[0]


# Of each exercise the model's own function, and mistakes by the name of their lab, or of a message here.
EXERCISES: dict[str, tuple[Callable, tuple[tuple[str, Callable], ...]]] = {
    "attention": (
        scaled_dot_product_attention,
        (
            ("bug_scale", partial(_attend, power=1.0)), ("attention_scale", partial(_attend, power=0.0)),
            ("bug_fill", partial(_attend, fill=bugs.TINY)), ("bug_axis", partial(_attend, dim=-2)),
            ("bug_axis", lambda *tensors: bugs.over_queries(*tensors, 0.5, nn.Identity())),
            ("bug_inverted", lambda q, k, v, mask: _attend(q, k, v, ~mask)),
            ("bug_inverted", lambda *tensors: bugs.inverted(*tensors, 0.5, nn.Identity())),
        ),
    ),
    "masks": (
        _masks,
        (
            ("bug_future", lambda src, tgt: (padding_mask(src), padding_mask(tgt), padding_mask(src))),
            ("bug_source", lambda src, tgt: (torch.ones_like(padding_mask(src)), *_masks(src, tgt)[1:])),
            ("bug_memory", lambda src, tgt: (*_masks(src, tgt)[:2], torch.ones_like(padding_mask(src)))),
            ("bug_inverted", lambda src, tgt: tuple(~mask for mask in _masks(src, tgt))),
            ("bug_lengths", lambda src, tgt: (*_masks(src, tgt)[:2], padding_mask(tgt))),
            ("mistake_rows", _hide_queries),
        ),
    ),
    "positions": (_positions, (("mistake_halves", partial(_sinusoids, True)), ("mistake_pairs", partial(_sinusoids, False)))),
    "layer_norm": (
        lambda x, gain, bias: functional.layer_norm(x, gain.shape, gain, bias),
        (("bug_norm", partial(_norm, 1, 0)), ("mistake_variance", partial(_norm, -1, 1))),
    ),
    "shift": (
        _batch,
        (
            ("bug_shift", lambda ids: (_batch(ids)[0],) * 2), ("bug_shift", lambda ids: (_batch(ids)[1],) * 2),
            ("bug_shift", lambda ids: (_batch([[*row, EOS] for row in ids])[0],) * 2),
        ),
    ),
    "beam_search": (partial(_write_best, False), (("mistake_greedy", partial(_write_best, True)),)),
    "p_minus_y": (
        partial(_slope, cross_entropy),
        (
            ("bug_softmax", partial(_slope, bugs.with_softmax)), ("bug_loss", partial(_slope, bugs.with_padding)),
            ("bug_softmax", lambda logits, tgt: _slope(cross_entropy, logits.softmax(-1), tgt)),
            ("mistake_sum", lambda logits, tgt: _slope(cross_entropy, logits, tgt) * (tgt != PAD).sum()),
        ),
    ),
}  # fmt: skip


def check(function: Callable, language: str = ENGLISH) -> str:
    """Calls a function and the model's own of that name with the same tensors. Returns "✓" with the name when results are equal up to
    TOLERANCE; else a sentence with the bug, the shapes, or the distance. Raises Refusal for a name without an exercise."""
    name = function.__name__
    if name not in EXERCISES:
        raise Refusal("exercises.no_such", name=name, names=", ".join(EXERCISES))
    (right, mistakes), cases, results = EXERCISES[name], list_cases()[name], []
    for case in cases:
        try:
            results.append(function(*(part.clone() if isinstance(part, Tensor) else part for part in case)))
        except Exception as error:
            shapes = ", ".join(_shape(part) for part in case)
            return _answer(language, name, "raised", error=f"{type(error).__name__}: {error}", given=shapes)
    expected = [right(*case) for case in cases]
    if _are_equal(results, expected):
        return f"✓ {name}"
    for key, mistake in mistakes:
        if _are_equal(results, [mistake(*case) for case in cases]):
            lab = f"lab_{key}.title"
            return f"✗ {name}: {say(language, lab if known(language, lab) else f'exercises.{key}')}"
    shapes = [[_shape(part) for part in _list_parts(result)] for result in (results[0], expected[0])]
    return _answer(language, name, "value" if shapes[0] == shapes[1] else "shape", given=", ".join(shapes[0]), right=", ".join(shapes[1]))


def _answer(language: str, name: str, key: str, **values: str) -> str:
    return f"✗ {name}: {say(language, f'exercises.{key}', **values)}"


def _list_parts(result: Any) -> tuple:
    return result if isinstance(result, tuple) else (result,)


def _shape(part: Any) -> str:
    return str(tuple(part.shape)) if isinstance(part, Tensor) else type(part).__name__


def _are_equal(results: list, expected: list) -> bool:
    try:
        for result, right in zip(results, expected, strict=True):
            for pair in zip(_list_parts(result), _list_parts(right), strict=True):
                tensors = torch.broadcast_tensors(*(torch.as_tensor(part).double() for part in pair))
                torch.testing.assert_close(*tensors, rtol=TOLERANCE, atol=TOLERANCE)
    except (AssertionError, RuntimeError, TypeError, ValueError):  # another number, shape or type
        return False
    return True


class Grader:
    """A stand-in for otter-grader's Notebook where that is not installed."""

    def __init__(self, functions: dict[str, Any], language: str) -> None:
        self.functions, self.language = functions, language

    def check(self, name: str) -> None:
        print(check(self.functions[name], self.language))


def write_files(language: str, solved: bool = False) -> dict[str, bytes]:
    """Returns the notebook, `solved` or with functions to write, and the tests with which otter-grader makes an autograder."""
    sections = {name: dict(PART.findall(text)) for name, text in SECTION.findall(_SHEET.read_text(encoding="utf-8"))}
    file, cells, tests = f"exercises_{language}.ipynb", [], {}
    for name, parts in sections.items():
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
