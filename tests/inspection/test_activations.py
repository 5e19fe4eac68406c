"""Every stage holds the running model's own numbers, to the last bit; and has its formula in both languages, its shape, and the very
lines of the running code that compute it."""

import ast
import inspect
import textwrap

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.choices import ARCHITECTURES
from playground.config import BOS, EOS, ModelConfig, Refusal
from playground.inspection.activations import Stage, record
from playground.inspection.edits import norm_module
from playground.inspection.formulas import describe
from playground.model.copies import shadow_copy
from playground.model.transformer import Transformer
from playground.variants import build as build_variant
from playground.words import LANGUAGES, say

SRC, TGT = (4, 5, 6, 4), (7, 5, EOS)  # a repeated token
SIZES = {"D": 16, "H": 4, "K": 4, "F": 24, "V": 9, "S": 5, "T": 3, "L": 8}
OF_LAST = "layers.1.feed_forward.norm"
SMALL = {"d_model": 16, "n_heads": 4, "d_ff": 24, "encoder_layers": 1, "decoder_layers": 1}


def build(seed: int = 1, vocab: int = 9, **knobs) -> Transformer:
    """A model whose every parameter is drawn, biases and norms too, so that nothing is 0 or 1 by chance."""
    model = build_variant(ModelConfig(**{**SMALL, **knobs}), vocab, vocab).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return model


def tensors(src=SRC, tgt=TGT) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([[*src, EOS]]), torch.tensor([[BOS, *tgt[:-1]]])


def same(stage: Stage, tensor: torch.Tensor) -> bool:
    return np.array_equal(stage.values, tensor[0].detach().numpy())


def check(model: Transformer) -> dict[str, Stage]:
    """All that a recording promises, on one model."""
    stages, config = record(model, SRC, TGT), model.config
    output, recorded = model(*tensors()), {}
    twin = shadow_copy(model)
    for name, module in twin.named_modules():
        if name.endswith("W_o"):
            module.register_forward_hook(lambda module, inputs, out, name=name: recorded.update({name: (inputs[0], out)}))
    twin(*tensors())

    for stack, kind, layers in (
        (output.encoder, "encoder.{}.self_attention", config.encoder_layers),
        (output.decoder, "decoder.{}.self_attention", config.decoder_layers),
        (output.cross, "decoder.{}.cross_attention", config.decoder_layers),
    ):
        assert len(stack) == layers
        for n, weights in enumerate(stack):
            at = kind.format(n)
            assert same(stages[f"{at}.weights"], weights)
            received, gave = recorded[f"{at}.W_o"]
            assert [same(stages[f"{at}.{name}"], tensor) for name, tensor in (("concat", received), ("W_o", gave))] == [True, True]
            heads = stages[f"{at}.mixed"].values  # computed again, so that it equals what W_o was given proves it
            assert np.array_equal(heads.transpose(1, 0, 2).reshape(received[0].shape), received[0].detach().numpy())
    whole = {"logits": output.logits, "probabilities": output.logits.softmax(dim=-1), "memory": model.encode(tensors()[0])[0]}
    assert all(same(stages[address], tensor) for address, tensor in whole.items())
    for n in range(config.encoder_layers):
        activated = twin.encoder[n].feed_forward.activation(torch.tensor(stages[f"encoder.{n}.feed_forward.hidden"].values))
        assert np.array_equal(stages[f"encoder.{n}.feed_forward.activated"].values, activated.numpy())

    before = set()
    for address, stage in stages.items():
        assert (stage.address, stage.name) == (address, address.split(".")[-1])
        assert stage.values.shape == tuple(SIZES[letter] for letter in stage.axes), address
        assert stage.values.dtype == (np.int64 if stage.name == "ids" else np.float32)
        assert not stage.values.flags.writeable
        assert before.issuperset(stage.inputs), f"{address} comes before what it is computed from"
        assert inspect.getsource(stage.source).lstrip().startswith("def ")
        assert (stage.mask is not None) == (stage.name in ("masked", "weights"))
        assert stage.mask is None or (stage.mask.shape, stage.mask.dtype) == (stage.values.shape[1:], bool)
        before.add(address)
        if stage.name == "residual":
            assert np.array_equal(stage.values, stages[stage.inputs[0]].values + stages[stage.inputs[1]].values)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert stages["src.ids"].values.tolist() == [*SRC, EOS]
    assert stages["tgt.ids"].values.tolist() == [BOS, *TGT[:-1]]
    return stages


KNOBS = {
    "norm": ("post", "pre", "none"), "positions": ("sinusoidal", "learned", "rotary", "both", "none"),
    "activation": ("relu", "gelu", "none"), "share_embeddings": ("none", "output", "all"), "memory_mode": ("whole", "mean", "cut"),
    "bias": (True, False), "residual": (True, False), "embedding_scale": (True, False), "attention_scale": (0.5, 0.0, 1.0),
    "encoder_layers": (1, 2, 6), "decoder_layers": (1, 3, 5),
}  # fmt: skip


@pytest.mark.night
@pytest.mark.trust
@settings(max_examples=5)
@given(st.fixed_dictionaries({name: st.sampled_from(values) for name, values in KNOBS.items()}))
def test_every_combination_of_options_is_recorded_to_the_bit(knobs):
    stages = check(build(**knobs))
    names = {address.split(".")[-1] for address in stages}
    norm, positions = knobs["norm"], knobs["positions"]
    assert ("residual" in names) == knobs["residual"]
    assert ("src.scaled" in stages) == knobs["embedding_scale"]
    assert ("src.positions" in stages) == (positions in ("sinusoidal", "learned", "both"))
    assert ("encoder.0.self_attention.q_turned" in stages) == (positions in ("rotary", "both"))
    assert ("decoder.0.cross_attention.scaled" in stages) == bool(knobs["attention_scale"])
    assert ("encoder.norm" in stages) == ("decoder.norm" in stages) == (norm == "pre")
    assert ("encoder.0.feed_forward.norm" in stages) == (norm != "none")
    sublayer = [name.rpartition(".")[2] for name in stages if name.startswith("decoder.0.feed_forward.")]
    assert [sublayer[-1], sublayer[0]].index("norm") == ["post", "pre"].index(norm) if norm != "none" else "norm" not in sublayer


def test_cross_attention_reads_the_memory_parts_are_named_and_masks_say_who_may_look():
    stages = record(build(norm="pre"), SRC, TGT)
    at = "decoder.0.cross_attention"
    assert stages[f"{at}.k"].inputs == stages[f"{at}.v"].inputs == ("memory",)
    assert stages[f"{at}.q"].inputs == (f"{at}.norm",)
    assert (stages[f"{at}.scores"].axes, stages["decoder.0.self_attention.scores"].axes) == ("HTS", "HTT")
    assert {stage.part for address, stage in stages.items() if address.startswith(at)} == {"cross"}
    assert stages["src.embedding"].part == stages["memory"].part == "encoder"
    assert stages["encoder.0.self_attention.masked"].mask.all()
    assert stages[f"{at}.weights"].mask.all()
    assert np.array_equal(stages["decoder.0.self_attention.weights"].mask, np.tri(3, dtype=bool))
    for model, target, reason in ((build().train(), TGT, "eval mode"), (build(), (), "target token")):
        with pytest.raises(ValueError, match=reason):
            record(model, SRC, target)


@pytest.mark.trust
@pytest.mark.parametrize("architecture", [name for name, kind in ARCHITECTURES.items() if kind.decoder_only])
def test_one_stack_is_recorded_in_one_pass_which_equals_reading_and_then_writing(architecture):
    for norm, positions in (("post", "sinusoidal"), ("pre", "both")):
        model = build(architecture=architecture, norm=norm, positions=positions)
        stages, (src, tgt_in), s = record(model, SRC, TGT), tensors(), SIZES["S"]
        output = model(src, tgt_in)
        np.testing.assert_allclose(stages["logits"].values, output.logits[0].detach(), atol=1e-5)
        assert np.array_equal(stages["decoder.output"].values, stages["decoder.norm" if norm == "pre" else OF_LAST].values[s:])
        for layer, blocks in enumerate(zip(output.encoder, output.cross, output.decoder, strict=True)):
            stage = stages[f"layers.{layer}.self_attention.weights"]
            source, cross, target = (block[0].detach().numpy() for block in blocks)
            expected = np.block([[source, np.zeros((4, s, 3))], [cross, target]])
            np.testing.assert_allclose(stage.values, expected, atol=1e-5)
            np.testing.assert_allclose(stage.values.sum(axis=-1), 1, atol=1e-6)
            assert np.array_equal(stage.values > 0, np.broadcast_to(stage.mask, stage.values.shape)), "masked is exactly 0"
        for address, stage in stages.items():
            assert stage.values.shape == tuple(SIZES[letter] for letter in stage.axes), address
            result = describe(model.config, stage)
            assert set(result.lines) <= code_lines(result.source), address
            assert 0 < len(result.lines) <= 4, address
    with pytest.raises(Refusal, match="no single sequence"):
        record(build(architecture=architecture, memory_mode="mean"), SRC, TGT)


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
