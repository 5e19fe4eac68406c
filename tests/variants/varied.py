"""Small corpora, trainings, and changed models beside the paper's: what the tests of training, decoding and variants share."""

from functools import cache

import torch
from torch import nn

from playground.choices import ARCHITECTURES
from playground.config import BOS, EOS, PAD, Experiment, ModelConfig
from playground.data.corpus import Corpus, build_corpus
from playground.lessons.labs.nn_transformer.conversion import as_nn_transformer, attention_pairs, disturb  # noqa: F401
from playground.model.attention import MultiHeadAttention
from playground.model.transformer import Transformer
from playground.training.loop import Training
from playground.variants import ALL, build

SMALL = {"d_model": 16, "n_heads": 2, "d_ff": 24, "encoder_layers": 1, "decoder_layers": 1, "zero_init": False}
QUICK = {"encoder_layers": 1, "decoder_layers": 1, "zero_init": False, "learning_rate": 0.03}  # every part learns from the first step on
TINY = QUICK | {"d_model": 16, "n_heads": 2, "d_ff": 24, "train_size": 200, "validation_size": 20, "batch_size": 8}
SRC = torch.tensor([[4, 9, 7, 5, 6, EOS], [6, 8, EOS, PAD, PAD, PAD]])
TGT = torch.tensor([[BOS, 5, 7, 9, 4], [BOS, 8, 6, PAD, PAD]])
VOCABULARY = 11
STEADY = [
    name for name in ALL if name not in (
        "no_causal_mask", "inverted_mask", "softmax_over_queries", "norm_over_positions", "view_for_transpose", "dropout_always",
        "tiny_fill", "wrong_lengths", "no_mask_at_inference",
    )
]  # fmt: skip
UNSTEADY = [name for name in ALL if name not in STEADY and name != "dropout_always"]  # without dice


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def altered(name: str) -> dict[str, str]:
    """The knob of an alteration."""
    return {"architecture" if name in ARCHITECTURES else "variant": name}


def built(variant: str, seed: int = 1, **knobs) -> Transformer:
    """As it is made, in eval mode."""
    config = ModelConfig(**{**SMALL, **altered(variant), **knobs})
    return build(config, VOCABULARY, VOCABULARY, torch.Generator().manual_seed(seed)).eval()


def paper_and_variant(variant: str, seed: int = 1, **knobs) -> tuple[Transformer, Transformer]:
    """The paper's model, disturbed, and the changed one with the parameters that they share; its own are disturbed too."""
    paper, changed = disturb(built("none", seed, **knobs)), disturb(built(variant, seed, **knobs))
    with torch.no_grad():
        for name, parameter in changed.named_parameters():
            if name in dict(paper.named_parameters()):
                parameter.copy_(paper.get_parameter(name))
    return paper, changed


def talkative(variant: str, seed: int = 1, **knobs) -> Transformer:
    """A model whose likeliest token is a clear one, and which comes to an end now and then."""
    model = paper_and_variant(variant, seed, **knobs)[1]
    with torch.no_grad():
        model.projection.weight.mul_(4)
        model.projection.bias[EOS] += 0.5
        model.projection.bias[PAD] -= 1e4  # which no query looks at
    return model


@torch.inference_mode()
def naive(model: Transformer, src: torch.Tensor, most: int) -> list[tuple[int, ...]]:
    """Greedy decoding as one would define it: the whole model anew for every token of all rows of src (B, S), up to each one's EOS."""
    written = torch.full((len(src), 1), BOS)
    for _ in range(most):
        written = torch.cat((written, model(src, written).logits[:, -1:].argmax(dim=-1)), dim=1)
    rows = [row[1:] for row in written.tolist()]
    return [tuple(row[: row.index(EOS) + 1] if EOS in row else row) for row in rows]


def attentions(model: Transformer) -> list[MultiHeadAttention]:
    return [module for module in model.modules() if isinstance(module, MultiHeadAttention)]


def their_logits(ours: Transformer, theirs: nn.Transformer, src: torch.Tensor, tgt: torch.Tensor, **masks) -> torch.Tensor:
    """Of torch's model with the parameters of `ours`; for it True is where one may not look."""
    sides = (src, ours.src_embedding, ours.src_positions), (tgt, ours.tgt_embedding, ours.tgt_positions)
    embedded = [embedding(tokens) * ours.config.d_model**0.5 + positions.table[: tokens.shape[1]] for tokens, embedding, positions in sides]
    usual = {
        "tgt_mask": torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).triu(1), "tgt_key_padding_mask": tgt == PAD,
        "src_key_padding_mask": src == PAD, "memory_key_padding_mask": src == PAD,
    }  # fmt: skip
    return ours.project(theirs(*embedded, **usual | masks))


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
    knobs = QUICK | {"d_model": 32, "d_ff": 64, "batch_size": 32, "train_size": 2000, "validation_size": 60}
    experiment = Experiment().with_(task=task, steps=steps, seed=3, **knobs)
    training = Training(experiment, build_corpus(experiment.data))
    for _ in training.steps():
        pass
    return training
