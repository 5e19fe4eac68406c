"""Each stage has its formula in both languages, its shape, and the very lines of the running code that compute it."""

import ast
import inspect
import textwrap

import pytest
from hypothesis import given, settings, strategies as st

from playground.inspection.activations import record
from playground.inspection.formulas import describe, norm_module
from playground.words import LANGUAGES, say
from tests.inspection.test_activations import KNOBS, SRC, TGT, build

NAMES = ("norm", "positions", "activation", "memory_mode", "bias")

def code_lines(function) -> set[int]:
    """The lines of a function that are statements of its body and no docstring, counted from 1."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    return {line for node in body for line in range(node.lineno, node.end_lineno + 1)}


@pytest.mark.parametrize(("norm", "address", "line"), [
    ("post", "encoder.0.self_attention.scores", "scores = q @ k.transpose(-2, -1)"),
    ("post", "src.scaled", "x = x * math.sqrt(self.config.d_model)"),
    ("post", "decoder.0.cross_attention.norm", "x = self.norm_2(self.residual(x, attended))"),
    ("pre", "encoder.0.self_attention.norm", "y = self.norm_1(x)"),
    ("pre", "encoder.0.feed_forward.norm", "x = self.residual(x, self.feed_forward(self.norm_2(x)))"),
])  # fmt: skip
def test_the_lines_are_the_right_ones(norm, address, line):
    model = build(norm=norm)
    result = describe(model.config, record(model, SRC, TGT)[address])
    code = inspect.getsource(result.source).splitlines()
    assert [code[number - 1].strip() for number in result.lines] == [line]


@settings(max_examples=5)
@given(st.fixed_dictionaries({name: st.sampled_from(KNOBS[name]) for name in NAMES}))
def test_every_stage_of_every_kind_of_model_finds_its_lines(knobs):
    model = build(**knobs)
    config, stages = model.config, record(model, SRC, TGT)
    for address, stage in stages.items():
        result = describe(config, stage)
        assert result.lines, f"{address}: no line of {result.source.__qualname__} computes it"
        assert set(result.lines) <= code_lines(result.source)
        assert len(result.lines) <= 4
        assert (result.letters, result.sizes) == (tuple(stage.axes), stage.values.shape)
        for language in LANGUAGES:
            assert "{" not in say(language, result.key, **result.values)
    own, cross = (describe(config, stages[f"decoder.0.{name}"]) for name in ("self_attention.q", "cross_attention.k"))
    assert say("en", own.key, **own.values) == f"Q = x W_Q{' + b_Q' if config.bias else ''}"
    assert say("en", cross.key, **cross.values).startswith("K = memory W_K")
    names = {norm_module(address) for address, stage in stages.items() if stage.name == "norm"}
    assert names == {name for name, module in model.named_modules() if type(module).__name__ == "LayerNorm"}
