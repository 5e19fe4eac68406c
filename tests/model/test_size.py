import itertools

import pytest
import torch

from playground.config import PRESETS, Experiment, ModelConfig, Refusal, limits, preset
from playground.model.size import admit, moved_by, parameter_count, training_bytes
from playground.model.transformer import Transformer
from tests.thoroughness import every_case

MEGABYTE = 2**20


@every_case(("encoder_layers", "decoder_layers"), [(1, 1), (3, 2)])
@every_case("share", limits("share_embeddings").choices)
def test_parameter_count_is_the_models(share, encoder_layers, decoder_layers):
    src_vocab, tgt_vocab = (13, 13) if share == "all" else (13, 17)
    for norm, positions, bias in itertools.product(limits("norm").choices, limits("positions").choices, (True, False)):
        config = ModelConfig(
            d_model=24, d_ff=40, norm=norm, positions=positions, bias=bias, share_embeddings=share,
            encoder_layers=encoder_layers, decoder_layers=decoder_layers,
        )  # fmt: skip
        model = Transformer(config, src_vocab, tgt_vocab)
        assert parameter_count(config, src_vocab, tgt_vocab) == sum(p.numel() for p in model.parameters()), config


def test_the_papers_base_model_has_about_65_million_parameters():
    """Table 3: 65 million, with a shared vocabulary of about 37,000 tokens (section 5.1)."""
    config = ModelConfig(d_model=512, n_heads=8, encoder_layers=6, decoder_layers=6, d_ff=2048, share_embeddings="all")
    assert round(parameter_count(config, 37_000, 37_000) / 1e6) in (63, 64, 65)


def kept_bytes(experiment: Experiment, src_vocab: int, tgt_vocab: int, longest: int) -> int:
    """Measured: parameters, their copy, gradients, what the optimiser keeps, and every tensor that is kept for the backward pass."""
    model, rows = Transformer(experiment.model, src_vocab, tgt_vocab), experiment.training.batch_size
    held = sum((3 + rule.moments) * count for rule, count in moved_by(experiment, src_vocab, tgt_vocab))
    own = {p.data_ptr() for p in model.parameters()}
    kept: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    src, tgt = torch.full((rows, longest), 5), torch.full((rows, longest), 5)
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        logits = model(src, tgt).logits
        loss = logits.log_softmax(-1).square().mean()
    del loss
    return 4 * held + sum(kept.values())


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "knobs",
    [
        {},
        {"dropout": 0.1},
        {"norm": "pre", "positions": "both", "activation": "gelu"},
        {"d_model": 128, "n_heads": 8, "d_ff": 64},
        {"encoder_layers": 4, "decoder_layers": 1, "batch_size": 128},
    ],
)
def test_the_estimate_covers_what_is_kept_and_is_no_wild_guess(knobs):
    experiment = Experiment().with_(**{"batch_size": 64, **knobs})
    estimate, measured = training_bytes(experiment, 30, 30, 40), kept_bytes(experiment, 30, 30, 40)
    assert measured <= estimate <= 2 * measured


@pytest.mark.parametrize(("d_model", "peak"), [(64, 28), (128, 87), (256, 260), (384, 484), (512, 741)])
def test_a_wide_model_is_admitted_with_what_it_was_seen_to_take(d_model, peak):
    """Megabytes of a training of 64 pairs of up to 18 tokens and 54 words (`benchmarks.forecast`)."""
    experiment = Experiment().with_(d_model=d_model, d_ff=4 * d_model, batch_size=64)
    assert 1 <= training_bytes(experiment, 54, 54, 18) / (peak * MEGABYTE) <= 1.55


@pytest.mark.parametrize(("d_model", "words", "peak"), [(32, 4000, 67), (256, 4000, 304), (32, 8000, 86), (256, 8000, 361)])
def test_so_is_one_whose_logits_are_never_there_all_at_once(d_model, words, peak):
    experiment = Experiment().with_(d_model=d_model, d_ff=4 * d_model, batch_size=64, threads=1)
    assert 1 <= training_bytes(experiment, words + 4, words + 4, 18) / (peak * MEGABYTE) <= 1.5
    bugged = experiment.with_(variant="padding_in_loss")
    assert training_bytes(bugged, 2 * words, 2 * words, 18) > 1.05 * training_bytes(experiment, 2 * words, 2 * words, 18), "all at once"


def test_all_presets_fit_a_small_machine():
    for name in PRESETS:
        admit(preset(name), 40, 40, 20, 3000 * MEGABYTE)


@pytest.mark.parametrize(
    ("knobs", "available", "name"),
    [
        ({"batch_size": 4096}, 500, "batch_size"),
        ({"batch_size": 16_000, "batch_unit": "tokens", "d_ff": 2048}, 250, "batch_size"),
        ({"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "batch_size": 8}, 500, "d_model"),
    ],
)
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
    for language in ("en", "zh"):
        assert f"{proposed}" in refusal.say(language)
        assert f"{available:,} MB" in refusal.say(language)


def test_where_nothing_helps_it_says_so():
    with pytest.raises(Refusal) as refusal:
        admit(Experiment(), 8000, 8000, 250, MEGABYTE)
    assert refusal.value.key == "model.much_too_large"
    assert "1 MB" in str(refusal.value)


@every_case("positions", limits("positions").choices)
def test_rotary_positions_are_refused_where_a_query_is_one_number(positions):
    """A single number has no partner to be turned with: the model would learn as if nobody had chosen positions."""
    alone_in = ({"d_k": 1}, {"d_model": 8, "n_heads": 8})
    for knobs in (*alone_in, {"d_k": 2}, {"d_model": 24, "n_heads": 8}):
        experiment = Experiment().with_(positions=positions, **knobs)
        if knobs in alone_in and experiment.model.encoding.rotary:
            with pytest.raises(Refusal) as caught:
                admit(experiment, 30, 30, 40, 3000 * MEGABYTE)
            assert caught.value.key == "model.nothing_to_turn"
        else:
            admit(experiment, 30, 30, 40, 3000 * MEGABYTE)
