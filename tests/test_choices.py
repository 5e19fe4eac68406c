"""A new choice is one declaration: a made-up encoding and a made-up optimiser work wherever somebody asks about them."""

import numpy as np
import pytest

from playground.choices import ENCODINGS, OPTIMISERS, VARIANTS, Encoding, UpdateRule
from playground.config import Experiment, ModelConfig, Refusal, TrainingConfig, limits
from playground.inspection import formulas
from playground.inspection.activations import record
from playground.inspection.derivation import KINDS
from playground.inspection.formulas import about
from playground.model import positions
from playground.model.positions import ADDED, LearnedPositions
from playground.model.size import moved_by, parameter_count, training_bytes
from playground.model.sublayers import parameters, sublayer_of
from playground.model.transformer import Transformer
from playground.training.optimisers import MAKERS, Optimiser
from playground.training.work import step_work
from playground.variants import build
from playground.words import LANGUAGES, known
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
from tests.training.corpora import tiny, training_of


@pytest.fixture
def learned_rotary(monkeypatch):
    return declare_encoding(monkeypatch)


@pytest.fixture
def waves(monkeypatch):
    """An encoding that adds what no module does."""
    return declare_encoding(monkeypatch, "waves", Encoding("waves"))


@pytest.fixture
def sgd(monkeypatch):
    return declare_optimiser(monkeypatch)


def test_the_knobs_offer_what_is_declared():
    assert limits("positions").choices == tuple(ENCODINGS)
    assert limits("optimiser").choices == tuple(OPTIMISERS) == tuple(MAKERS)
    assert limits("variant").choices == tuple(VARIANTS)


# --- a positional encoding ---


def test_every_sort_of_positions_can_be_built_derived_and_said():
    """And what an encoding may add is one of them."""
    sorts = {f"positions_{added}" for added in ADDED if added}
    assert {encoding.added for encoding in ENCODINGS.values()} <= set(ADDED)
    for table in (formulas.LINES, KINDS):
        assert {name for name in table if name.startswith("positions_")} == sorts
    for language in LANGUAGES:
        assert all(known(language, f"map.formula_{name}") for name in sorts)
        for added in ADDED:
            for rotary in ("", "_rotary"):
                assert known(language, f"page.pos_run_{added or 'none'}{rotary}")
                assert added == "learned" or known(language, f"page.pos_no_table_{added or 'none'}{rotary}")


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_new_encoding_is_recorded_and_every_cell_of_it_derived(learned_rotary, norm):
    check_stages(wide(positions=learned_rotary, norm=norm))
    model = small(positions=learned_rotary, norm=norm)
    stages = record(model, SRC, TGT)
    assert {"src.positions", "tgt.positions", "encoder.0.self_attention.q_turned", "decoder.0.self_attention.k_turned"} <= stages.keys()
    for address, stage in stages.items():
        assert about(model.config, stage).lines, address
        for index in np.ndindex(stage.values.shape):
            found = check_cell(model, stages, address, index)
            if stage.name == "positions":
                assert found.key == "map.formula_positions_learned"
                assert [step.key for step in found.steps] == ["map.why_position"], "a learnt table has no waves"


def test_a_new_encoding_is_decoded_fast(learned_rotary):
    model = disturb(model_of(positions=learned_rotary)).eval()
    assert is_stock_model(model)
    assert_step_by_step(model, SOURCES, WRITTEN)


@pytest.mark.parametrize("bias", [True, False])
def test_a_new_encoding_costs_what_torch_counts(learned_rotary, bias):
    config = ModelConfig(d_model=24, d_ff=40, positions=learned_rotary, bias=bias)
    found = dict.fromkeys(parameters(config, 13, 17), 0)
    for name, parameter in Transformer(config, 13, 17).named_parameters():
        found[sublayer_of(name)] += parameter.numel()
    assert parameters(config, 13, 17) == found
    assert parameter_count(config, 13, 17) == sum(found.values())


def test_an_encoding_that_adds_what_no_module_does_is_refused(waves):
    config = ModelConfig(positions=waves)
    for ask in (lambda: Transformer(config, 9, 9), lambda: parameters(config, 9, 9), lambda: training_bytes(Experiment(config), 9, 9, 20)):
        with pytest.raises(Refusal) as refusal:
            ask()
        assert refusal.value.key == "model.no_positions"
        for language in LANGUAGES:
            assert all(word in refusal.value.say(language) for word in ("waves", "sinusoids", "learned"))


def test_a_module_without_a_formula_is_never_derived_as_a_sinusoid(waves, monkeypatch):
    monkeypatch.setitem(positions.ADDED, "waves", LearnedPositions)
    model = small(positions=waves)
    stages = record(model, SRC, TGT)
    with pytest.raises(Refusal) as refusal:
        about(model.config, stages["src.positions"])
    assert refusal.value.key == "map.no_formula"
    assert all("waves" in refusal.value.say(language) for language in LANGUAGES)


@pytest.mark.parametrize(
    ("knob", "ask"),
    [
        ("positions", lambda: Transformer(ModelConfig(positions="nobody's"), 9, 9)),
        ("positions", lambda: parameter_count(ModelConfig(positions="nobody's"), 9, 9)),
        ("variant", lambda: build(ModelConfig(variant="nobody's"), 9, 9)),
        ("optimiser", lambda: Optimiser(TrainingConfig(optimiser="nobody's"), small())),
        ("optimiser", lambda: training_bytes(Experiment(training=TrainingConfig(optimiser="nobody's")), 9, 9, 20)),
    ],
)
def test_a_name_that_nobody_declared_is_refused(knob, ask):
    with pytest.raises(Refusal, match="nobody's") as refusal:
        ask()
    assert (refusal.value.key, refusal.value.values["name"]) == ("config.not_a_choice", knob)


# --- an optimiser ---


@pytest.mark.parametrize(
    "knobs", [{}, {"positions": "learned", "share_embeddings": "all"}, {"bias": False, "norm": "pre", "d_ff": 8}], ids=str
)
@pytest.mark.parametrize("name", [*OPTIMISERS, "sgd"])
def test_what_an_optimiser_keeps_is_what_is_declared(sgd, name, knobs):
    """Moments as large as their parameters; a counter of steps is none."""
    training = training_of(optimiser=name, learning_rate=0.01, **knobs)
    next(training.steps())
    kept = sum(tensor.numel() for tensor in training.optimiser.state().values() if tensor.ndim)
    sizes = training.corpus.src_tokenizer.size, training.corpus.tgt_tokenizer.size
    moved = moved_by(training.experiment, *sizes)
    assert kept == sum(rule.moments * count for rule, count in moved)
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


def test_work_and_memory_ask_a_new_optimiser(sgd):
    experiment, corpus = tiny(d_model=64), training_of().corpus
    sizes = corpus.src_tokenizer.size, corpus.tgt_tokenizer.size
    numbers = parameter_count(experiment.model, *sizes)
    adam, ours = (experiment.with_(optimiser=name) for name in ("adam", sgd))
    rule = OPTIMISERS["adam"]
    assert step_work(adam, corpus).operations - step_work(ours, corpus).operations == pytest.approx((rule.operations - 4) * numbers)
    assert training_bytes(adam, *sizes, 20) - training_bytes(ours, *sizes, 20) == 4 * (rule.moments - 1) * numbers


def test_an_optimiser_that_is_declared_and_not_made_is_refused(sgd, monkeypatch):
    monkeypatch.delitem(MAKERS, sgd)
    with pytest.raises(Refusal, match="sgd"):
        training_of(optimiser=sgd)


def test_the_step_of_a_large_model_counts_where_its_batch_is_small(sgd, monkeypatch):
    """Adam moves in place; what Muon works on is as large as the model three times over."""
    experiment = Experiment().with_(d_model=512, d_ff=2048, encoder_layers=6, decoder_layers=6, batch_size=1, optimiser=sgd)
    before, numbers = training_bytes(experiment, 30, 30, 4), parameter_count(experiment.model, 30, 30)
    monkeypatch.setitem(OPTIMISERS, sgd, UpdateRule(moments=1, operations=4, scratch=3))
    assert training_bytes(experiment, 30, 30, 4) > before + 2 * 4 * numbers
