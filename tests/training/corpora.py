"""Small corpora and experiments for the tests of training and decoding."""

from functools import cache

from playground.config import Experiment
from playground.data.corpus import Corpus, build_corpus
from playground.training.loop import Training

SMALL = {"encoder_layers": 1, "decoder_layers": 1, "zero_init": False, "learning_rate": 0.03}  # every part learns from the first step on
TINY = SMALL | {"d_model": 16, "n_heads": 2, "d_ff": 24, "train_size": 200, "validation_size": 20, "batch_size": 8}


def tiny(**knobs) -> Experiment:
    """A model that takes a millisecond or two for a step."""
    return Experiment().with_(**{**TINY, "steps": 8, **knobs})


@cache
def corpus_of(task: str = "reverse", joint: bool = False) -> Corpus:
    return build_corpus(tiny(task=task).data, joint=joint)


def training_of(device: str = "cpu", **knobs) -> Training:
    experiment = tiny(**knobs)
    return Training(experiment, corpus_of(experiment.data.task, joint=experiment.model.share_embeddings == "all"), device)


@cache
def taught(task: str = "copy", steps: int = 80) -> Training:
    """A training that got somewhere: the model is sure of some tokens and not of others. Not to be trained on by a test."""
    knobs = SMALL | {"d_model": 32, "d_ff": 64, "batch_size": 32, "train_size": 2000, "validation_size": 60}
    experiment = Experiment().with_(task=task, steps=steps, seed=3, **knobs)
    training = Training(experiment, build_corpus(experiment.data))
    for _ in training.steps():
        pass
    return training
