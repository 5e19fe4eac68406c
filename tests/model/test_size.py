import threading

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.utils.flop_counter import FlopCounterMode

from playground.config import PRESETS, Experiment, ModelConfig, Refusal, limits, preset
from playground.inspection.diagnostics import counted_flops, counted_parameters
from playground.model.costs import CHUNK, admit, flops, is_chunked, parameter_count, parameters, training_bytes
from playground.model.transformer import Transformer

MEGABYTE = 2**20


@pytest.mark.parametrize(("d_model", "words", "peak", "most"), [
    (64, 50, 28, 1.55), (128, 50, 87, 1.55), (256, 50, 260, 1.55), (384, 50, 484, 1.55), (512, 50, 741, 1.55),
    (32, 4000, 67, 1.5), (256, 4000, 304, 1.5), (32, 8000, 86, 1.5), (256, 8000, 361, 1.5),
])  # fmt: skip
def test_a_wide_model_is_admitted_with_what_it_was_seen_to_take(d_model, words, peak, most):
    """Megabytes of a training of 64 pairs of up to 18 tokens, as measured in processes of their own."""
    experiment = Experiment().with_(d_model=d_model, d_ff=4 * d_model, batch_size=64, **{"threads": 1} if words > 50 else {})
    assert 1 <= training_bytes(experiment, words + 4, words + 4, 18) / (peak * MEGABYTE) <= most
    bugged, vocab = experiment.with_(variant="padding_in_loss"), 2 * words
    assert words == 50 or training_bytes(bugged, vocab, vocab, 18) > 1.05 * training_bytes(experiment, vocab, vocab, 18), "all at once"


@pytest.mark.parametrize(("knobs", "available", "name"), [
    ({"batch_size": 4096}, 500, "batch_size"),
    ({"batch_size": 16_000, "batch_unit": "tokens", "d_ff": 2048}, 250, "batch_size"),
    ({"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "batch_size": 8}, 500, "d_model"),
])  # fmt: skip
def test_the_setting_that_is_proposed_fits_and_the_next_one_does_not(knobs, available, name):
    experiment = Experiment().with_(**knobs)
    with pytest.raises(Refusal) as caught:
        admit(experiment, 30, 30, 40, available * MEGABYTE)
    refusal = caught.value
    assert refusal.values["name"] == name
    proposed, step = refusal.values["value"], int(limits(name).step)
    admit(experiment.with_(**{name: proposed}), 30, 30, 40, available * MEGABYTE)
    with pytest.raises(Refusal):
        admit(experiment.with_(**{name: proposed + step}), 30, 30, 40, available * MEGABYTE)
    assert f"{available:,} MB" in str(refusal)


def test_a_batch_is_not_cut_down_below_eight_pairs_and_where_nothing_helps_it_says_so():
    with pytest.raises(Refusal) as caught:
        admit(Experiment().with_(positions="rotary", d_k=1), 30, 30, 40, 3000 * MEGABYTE)
    assert caught.value.key == "model.nothing_to_turn", "a single number has no partner to be turned with"
    for name in PRESETS:
        admit(preset(name), 40, 40, 20, 3000 * MEGABYTE)
    smallest = training_bytes(Experiment().with_(batch_size=8), 30, 30, 40)
    admit(Experiment().with_(batch_size=8), 30, 30, 40, smallest)
    refusals = []
    for experiment, words, longest, available in (
        (Experiment().with_(batch_size=64), 30, 40, smallest),
        (Experiment().with_(batch_size=64), 30, 40, smallest - 1),
        (Experiment(), 8000, 250, MEGABYTE),
    ):
        with pytest.raises(Refusal) as refusal:
            admit(experiment, words, words, longest, available)
        refusals.append(refusal.value)
    assert (refusals[0].values["name"], refusals[0].values["value"]) == ("batch_size", 8)
    assert refusals[1].values.get("name") != "batch_size"
    assert (refusals[2].key, "1 MB" in str(refusals[2])) == ("model.much_too_large", True)
    assert (is_chunked(1, CHUNK), is_chunked(1, CHUNK + 1)) == (False, True)


def small(**options) -> ModelConfig:
    return ModelConfig(**{"d_model": 24, "n_heads": 2, "d_ff": 40, "encoder_layers": 2, "decoder_layers": 1, **options})


KNOBS = {
    name: st.sampled_from(limits(name).choices)
    for name in ("positions", "norm", "activation", "share_embeddings", "memory_mode", "n_heads")
} | {"bias": st.booleans(), "residual": st.booleans(), "d_k": st.sampled_from([0, 1, 32]), "d_ff": st.sampled_from([8, 40])}


@pytest.mark.trust
@settings(max_examples=20)
@given(st.fixed_dictionaries(KNOBS), st.integers(1, 3), st.integers(1, 3), st.integers(1, 12), st.integers(1, 12))
def test_the_formula_counts_what_torch_counts(knobs, encoder_layers, decoder_layers, s, t):
    words = 13 if knobs["share_embeddings"] == "all" else 17
    model = Transformer(small(**knobs, encoder_layers=encoder_layers, decoder_layers=decoder_layers), 13, words)
    formula, tokens = flops(model.config, words, s, t), (torch.full((1, s), 5), torch.full((1, t), 5))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(*tokens)
    assert sum(formula.values()) == counter.get_total_flops()
    assert formula == counted_flops(model, *tokens), "each sublayer, as torch counts it; what is shown of the page's sentence"
    held = counted_parameters(model)
    assert held == parameters(model.config, 13, words)
    assert sum(held.values()) == parameter_count(model.config, 13, words) == sum(parameter.numel() for parameter in model.parameters())
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_what_others_compute_meanwhile_is_not_counted():
    model, tokens, busy = Transformer(small(), 13, 13), torch.full((1, 5), 5), threading.Event()
    alone = counted_flops(model, tokens, tokens)
    other = threading.Thread(target=lambda: [torch.ones(64, 64) @ torch.ones(64, 64) for _ in iter(busy.is_set, True)])
    other.start()
    try:
        assert counted_flops(model, tokens, tokens) == alone
    finally:
        busy.set()
        other.join()
