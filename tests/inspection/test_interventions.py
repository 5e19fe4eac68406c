"""Changes to a model do what they say and nothing else; the lens's last row is the model's answer, and votes add up to its logit."""

import copy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import nn

import playground
from playground.config import BOS, EOS, ModelConfig
from playground.data.corpus import Item
from playground.decoding import greedy, trace
from playground.inspection.activations import model_inputs
from playground.inspection.interventions import Change, HeadId, WeightEdit, heads
from playground.inspection.logits import Part, attribute, decided, lens_fact, logit_lens
from playground.inspection.patching import Patch, list_patches, run_patched
from playground.lessons.labs.alignment_head import compare_heads
from playground.model.transformer import Transformer
from playground.tasks.toy_tasks import examples
from tests.inspection.test_activations import build

LESS = {"residual": False, "attention_scale": 0.0, "n_heads": 1}
OTHERS = {}, {"positions": "rotary", "norm": "pre", "encoder_layers": 1}, LESS, {"d_k": 1}
SOME = [{"positions": "both", "bias": False, "n_heads": 2}, *(pytest.param(knobs, marks=pytest.mark.night) for knobs in OTHERS)]
SOURCE, TARGET = [5, 9, 4, 4, 11], [7, 4, 4, 8, 8, EOS]
BATCH = torch.tensor([[5, 9, 4, 4, 11, 2], [6, 7, 2, 0, 0, 0]]), torch.tensor([[1, 7, 4, 4, 8], [1, 5, 5, 0, 0]])


def model(**knobs) -> Transformer:
    return build(vocab=12, **{"encoder_layers": 2, "decoder_layers": 2, **knobs})


def silenced(original: Transformer, off) -> Transformer:
    """The same model with the heads' slices of the columns of W_O set to zero."""
    twin = copy.deepcopy(original)
    width = original.config.d_model // original.config.n_heads
    with torch.no_grad():
        for part, layer, head in off:
            stack = "layers" if original.config.alteration.decoder_only else "encoder" if part == "encoder" else "decoder"
            block = getattr(twin, stack)[layer]
            attention = block.cross_attention if part == "cross" else block.self_attention
            attention.W_o.weight[:, head * width : (head + 1) * width] = 0.0
    return twin


def same(changed: Transformer, other: Transformer, tolerance: float = 0.0) -> None:
    torch.testing.assert_close(changed(*BATCH), other(*BATCH), atol=tolerance, rtol=0)


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [*SOME, {"architecture": "causal_decoder", "positions": "rotary"}], ids=str)
def test_a_head_switched_off_equals_zeroing_its_slice_of_w_o(knobs):
    original = model(**knobs)
    every = heads(original.config)
    groups = [{head} for head in every]
    groups += [{head for head in every if head[:2] == place} for place in {head[:2] for head in every}] + [set(every)]
    before = original(*BATCH).logits
    for off in groups:
        changed, twin = Change(frozenset(off)).apply(original), silenced(original, off)
        same(changed, twin, 1e-6)
        assert not torch.equal(changed(*BATCH).logits, before)
    assert torch.equal(original(*BATCH).logits, before), "the model itself stays as it is"


@pytest.mark.trust
@pytest.mark.parametrize("knobs", SOME, ids=str)
def test_an_edit_that_gives_what_was_there_changes_nothing(knobs):
    original = model(**knobs)
    before = trace(original, SOURCE, TARGET)
    for layer, head in product(range(2), range(original.config.n_heads)):
        for row, column in enumerate((3, 0, 5, 1, 4, 2)):
            edit = WeightEdit(layer, head, row, column, float(before.cross[layer, head, row, column]))
            after = trace(Change(edit=edit).apply(original), SOURCE, TARGET)
            assert abs(after.cross - before.cross).max() < 1e-6
            assert abs(after.probabilities - before.probabilities).max() < 1e-6


@pytest.mark.trust
def test_an_edited_row_adds_up_to_one_and_masking_is_the_models_own_mask():
    """In one layer, what a row looks at is its own affair; a head that looks nowhere in one step is off in that step."""
    original, (layer, head, row) = model(), (1, 2, 3)
    before = trace(original, SOURCE, TARGET).cross
    after = trace(Change(edit=WeightEdit(layer, head, row, 4, 0.75, (0, 5))).apply(original), SOURCE, TARGET).cross
    result = after[layer, head, row]
    assert result[4] == 0.75
    assert (result[[0, 5]] == 0).all()
    assert result.sum() == pytest.approx(1, abs=1e-6)
    rest = before[layer, head, row, [1, 2, 3]]
    assert result[[1, 2, 3]] == pytest.approx(rest / rest.sum() * 0.25, abs=1e-6)
    after[layer, head, row] = before[layer, head, row]
    assert abs(after[:, :, : row + 1] - before[:, :, : row + 1]).max() < 1e-6, "no other row up to this step"
    assert abs(after[: layer + 1] - before[: layer + 1]).max() < 1e-6, "no other row of this layer or one below"
    original = model(decoder_layers=1, n_heads=1, positions="none")
    row, hidden = 2, (3, 4)
    mask = torch.ones(1, 1, 1, 6, dtype=torch.bool)
    mask[..., list(hidden)] = False
    memory, tgt_in = original.encode(torch.tensor([[*SOURCE, EOS]]))[0], torch.tensor([[1, *TARGET[: row + 1]]])
    expected = original.project(original.decode(tgt_in, memory, mask)[0])[0, row].softmax(dim=-1)
    edited = trace(Change(edit=WeightEdit(0, 0, row, masked=hidden)).apply(original), SOURCE, TARGET[: row + 1])
    torch.testing.assert_close(torch.tensor(edited.probabilities[row]), expected, atol=1e-6, rtol=0)
    original, columns = model(decoder_layers=1), range(6)
    only = trace(Change(edit=WeightEdit(0, 1, 2, 3, 0.1, tuple(k for k in columns if k != 3))).apply(original), SOURCE, TARGET)
    assert only.cross[0, 1, 2].tolist() == [0, 0, 0, 1, 0, 0]
    nowhere = trace(Change(edit=WeightEdit(0, 1, 2, masked=tuple(columns))).apply(original), SOURCE, TARGET)
    off, plain = (trace(subject, SOURCE, TARGET).probabilities for subject in (silenced(original, [HeadId("cross", 0, 1)]), original))
    assert not nowhere.cross[0, 1, 2].any()
    assert nowhere.probabilities[1:3] == pytest.approx(np.stack([plain[1], off[2]]), abs=1e-6)


@pytest.mark.parametrize(("memory", "trained"), [("cut", "whole"), ("mean", "whole"), ("whole", "cut"), ("mean", "mean")])
def test_another_memory_is_the_model_with_that_knob(memory, trained):
    original = model(memory_mode=trained)
    twin = copy.deepcopy(original)
    twin.config = replace(twin.config, memory_mode=memory)
    change = Change(memory=memory).within(original.config)
    assert bool(change) == (memory != trained)
    same(change.apply(original), twin)
    assert original.config.memory_mode == trained
    first, other = (trace(change.apply(original), source, TARGET).probabilities for source in (SOURCE, [10, 6, 6, 5, 8]))
    assert (first == other).all() == (memory == "cut")


@pytest.mark.trust
def test_changes_compose():
    original, off = model(), {HeadId("encoder", 1, 0), HeadId("cross", 0, 2), HeadId("cross", 1, 1)}
    twin = silenced(original, off)
    twin.config = replace(twin.config, memory_mode="mean")
    for edit in (WeightEdit(0, 3, 2, 1, 0.5, (0,)), WeightEdit(1, 1, 2, 1)):
        both = trace(Change(frozenset(off), "mean", edit).apply(original), SOURCE, TARGET)
        expected = trace(Change(edit=edit).apply(twin), SOURCE, TARGET)
        assert abs(both.probabilities - expected.probabilities).max() < 1e-6
        assert abs(both.cross - expected.cross).max() < 1e-6


@pytest.mark.parametrize(("text", "read"), [
    ("c2.3_q3_k4-0.5_x6", "c2.3_q3_k4-0.5_x6"), ("c2.3_q3_x6_k4-0.5_x1", "c2.3_q3_k4-0.5_x1_x6"), ("c2.3_q3_k4-1", "c2.3_q3_k4-1"),
    ("c2.3_q3_k4-0", "c2.3_q3_x4"), ("c2.3_q3_k4-0.5_x4", "c2.3_q3_x4"), ("c2.3_q3_k1-0.5_k2-0.25", "c2.3_q3_k2-0.25"),
    ("c2.3_q3_k4-1.5_k4--1_k4-nan_k4-1e9_kx-1_x_x-1_x1234_x１", ""), ("c2.3_q3_k4-0.12345", ""), ("c2.3_q3_" + "_" * 9_999, ""),
    ("x1", ""), ("c2.3_x1", ""), ("q3_x1", ""), ("e2.3_q3_x1", ""), ("c2.3_q1234_x1", ""), ("c0.3_q3_x1", ""), ("c2.3_q-1_x1", ""),
])  # fmt: skip
def test_an_edit_is_read_as_it_is_written_and_what_is_none_is_ignored(text, read):
    edit = WeightEdit.parse(text)
    assert (edit is None, str(edit or "")) == (not read, read)
    assert edit is None or (edit.place, WeightEdit.parse(str(edit))) == ((1, 2, 3), edit)


@settings(max_examples=10)
@given(*[st.text("ce0123.-_kqx１ \ud800", max_size=20)] * 3)
def test_any_text_is_read_and_what_a_model_does_not_have_is_no_change_to_it(off, memory, cells):
    every = heads(ModelConfig())
    assert Change.parse(off, memory, cells).within(ModelConfig()).off <= set(every)
    assert Change.parse("_".join(map(str, every))).off == set(every)
    for text, heads_off in (
        ("c1.3_e2.1", "c1.3 e2.1"), ("c1.3_c1.3", "c1.3"), ("c0.1_c1.0_x1.1_c1_1.1_C1.1_c1.1.1_c１.1", ""), ("c1.3,e2.1", ""),
        ("_c2.2__", "c2.2"), ("c99.99", "c99.99"), ("c1.1 ", ""), ("c1.1_" * 10_000, "c1.1"),
    ):  # fmt: skip
        assert sorted(map(str, Change.parse(text).off)) == heads_off.split(), text
    requests = Change.parse("e1.2_e2.1_c1.3_c2.2", "whole", "c3.1_q0_k1-0.5")
    small = ModelConfig(encoder_layers=1, decoder_layers=2, n_heads=2)
    assert requests.within(small) == Change(frozenset({HeadId("encoder", 0, 1), HeadId("cross", 1, 1)}))
    assert Change.parse("", "nothing").memory is None
    assert WeightEdit.parse("c1.1_q0_k7-0.5_x1_x9").within(6) == WeightEdit(0, 0, 0, masked=(1,))


GPT = {"architecture": "causal_decoder", "encoder_layers": 1, "decoder_layers": 2}
READ, WROTE = [5, 6, 7, 4, 9], [7, 4, 4, 8, 2]


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [{}, {"norm": "pre"}, {"positions": "both", "bias": False}, {"share_embeddings": "output"}, GPT], ids=str)
def test_the_last_row_is_the_models_own_answer(knobs):
    model = build(vocab=12, **{"decoder_layers": 3} | knobs)
    answer = logit_lens(model, READ, WROTE)
    assert answer.shape == (4, 5, 12)
    np.testing.assert_array_equal(answer[-1], trace(model, READ, WROTE).probabilities)
    np.testing.assert_allclose(answer.sum(axis=-1), 1, atol=1e-5)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    with pytest.raises(ValueError):
        logit_lens(model, READ, [])


@torch.inference_mode()
def test_each_row_is_a_model_that_ends_there_and_a_step_is_decided_where_its_token_comes_to_stay():
    model = build(vocab=12, decoder_layers=3, norm="pre")
    answer = logit_lens(model, READ, WROTE)
    for layers in (3, 2, 1):
        model.decoder = model.decoder[:layers]
        np.testing.assert_allclose(trace(model, READ, WROTE).probabilities, answer[layers], atol=1e-6)
    for lines, places, values in (
        (("0120", "1122", "1120"), [1, 0, 0, 2], {"layer": 0, "steps": 2, "all": 4, "early": 2}),  # step 3 left and came back at the end
        (("33", "00", "00"), [1, 1], {"layer": 1, "steps": 2, "all": 2, "early": 0}),
    ):  # fmt: skip
        answer = 0.1 + 0.6 * np.eye(4)[[[int(token) for token in line] for line in lines]]
        assert (decided(answer).tolist(), lens_fact(answer).values) == (places, values)


KNOBS = (
    {}, {"norm": "none", "activation": "none"}, {"positions": "both", "bias": False}, {"share_embeddings": "output", "norm": "pre"},
    {"positions": "rotary", "embedding_scale": False, "residual": False, "memory_mode": "mean"},
)  # fmt: skip


def make(**knobs) -> Transformer:
    return build(seed=4, vocab=12, **{"n_heads": 2, "decoder_layers": 2} | knobs)


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [*KNOBS, GPT | {"positions": "learned", "norm": "pre"}, GPT | {"memory_mode": "mean"}], ids=str)
def test_votes_add_up_to_the_logit_difference(knobs):
    model = make(**knobs)
    result = attribute(model, READ, WROTE)
    with torch.inference_mode():
        expected = model(*model_inputs(READ, WROTE)).logits[0].numpy()  # (T, V)
    heads = [Part(kind, layer, head) for layer in range(2) for kind in ("decoder", "cross") for head in range(2)]
    parts = {Part("embedding"), Part("positions"), *heads, Part("feed_forward", 0), Part("feed_forward", 1), Part("biases")}
    assert knobs or set(result.parts) == parts, "one for everything that writes"
    near = max(1e-4, 2e-7 * float(np.abs(expected).max()))  # without norms logits are thousands, in float32
    for at in range(len(WROTE)):
        for token, other in ((4, 5), (0, 10)):
            assert result.votes(at, token, other).sum() == pytest.approx(expected[at, token] - expected[at, other], abs=near)
            np.testing.assert_allclose(result.path(at, token, other)[-1], (expected[at] - expected[at].mean())[[token, other]], atol=near)


def added(model: Transformer, module: str, head: int | None) -> np.ndarray:
    """Computes the share of one part in the logit of 4 over that of 5 where all norms and sublayers are frozen: autograd has the slope."""
    states, hooks = {}, []

    def held(norm, inputs, _):
        (x,) = inputs
        scale = (x.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt().detach()
        return (x - x.mean(dim=-1, keepdim=True)) / scale * norm.weight + (0 if norm.bias is None else norm.bias)

    def frozen(part, _, output):
        out, *weights = output if isinstance(output, tuple) else (output,)
        states[part] = out.detach().requires_grad_()
        return (states[part], *weights) if weights else states[part]

    for name, part in model.named_modules():
        if name.startswith("decoder") and (isinstance(part, nn.LayerNorm) or name.endswith(("attention", "feed_forward"))):
            hooks.append(part.register_forward_hook(held if isinstance(part, nn.LayerNorm) else frozen))
    last = model.get_submodule(f"{module}.{'W_2' if head is None else 'W_o'}")
    hooks.append(last.register_forward_pre_hook(lambda _, inputs: states.update(given=inputs[0].detach().clone())))
    values = model(*model_inputs(READ, WROTE)).logits[0]
    for hook in hooks:
        hook.remove()
    inner = states["given"]
    if head is not None:
        width = inner.shape[-1] // model.config.n_heads
        inner[..., : head * width] = inner[..., (head + 1) * width :] = 0
    (slope,) = torch.autograd.grad((values[:, 4] - values[:, 5]).sum(), states[model.get_submodule(module)])
    return (slope * (inner @ last.weight.T)).sum(dim=-1)[0].detach().numpy()


@pytest.mark.trust
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_vote_is_what_is_missing_when_the_part_is_left_out_of_the_frozen_sum(norm):
    model = make(norm=norm)
    result = attribute(model, READ, WROTE)
    for part, module in (
        (Part("decoder", 0, 1), "decoder.0.self_attention"), (Part("cross", 1, 0), "decoder.1.cross_attention"),
        (Part("feed_forward", 0), "decoder.0.feed_forward"),
    ):
        votes = [result.votes(at, 4, 5)[result.parts.index(part)] for at in range(len(WROTE))]
        assert votes == pytest.approx(added(model, module, part.head), abs=1e-4), part
    assert not any(module._forward_hooks for module in model.modules())
    with pytest.raises(ValueError):
        attribute(model, READ, [])


CLEAN, CORRUPTED, PREFIX = [5, 9, 4, 4, 11], [5, 9, 8, 4, 3], [7, 4, 6]


def logits_of(original, source):
    return original(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *PREFIX]])).logits[0, -1]


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [*SOME, {"architecture": "prefix_decoder", "norm": "pre"}], ids=str)
def test_everything_patched_is_the_clean_run_and_nothing_patched_the_corrupted_one(knobs):
    original = model(**knobs)
    grids = list_patches(original.config, len(CLEAN) + 1, len(PREFIX) + 1)
    every = [patch for grid in grids.values() for row in grid for patch in row]
    newest = grids["target"][-1][-1]
    whole = [grids["source"][-1], grids["source"][0]] if "source" in grids else [grids["target"][0]]  # memory and embeddings
    clean, corrupted, *patched = run_patched(original, CLEAN, CORRUPTED, PREFIX, [every, [], [newest], *whole])
    expected = [logits_of(original, source) for source in (CLEAN, CORRUPTED, CLEAN, CORRUPTED, CLEAN, *[CLEAN] * len(whole))]
    for logits, wanted in zip((clean, corrupted, *patched), expected, strict=True):
        torch.testing.assert_close(logits, wanted, atol=2e-6, rtol=0)
    assert (clean - corrupted).abs().max() > 1e-3, "else nothing is tested"


@pytest.mark.trust
@pytest.mark.parametrize("head", [0, 1])
def test_a_patched_head_equals_hooks_by_hand(head):
    original = model(n_heads=2)
    twin, name, clean, width = copy.deepcopy(original), "decoder.1.cross_attention", {}, original.config.d_model // 2
    hook = twin.get_submodule(f"{name}.W_o").register_forward_pre_hook(lambda module, inputs: clean.update(heads=inputs[0]))
    logits_of(twin, CLEAN)
    hook.remove()
    own = slice(head * width, (head + 1) * width)
    twin.get_submodule(f"{name}.W_o").register_forward_pre_hook(
        lambda module, inputs: (torch.cat((inputs[0][..., : own.start], clean["heads"][..., own], inputs[0][..., own.stop :]), dim=-1),)
    )
    patched = run_patched(original, CLEAN, CORRUPTED, PREFIX, [[Patch(f"{name}.W_o", head=head)]])[2]
    torch.testing.assert_close(patched, logits_of(twin, CORRUPTED), atol=2e-6, rtol=0)
    assert (patched - logits_of(original, CORRUPTED)).abs().max() > 1e-4


SHIPPED = {"reverse": ((1, 2), 0.46), "sort": ((0, 2), 0.52), "numbers_zh": ((0, 3), 0.71)}


@pytest.mark.parametrize("name", ["numbers_zh", *(pytest.param(name, marks=pytest.mark.night) for name in ("reverse", "sort"))])
def test_patching_finds_the_alignment_head_of_shipped_runs(name):
    loaded = playground.load(name)
    (src, tgt), data = loaded.tokenizers, loaded.run.settings
    drawn = examples(data["task"], "heldout", 40, data["data_seed"])
    items = [Item(each.src, each.tgt, tuple(src.encode(each.src)), tuple(tgt.encode(each.tgt)), each.alignment) for each in drawn]
    restored, weight = compare_heads(loaded.model, items)
    head, share = SHIPPED[name]
    assert (np.unravel_index(restored.argmax(), restored.shape), restored[head]) == (head, pytest.approx(share, abs=0.01))
    aligned = np.unravel_index(weight.argmax(), weight.shape)
    assert aligned == ((0, 2) if name == "numbers_zh" else head), "in numbers_zh another head's weights are on the right digit"


@pytest.mark.parametrize(("norm", "row"), [("post", 0), ("pre", 2), ("post", 200)])
def test_an_edit_is_the_same_with_the_cache_and_without(norm, row):
    changed = Change(edit=WeightEdit(1, 0, row, 1, 0.9, (0, 2))).apply(model(norm=norm))
    with_cache, without = (greedy(changed, [SOURCE], 12, cache=cache)[0] for cache in (True, False))
    assert with_cache.ids == without.ids
    assert with_cache.logprobs == pytest.approx(without.logprobs, abs=1e-5)
    again = trace(changed, SOURCE, with_cache.ids).probabilities[range(len(with_cache.ids)), list(with_cache.ids)]
    assert torch.tensor(with_cache.logprobs).exp().tolist() == pytest.approx(again.tolist(), abs=1e-5)
