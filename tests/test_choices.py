"""A new choice is one declaration: a made-up encoding and a made-up optimiser work wherever somebody asks about them."""

import numpy as np
import pytest

from playground.choices import OPTIMISERS, Encoding
from playground.config import Experiment, ModelConfig, Refusal, TrainingConfig
from playground.inspection.activations import record
from playground.inspection.formulas import about
from playground.model import positions
from playground.model.positions import LearnedPositions
from playground.model.size import moved_by, parameter_count, training_bytes
from playground.model.sublayers import parameters, sublayer_of
from playground.model.transformer import Transformer
from playground.training.optimisers import MAKERS
from playground.variants import build
from playground.words import LANGUAGES
from tests.decoding.test_fast_decoder import TGT as WRITTEN
from tests.decoding.test_fast_decoder import assert_step_by_step, is_stock_model
from tests.inspection.test_activations import SRC, TGT
from tests.inspection.test_activations import build as wide
from tests.inspection.test_activations import check as check_stages
from tests.inspection.test_derivation import build as small
from tests.inspection.test_derivation import check as check_cell
from tests.made_up import declare_encoding, declare_optimiser
from tests.model.shared_copies import disturb
from tests.model.test_transformer import SRC as SOURCES
from tests.model.test_transformer import build as model_of
from tests.training.corpora import training_of


@pytest.fixture
def learned_rotary(monkeypatch):
    return declare_encoding(monkeypatch)


@pytest.fixture
def sgd(monkeypatch):
    return declare_optimiser(monkeypatch)


def test_a_new_encoding_is_recorded_and_every_cell_of_it_derived(learned_rotary):
    check_stages(wide(positions=learned_rotary, norm="pre"))
    model = small(positions=learned_rotary, norm="pre")
    stages = record(model, SRC, TGT)
    assert {"src.positions", "tgt.positions", "encoder.0.self_attention.q_turned", "decoder.0.self_attention.k_turned"} <= stages.keys()
    for address, stage in stages.items():
        assert about(model.config, stage).lines, address
        for index in np.ndindex(stage.values.shape):
            derived = check_cell(model, stages, address, index)
            if stage.name == "positions":
                assert derived.key == "map.formula_positions_learned"
                assert [step.key for step in derived.steps] == ["map.why_position"], "a learnt table has no waves"


def test_a_new_encoding_is_decoded_fast_and_costs_what_torch_counts(learned_rotary):
    model = disturb(model_of(positions=learned_rotary)).eval()
    assert is_stock_model(model)
    assert_step_by_step(model, SOURCES, WRITTEN)
    config = ModelConfig(d_model=24, d_ff=40, positions=learned_rotary, bias=False)
    counts = dict.fromkeys(parameters(config, 13, 17), 0)
    for name, parameter in Transformer(config, 13, 17).named_parameters():
        counts[sublayer_of(name)] += parameter.numel()
    assert parameters(config, 13, 17) == counts
    assert parameter_count(config, 13, 17) == sum(counts.values())


def test_what_is_declared_in_part_or_not_at_all_is_refused(monkeypatch, sgd):
    waves = declare_encoding(monkeypatch, "waves", Encoding("waves"))
    monkeypatch.delitem(MAKERS, sgd)
    for ask, key in (
        (lambda: Transformer(ModelConfig(positions=waves), 9, 9), "model.no_positions"),
        (lambda: training_bytes(Experiment(ModelConfig(positions=waves)), 9, 9, 20), "model.no_positions"),
        (lambda: training_of(optimiser=sgd), "config.not_a_choice"),
        *((lambda act=act: act("nobody's"), "config.not_a_choice") for act in (
            lambda name: parameter_count(ModelConfig(positions=name), 9, 9), lambda name: build(ModelConfig(variant=name), 9, 9),
            lambda name: training_bytes(Experiment(training=TrainingConfig(optimiser=name)), 9, 9, 20),
        )),
    ):  # fmt: skip
        with pytest.raises(Refusal) as refusal:
            ask()
        assert refusal.value.key == key
        assert all(refusal.value.say(language) for language in LANGUAGES)
    monkeypatch.setitem(positions.ADDED, "waves", LearnedPositions)
    model = small(positions=waves)
    with pytest.raises(Refusal) as refusal:
        about(model.config, record(model, SRC, TGT)["src.positions"])  # never as a sinusoid
    assert refusal.value.key == "map.no_formula"


@pytest.mark.parametrize("name", [*OPTIMISERS, "sgd"])
def test_what_an_optimiser_keeps_is_what_is_declared(sgd, name):
    """Moments as large as their parameters; a counter of steps is none."""
    for knobs in ({"positions": "learned", "share_embeddings": "all"}, {"bias": False, "norm": "pre", "d_ff": 8}):
        training = training_of(optimiser=name, learning_rate=0.01, **knobs)
        next(training.steps())
        moments = sum(tensor.numel() for tensor in training.optimiser.state().values() if tensor.ndim)
        moved = moved_by(training.experiment, training.corpus.src_tokenizer.size, training.corpus.tgt_tokenizer.size)
        assert moments == sum(rule.moments * count for rule, count in moved)
        assert sum(count for _, count in moved) == sum(parameter.numel() for parameter in training.model.parameters())


def test_a_new_optimiser_teaches_and_can_be_taken_up_again(sgd):
    knobs = {"optimiser": sgd, "steps": 60, "learning_rate": 0.3}
    losses = [step.loss for step in training_of(**knobs).steps()]
    assert max(losses[-10:]) < min(losses[:5])
    half, resumed = training_of(**knobs), training_of(**knobs)
    for _ in zip(range(30), half.steps(), strict=False):
        pass
    resumed.unpack(*half.pack())
    assert [step.loss for step in resumed.steps()] == losses[30:]
