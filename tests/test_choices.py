"""The declaration of a choice is its cost, and a choice that is declared in part or not at all is refused."""

import pytest

from playground.choices import ENCODINGS, OPTIMISERS, Encoding
from playground.config import Experiment, ModelConfig, Refusal, TrainingConfig
from playground.inspection.activations import record
from playground.inspection.formulas import describe
from playground.model import positions
from playground.model.costs import parameter_count, training_bytes, update_counts
from playground.model.positions import LearnedPositions
from playground.model.transformer import Transformer
from playground.training.optimisers import MAKERS
from playground.variants import build
from playground.words import LANGUAGES
from tests.inspection.test_activations import SRC, TGT
from tests.inspection.test_derivation import build as small
from tests.training.corpora import training_of


def test_what_is_declared_in_part_or_not_at_all_is_refused(monkeypatch):
    monkeypatch.setitem(ENCODINGS, "waves", Encoding("waves"))
    monkeypatch.delitem(MAKERS, "adam")
    for ask, key in (
        (lambda: Transformer(ModelConfig(positions="waves"), 9, 9), "model.no_positions"),
        (lambda: training_bytes(Experiment(ModelConfig(positions="waves")), 9, 9, 20), "model.no_positions"),
        (lambda: training_of(optimiser="adam"), "config.not_a_choice"),
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
    model = small(positions="waves")
    with pytest.raises(Refusal) as refusal:
        describe(model.config, record(model, SRC, TGT)["src.positions"])  # never as a sinusoid
    assert refusal.value.key == "map.no_formula"


@pytest.mark.parametrize("name", OPTIMISERS)
def test_what_an_optimiser_keeps_is_what_is_declared(name):
    """Moments as large as their parameters; a counter of steps is none."""
    for knobs in ({"positions": "learned", "share_embeddings": "all"}, {"bias": False, "norm": "pre", "d_ff": 8}):
        training = training_of(optimiser=name, learning_rate=0.01, **knobs)
        next(training.steps())
        moments = sum(tensor.numel() for tensor in training.optimiser.state().values() if tensor.ndim)
        moved = update_counts(training.experiment, training.corpus.src_tokenizer.size, training.corpus.tgt_tokenizer.size)
        assert moments == sum(rule.moments * count for rule, count in moved)
        assert sum(count for _, count in moved) == sum(parameter.numel() for parameter in training.model.parameters())
