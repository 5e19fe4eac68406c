"""Patching all gives the clean run and patching nothing the corrupted one, and a head's patch is what hooks by hand give."""

import copy

import numpy as np
import pytest
import torch

import playground
from playground.config import BOS, EOS
from playground.data.corpus import Item
from playground.inspection.patching import Patch, list_patches, run_patched
from playground.lessons.labs.alignment_head import compare_heads
from playground.tasks.toy_tasks import examples
from tests.inspection.test_interventions import SOME, model

CLEAN, CORRUPTED, PREFIX = [5, 9, 4, 4, 11], [5, 9, 8, 4, 3], [7, 4, 6]


def logits_of(original, source):
    return original(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *PREFIX]])).logits[0, -1]


@pytest.mark.trust
@pytest.mark.parametrize("knobs", SOME, ids=str)
def test_everything_patched_is_the_clean_run_and_nothing_patched_the_corrupted_one(knobs):
    original = model(**knobs)
    grids = list_patches(original.config, len(CLEAN) + 1, len(PREFIX) + 1)
    every = [patch for grid in grids.values() for row in grid for patch in row]
    newest, memory = grids["target"][-1][-1], grids["source"][-1]
    clean, corrupted, *patched = run_patched(original, CLEAN, CORRUPTED, PREFIX, [every, [], [newest], memory, grids["source"][0]])
    expected = [logits_of(original, source) for source in (CLEAN, CORRUPTED, CLEAN, CORRUPTED, CLEAN, CLEAN, CLEAN)]
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


@pytest.mark.parametrize("name", SHIPPED)
def test_patching_finds_the_alignment_head_of_shipped_runs(name):
    loaded = playground.load(name)
    (src, tgt), data = loaded.tokenizers, loaded.run.settings
    drawn = examples(data["task"], "heldout", 40, data["data_seed"])
    items = [Item(each.src, each.tgt, tuple(src.encode(each.src)), tuple(tgt.encode(each.tgt)), each.alignment) for each in drawn]
    restored, weight = compare_heads(loaded.model, items)
    head, share = SHIPPED[name]
    assert np.unravel_index(restored.argmax(), restored.shape) == head
    assert restored[head] == pytest.approx(share, abs=0.01)
    aligned = np.unravel_index(weight.argmax(), weight.shape)
    assert aligned == ((0, 2) if name == "numbers_zh" else head), "in numbers_zh another head's weights are on the right digit"
