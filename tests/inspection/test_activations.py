"""Every stage holds the running model's numbers to the last bit, with formula and code; an edit equals torch with that number set."""

import ast
import copy
import inspect
import textwrap

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.choices import ARCHITECTURES
from playground.config import BOS, EOS, ModelConfig, Refusal
from playground.decoding import greedy
from playground.inspection.activations import Stage, record
from playground.inspection.edits import FIXED, TensorEdit, apply, check as check_edits, norm_module, parse
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
    assert (stages["src.ids"].values.tolist(), stages["tgt.ids"].values.tolist()) == ([*SRC, EOS], [BOS, *TGT[:-1]])
    return stages


KNOBS = {
    "norm": ("post", "pre", "none"), "positions": ("sinusoidal", "learned", "rotary", "both", "none"),
    "activation": ("relu", "gelu", "none"), "share_embeddings": ("none", "output", "all"), "memory_mode": ("whole", "mean", "cut"),
    "bias": (True, False), "residual": (True, False), "embedding_scale": (True, False), "attention_scale": (0.5, 0.0, 1.0),
    "encoder_layers": (1, 2, 6), "decoder_layers": (1, 3, 5),
}  # fmt: skip


@pytest.mark.trust
@settings(max_examples=5)
@given(st.fixed_dictionaries({name: st.sampled_from(values) for name, values in KNOBS.items()}))
def test_every_combination_of_options_is_recorded_to_the_bit(knobs):
    stages = check(build(**knobs))
    names = {address.split(".")[-1] for address in stages}
    norm, positions = knobs["norm"], knobs["positions"]
    assert ("residual" in names, "src.scaled" in stages) == (knobs["residual"], knobs["embedding_scale"])
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


EDITED = [
    {}, {"norm": "pre", "positions": "rotary", "share_embeddings": "all"}, {"attention_scale": 0.0, "norm": "none"},
    {"architecture": "causal_decoder", "norm": "pre", "positions": "both"},
]  # fmt: skip
OWN, CROSS = "encoder.0.self_attention", "decoder.0.cross_attention"


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [EDITED[0], *(pytest.param(knobs, marks=pytest.mark.night) for knobs in EDITED[1:])], ids=str)
def test_any_number_can_be_typed_over_and_its_own_value_changes_nothing(knobs):
    """Bit for bit: every stage, for an edit of every stage and of every parameter to what stands there."""
    model = build(**knobs)
    stages = record(model, SRC, TGT)
    edits = (TensorEdit("memory", (0, 2), (0.5, -1e-7)), TensorEdit("projection.weight", seed=3))
    assert parse(";".join(map(str, edits))) == edits
    for address, stage in stages.items():
        if stage.name in FIXED:
            continue
        sizes = zip(stage.axes, stage.values.shape, strict=True)  # a cell in the middle that isn't masked
        index = tuple(size // 2 if letter in "HDKUFV" else min(1, size - 1) for letter, size in sizes)
        (same,) = parse(str(TensorEdit(address, index, (float(stage.values[index]),))))
        again = record(model, SRC, TGT, [same])
        assert all(np.array_equal(again[name].values, each.values) for name, each in stages.items()), address
        changed = record(model, SRC, TGT, [TensorEdit(address, index, (7.0,))])
        assert changed[address].values[index] == 7, address
        order = [*stages]
        earlier = order[: order.index(address)]
        assert all(np.array_equal(changed[name].values, stages[name].values) for name in earlier if name != "decoder.norm"), address
    everything = [TensorEdit(name, (0,) * tensor.dim(), (tensor.flatten()[0].item(),)) for name, tensor in model.named_parameters()]
    again = record(model, SRC, TGT, everything)
    assert all(np.array_equal(again[name].values, each.values) for name, each in stages.items())


def logits_of(model) -> torch.Tensor:
    with torch.no_grad():
        return model(*tensors()).logits


@pytest.mark.trust
def test_an_edit_of_a_parameter_equals_torch_with_that_number_set_by_hand():
    """Also of a matrix that two modules share; the model itself keeps its numbers, and undoing all is that model."""
    model = build(share_embeddings="output")
    before, own = logits_of(model), {name: tensor.clone() for name, tensor in model.named_parameters()}
    for name, index in ((f"{OWN}.W_q.weight", (3, 5)), ("projection.weight", (7, 2)), ("decoder.0.norm_2.bias", (4,))):
        by_hand = copy.deepcopy(model)
        with torch.no_grad():
            by_hand.get_parameter(name)[index] = 5.0
        edited = apply(model, [TensorEdit(name, index, (5.0,))])
        torch.testing.assert_close(logits_of(edited), logits_of(by_hand), atol=1e-6, rtol=0)
        assert (logits_of(edited) - before).abs().max() > 1e-3
        assert greedy(edited, [SRC], 9)[0].ids == greedy(by_hand, [SRC], 9)[0].ids
    drawn = [apply(model, [TensorEdit("projection.weight", seed=seed)]).tgt_embedding.weight for seed in (7, 7, 8)]
    assert (torch.equal(*drawn[:2]), torch.equal(*drawn[1:])) == (True, False)
    assert apply(model, ()) is model
    assert torch.equal(logits_of(model), before)
    assert all(torch.equal(tensor, own[name]) for name, tensor in model.named_parameters())


def set_by_hand(x: torch.Tensor, index: tuple) -> torch.Tensor:
    x = x.clone()
    x[(slice(None), *index)] = 5.0
    return x


@pytest.mark.trust
def test_an_edit_of_an_activation_equals_a_forward_hook_by_hand_and_decoding_follows():
    model, turned = build(), copy.deepcopy(build())
    hooks = {  # address, cell -> module, index into its output
        ("src.positions", (1, 3)): ("src_positions", (1, 3)),
        (f"{CROSS}.v", (2, 4, 1)): (f"{CROSS}.W_v", (4, 9)),  # head 2 of 4 columns each
        ("decoder.0.feed_forward.W_2", (0, 6)): ("decoder.0.feed_forward.W_2", (0, 6)),
    }
    for (address, cell), (module, index) in hooks.items():
        hook = turned.get_submodule(module).register_forward_hook(lambda module, inputs, output, index=index: set_by_hand(output, index))
        edit = TensorEdit(address, cell, (5.0,))
        torch.testing.assert_close(logits_of(apply(model, [edit])), logits_of(turned), atol=1e-6, rtol=0)
        assert torch.equal(torch.tensor(record(model, SRC, TGT, [edit])["logits"].values), logits_of(apply(model, [edit]))[0])
        hook.remove()
    weights = TensorEdit(f"{CROSS}.weights", (1, 2, 0), (1.0, 0.0, 0.0, 0.0, 0.0))
    stages = record(model, SRC, TGT, [weights])
    assert np.array_equal(stages[f"{CROSS}.mixed"].values[1, 2], stages[f"{CROSS}.v"].values[1, 0]), "all weight is on the first token"
    last, gpt = [("decoder.output", (1, 0)), ("logits", (1, 4))], build(architecture="prefix_decoder")
    cells = [(model, *cell) for cell in (*last, (f"{CROSS}.scores", (0, 1, 2)), ("decoder.0.self_attention.k", (0, 1, 0)))]
    joined = ("joined", (6, 0)), ("src.positions", (1, 0)), ("layers.0.self_attention.scores", (0, 6, 2))
    cells += [(gpt, *cell) for cell in (*last, *joined)]
    for subject, address, cell in cells:
        changed = apply(subject, [TensorEdit(address, cell, (90.0,))])
        written, ids = greedy(changed, [SRC], 6)[0].ids, [BOS]
        for token in written:  # each step computed anew, by the model itself
            assert changed(tensors()[0], torch.tensor([ids])).logits[0, -1].argmax() == token, address
            ids.append(token)


def test_an_edit_that_fits_neither_the_model_nor_the_sentence_is_refused():
    model = build()
    shapes = {address: stage.values.shape for address, stage in record(model, SRC, TGT).items()}
    check_edits(model, shapes, parse("memory:4,15=1;logits:0,0=1,2,3;src_positions.table:0,0=1;projection.bias=r1"))
    for wrong in ("memory:5,0=1", "memory:0,15=1,2", "memory:0=1", "memory=r1", "memories:0,0=1", "projection.bias:9=1", "scores:0,0=1"):
        with pytest.raises(Refusal, match="no " + wrong.split(":")[0].split("=")[0]):
            check_edits(model, shapes, parse(wrong))
    for fixed in ("src.ids:0=4", "probabilities:0,0=1"):
        with pytest.raises(Refusal, match="Nothing to type over"):
            check_edits(model, shapes, parse(fixed))
    with pytest.raises(Refusal, match="1,000,000"):
        parse("memory:0,0=1e9")
