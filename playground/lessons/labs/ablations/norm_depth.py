"""Post-norm or pre-norm for a deep model (Xiong et al. 2020): six layers trained from two initialisations, and the gradients of the
decoder's layers before the first step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from playground.data.batches import collate
from playground.data.corpus import Corpus
from playground.lessons.controlled import CLEAR, Arms, ControlledExperiment, Measured, Results, above, is_measured
from playground.lessons.lab import Lines
from playground.model.layers import EncoderLayer, Residual
from playground.model.transformer import Transformer, initialise
from playground.training.step import cross_entropy
from playground.variants import build
from playground.variants.alternatives import plain_xavier

DEPTHS = (2, 4, 6, 8, 10, 12)  # layers of encoder and decoder
PAIRS = 16  # of training data in the batch of the gradient
STARTS = {"ours": {}, "plain": {"variant": "plain_xavier", "embedding_std": 1.0}}
NORMS = {"post": {}, "pre": {"norm": "pre"}}


def gradients_at_start(model: Transformer, corpus: Corpus, seed: int = 1) -> Measured:
    """Measures the gradient norm of the first decoder layer's W_2 relative to the last layer's, in untrained models like this one at each
    depth."""
    batch, ratios = collate(corpus.train[:PAIRS]), []
    for layers in DEPTHS:
        config = replace(model.config, encoder_layers=layers, decoder_layers=layers)
        fresh = build(config, model.src_vocab, model.tgt_vocab, torch.Generator().manual_seed(seed))
        matrices = [fresh.decoder[number].feed_forward.W_2.weight for number in (0, -1)]
        loss = cross_entropy(fresh(batch.src, batch.tgt_in).logits, batch.tgt_out)
        first, last = (gradient.norm().item() for gradient in torch.autograd.grad(loss, matrices))
        ratios.append(first / last)
    return {"ratios": ratios}


def better_norm(results: Results) -> str:
    """Returns the norm clearly ahead for any initialisation, "start" if each is ahead for one, "same" if none is."""
    ahead = {
        norm
        for start in STARTS
        for norm, other in (("post", "pre"), ("pre", "post"))
        if above(results[f"{start}_{norm}"], results[f"{start}_{other}"], "exact", CLEAR)
    }
    return "start" if len(ahead) == 2 else ahead.pop() if ahead else "same"


def gradients(results: Arms) -> tuple[Lines, ...]:
    """Plots the ratio over depth, a line for each arm, once all models are trained."""
    if not is_measured(results):
        return ()
    lines = {arm_results[0].arm: np.asarray(arm_results[0].profiles["ratios"]) for arm_results in results}
    caption = {"most": DEPTHS[-1]} | {arm: float(row[-1]) for arm, row in lines.items()}
    return (Lines("gradients", np.asarray(DEPTHS), lines, log_y=True, caption=caption),)


NORM_DEPTH = ControlledExperiment(
    "norm_depth",
    ("post", "pre", "start", "same"),
    code=(Residual, EncoderLayer.forward, initialise, plain_xavier, gradients_at_start),
    arms={f"{start}_{norm}": knobs | other for start, knobs in STARTS.items() for norm, other in NORMS.items()},
    base={
        **{"task": "sort", "optimiser": "adam", "learning_rate": 0.005, "zero_init": False, "steps": 200},
        **{"encoder_layers": 6, "decoder_layers": 6},
    },
    judge=better_norm,
    more=gradients_at_start,
    shows=gradients,
    expects="start",
    order=20,
    next=("warmup", "deep"),
)
