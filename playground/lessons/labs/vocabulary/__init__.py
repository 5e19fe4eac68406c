"""From tokens to vectors and back (section 3.4): an embedding is a matrix product, and so is the generator."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.lessons.lab import Grid, Lab, Lines, Outcome
from playground.model.parts import Embedding, Linear

VOCABULARY = ("<pad>", "<bos>", "<eos>", "cat", "sat", "down")
SENTENCE = (3, 4, 5)  # cat sat down
NEXT = (4, 5, 2)  # the target of each: sat down <eos>
D = 4
TIMES = (0, 1, 2, 3)  # applications of a function before cross-entropy


def one_hot(tokens: Tensor) -> Tensor:
    """(L,) -> (L, V): a 1 in the token's own column, 0 elsewhere."""
    return F.one_hot(tokens, len(VOCABULARY)).double()


def log_softmax(logits: Tensor) -> Tensor:
    """(L, V) -> (L, V): the logarithm of the softmax, s_i - log sum_j exp(s_j). Avoids log 0."""
    return logits - logits.logsumexp(dim=-1, keepdim=True)


def repeated(function: str, logits: Tensor, times: int) -> Tensor:
    """Returns logits (L, V) after repeated log-softmax or softmax."""
    for _ in range(times):
        logits = log_softmax(logits) if function == "log_softmax" else logits.softmax(dim=-1)
    return logits


def loss(logits: Tensor, right: Tensor) -> float:
    """Returns cross-entropy of (L, V), (L,): the mean negative log-probability of the right token. Applies log-softmax itself."""
    return -log_softmax(logits)[torch.arange(len(right)), right].mean().item()


@torch.no_grad()
def run(seed: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    embedding, generating = Embedding(len(VOCABULARY), D).double(), Linear(D, len(VOCABULARY)).double()
    for parameter in (*embedding.parameters(), *generating.parameters()):
        nn.init.normal_(parameter, generator=generator)
    tokens, right = torch.tensor(SENTENCE), torch.tensor(NEXT)

    looked_up, product = embedding(tokens), one_hot(tokens) @ embedding.weight
    logits = generating(looked_up)  # the model has its layers in between
    logs = log_softmax(logits)
    losses = {name: np.array([loss(repeated(name, logits, times), right) for times in TIMES]) for name in ("log_softmax", "softmax")}

    numbers = {
        "once": losses["log_softmax"][0].item(), "twice": losses["log_softmax"][1].item(), "softmax": losses["softmax"][1].item(),
        "least": loss(one_hot(right), right),  # probabilities 1 and 0 used as logits
    }  # fmt: skip
    caption = {
        **numbers, "times": TIMES[-1], "last": losses["softmax"][-1].item(), "uniform": math.log(len(VOCABULARY)),
        "size": len(VOCABULARY), "d_model": D, "difference": (product - looked_up).abs().max().item(),
        "token": VOCABULARY[SENTENCE[0]], "next": VOCABULARY[NEXT[0]], "logit": logits[0, NEXT[0]].item(),
        "log": logs[0, NEXT[0]].item(), "probability": logs[0, NEXT[0]].exp().item(),
        "by_torch": (logs - logits.log_softmax(dim=-1)).abs().max().item(),
    }  # fmt: skip
    rows, dims = tuple(VOCABULARY[token] for token in SENTENCE), tuple(f"d{number}" for number in range(D))
    return Outcome(
        "same" if abs(numbers["twice"] - numbers["once"]) < 1e-9 else "higher" if numbers["twice"] > numbers["once"] else "lower",
        numbers,
        (
            Grid("one_hot", one_hot(tokens).numpy(), rows, VOCABULARY, "plain", caption=caption),
            Grid("table", embedding.weight.numpy(), VOCABULARY, dims, caption=caption),
            Grid("embedded", product.numpy(), rows, dims, caption=caption),
            Grid("logits", logits.numpy(), rows, VOCABULARY, caption=caption),
            Grid("logs", logs.numpy(), rows, VOCABULARY, caption=caption),
            Grid("probabilities", logs.exp().numpy(), rows, VOCABULARY, "probability", caption=caption),
            Lines("losses", np.array(TIMES), losses, caption=caption),
        ),
    )


LAB = Lab(
    "vocabulary",
    ("lower", "same", "higher"),
    run,
    (one_hot, log_softmax, repeated, loss),
    expects="same",
    order=100,
    next=("positions", "loss"),
)
