"""Numbers typed over: an edit equals torch with that number set by hand, and an edit to the value that stands there changes nothing."""


import copy

import numpy as np
import pytest
import torch

from playground.config import BOS, Refusal
from playground.decoding import greedy
from playground.inspection.activations import record
from playground.inspection.edits import FIXED, Edit, apply, check, parse
from tests.inspection.test_activations import SRC, TGT, build, tensors

KINDS = [
    {}, {"norm": "pre", "positions": "rotary", "share_embeddings": "all"}, {"attention_scale": 0.0, "norm": "none"},
    {"architecture": "causal_decoder", "norm": "pre", "positions": "both"},
]  # fmt: skip
OWN, CROSS = "encoder.0.self_attention", "decoder.0.cross_attention"


def cell_of(stage) -> tuple[int, ...]:
    """A cell in the middle of a stage that isn't masked, counted from 0."""
    return tuple(size // 2 if letter in "HDKUFV" else min(1, size - 1) for letter, size in zip(stage.axes, stage.values.shape, strict=True))


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [KINDS[0], *(pytest.param(knobs, marks=pytest.mark.night) for knobs in KINDS[1:])], ids=str)
def test_any_number_can_be_typed_over_and_its_own_value_changes_nothing(knobs):
    """Bit for bit: every stage, for an edit of every stage and of every parameter to what stands there."""
    model = build(**knobs)
    stages = record(model, SRC, TGT)
    assert parse(";".join(map(str, edits := [Edit("memory", (0, 2), (0.5, -1e-7)), Edit("projection.weight", seed=3)]))) == tuple(edits)
    for address, stage in stages.items():
        if stage.name in FIXED:
            continue
        index = cell_of(stage)
        (same,) = parse(str(Edit(address, index, (float(stage.values[index]),))))
        again = record(model, SRC, TGT, [same])
        assert all(np.array_equal(again[name].values, each.values) for name, each in stages.items()), address
        changed = record(model, SRC, TGT, [Edit(address, index, (7.0,))])
        assert changed[address].values[index] == 7, address
        order = [*stages]
        earlier = order[: order.index(address)]
        assert all(np.array_equal(changed[name].values, stages[name].values) for name in earlier if name != "decoder.norm"), address
    everything = [Edit(name, (0,) * tensor.dim(), (tensor.flatten()[0].item(),)) for name, tensor in model.named_parameters()]
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
        edited = apply(model, [Edit(name, index, (5.0,))])
        torch.testing.assert_close(logits_of(edited), logits_of(by_hand), atol=1e-6, rtol=0)
        assert (logits_of(edited) - before).abs().max() > 1e-3
        assert greedy(edited, [SRC], 9)[0].ids == greedy(by_hand, [SRC], 9)[0].ids
    drawn = [apply(model, [Edit("projection.weight", seed=seed)]).tgt_embedding.weight for seed in (7, 7, 8)]
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
        edit = Edit(address, cell, (5.0,))
        torch.testing.assert_close(logits_of(apply(model, [edit])), logits_of(turned), atol=1e-6, rtol=0)
        assert torch.equal(torch.tensor(record(model, SRC, TGT, [edit])["logits"].values), logits_of(apply(model, [edit]))[0])
        hook.remove()
    weights = Edit(f"{CROSS}.weights", (1, 2, 0), (1.0, 0.0, 0.0, 0.0, 0.0))
    stages = record(model, SRC, TGT, [weights])
    assert np.array_equal(stages[f"{CROSS}.mixed"].values[1, 2], stages[f"{CROSS}.v"].values[1, 0]), "all weight is on the first token"
    last, gpt = [("decoder.output", (1, 0)), ("logits", (1, 4))], build(architecture="prefix_decoder")
    cells = [(model, *cell) for cell in (*last, (f"{CROSS}.scores", (0, 1, 2)), ("decoder.0.self_attention.k", (0, 1, 0)))]
    joined = ("joined", (6, 0)), ("src.positions", (1, 0)), ("layers.0.self_attention.scores", (0, 6, 2))
    cells += [(gpt, *cell) for cell in (*last, *joined)]
    for subject, address, cell in cells:
        changed = apply(subject, [Edit(address, cell, (90.0,))])
        written, ids = greedy(changed, [SRC], 6)[0].ids, [BOS]
        for token in written:  # each step computed anew, by the model itself
            assert changed(tensors()[0], torch.tensor([ids])).logits[0, -1].argmax() == token, address
            ids.append(token)


def test_an_edit_that_fits_neither_the_model_nor_the_sentence_is_refused():
    model = build()
    shapes = {address: stage.values.shape for address, stage in record(model, SRC, TGT).items()}
    check(model, shapes, parse("memory:4,15=1;logits:0,0=1,2,3;src_positions.table:0,0=1;projection.bias=r1"))
    for wrong in ("memory:5,0=1", "memory:0,15=1,2", "memory:0=1", "memory=r1", "memories:0,0=1", "projection.bias:9=1", "scores:0,0=1"):
        with pytest.raises(Refusal, match="no " + wrong.split(":")[0].split("=")[0]):
            check(model, shapes, parse(wrong))
    for fixed in ("src.ids:0=4", "probabilities:0,0=1"):
        with pytest.raises(Refusal, match="Nothing to type over"):
            check(model, shapes, parse(fixed))
    with pytest.raises(Refusal, match="1,000,000"):
        parse("memory:0,0=1e9")
