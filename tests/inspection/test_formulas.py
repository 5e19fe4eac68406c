"""Each stage has its formula in both languages, its shape, and the very lines of the running code that compute it."""

import ast
import inspect
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.config import EOS, ModelConfig
from playground.inspection.activations import record
from playground.inspection.formulas import about, norm_module
from playground.model.transformer import Transformer
from playground.words import LANGUAGES, say

CHOICES = {
    "norm": ("post", "pre", "none"),
    "positions": ("sinusoidal", "learned", "both", "none"),
    "activation": ("relu", "gelu", "none"),
    "memory_mode": ("whole", "mean", "cut"),
    "bias": (True, False),
}
SMALL = {"d_model": 8, "n_heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1}

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
    config = ModelConfig(**SMALL, norm=norm)
    result = about(config, record(Transformer(config, 9, 9).eval(), [4, 5], [6, EOS])[address])
    code = inspect.getsource(result.source).splitlines()
    assert [code[number - 1].strip() for number in result.lines] == [line]


@settings(max_examples=5)
@given(st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CHOICES.items()}))
def test_every_stage_of_every_kind_of_model_finds_its_lines(knobs):
    """And says what this model does: with a bias or without, and by which of its norms."""
    model = Transformer(ModelConfig(**SMALL, **knobs), 9, 9).eval()
    config, stages = model.config, record(model, [4, 5], [6, EOS])
    for address, stage in stages.items():
        result = about(config, stage)
        assert result.lines, f"{address}: no line of {result.source.__qualname__} computes it"
        assert set(result.lines) <= code_lines(result.source)
        assert len(result.lines) <= 4
        assert (result.letters, result.sizes) == (tuple(stage.axes), stage.values.shape)
        for language in LANGUAGES:
            assert "{" not in say(language, result.key, **result.values)
    own, cross = (about(config, stages[f"decoder.0.{name}"]) for name in ("self_attention.q", "cross_attention.k"))
    assert say("en", own.key, **own.values) == f"Q = x W_Q{' + b_Q' if config.bias else ''}"
    assert say("en", cross.key, **cross.values).startswith("K = memory W_K")
    names = {norm_module(address) for address, stage in stages.items() if stage.name == "norm"}
    assert names == {name for name, module in model.named_modules() if type(module).__name__ == "LayerNorm"}
