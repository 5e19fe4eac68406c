"""Judges of ablations: functions that return the guess supported by an experiment's results; and two experiments with measures of their
own."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch

from playground.data.batches import collate
from playground.data.corpus import Corpus
from playground.lessons.controlled import (
    CLEAR,
    DEVIATIONS,
    ENOUGH_SEEDS,
    Arms,
    ControlledExperiment,
    Measured,
    Result,
    Results,
    above,
    is_measured,
    mean,
    measure_harder,
    spread,
)
from playground.lessons.lab import Lines, Outcome
from playground.model.layers import EncoderLayer, Residual
from playground.model.transformer import Transformer, initialise
from playground.tasks.grammars import Grammar
from playground.tasks.sequences import COUNTS
from playground.training.step import cross_entropy
from playground.variants import build
from playground.variants.alternatives import plain_xavier

FEWER = 1.25  # a smaller ratio of losses is no difference


def which(*pairs: str) -> Callable[[Results], str]:
    """Makes a judge of two pairs of arms, `<pair>_with` and `<pair>_without`: the pair that needs the part, "both" or "neither"."""

    def judge(results: Results) -> str:
        needing = [pair for pair in pairs if above(results[f"{pair}_with"], results[f"{pair}_without"], "exact", CLEAR)]
        return needing[0] if len(needing) == 1 else "both" if needing else "neither"

    return judge


def in_time(results: Results) -> str:
    """Judges whether the model without a part is clearly behind at the end ("never"), only at the early step ("later"), or at neither."""

    def behind(when: str) -> bool:
        return above(results["with"], results["without"], when, CLEAR)

    return "never" if behind("exact") else "later" if behind("early") else "same"


def factor(results: Results) -> str:
    """Judges for which embeddings the factor √d_model raises or lowers exact match."""

    def clearly(start: str, way: str, other_way: str) -> bool:
        return above(results[f"{start}_{way}"], results[f"{start}_{other_way}"], "exact", CLEAR)

    starts = dict.fromkeys(arm.rpartition("_")[0] for arm in results)
    helps, harms = ([start for start in starts if clearly(start, *ways)] for ways in (("with", "without"), ("without", "with")))
    if "small" in helps and "unit" in harms:
        return "turns"
    if harms:
        return "other"
    return {0: "none", len(starts): "all"}.get(len(helps), "small" if helps == ["small"] else "other")


def lowest(results: Results) -> str:
    """Returns the arm with clearly the lowest loss; else "same"."""
    first, second, *_ = sorted(results, key=lambda arm: mean(results[arm], "loss"))
    return first if worse(results[second], results[first]) else "same"


def worse(results: Sequence[Result], other_results: Sequence[Result]) -> bool:
    """Whether one arm's loss is clearly higher than another's."""
    return above(results, other_results, "loss", (FEWER - 1) * mean(other_results, "loss"))


def layout(results: Results) -> str:
    """Judges whether the order of columns matters, or only the kind of positions."""

    def apart(arm: str) -> bool:
        pair = results["interleaved"], results[arm]
        return above(*pair, "exact", CLEAR) or above(*reversed(pair), "exact", CLEAR)

    return "order" if apart("concatenated") else "kind" if apart("learned") or apart("rotary") else "same"


def number_of_heads(results: Results) -> str:
    """Returns the number of heads with the lowest loss, without tolerance: "one", "between" or "more" for the most."""
    least = min(results, key=lambda arm: mean(results[arm], "loss"))
    return {"one": "one", "eight": "more"}.get(least, "between")


def between(results: Results) -> str:
    """Judges whether one head suffices, more are always better, or the optimum is between."""
    least = min(results.values(), key=lambda results: mean(results, "loss"))
    if not worse(results["one"], least):
        return "one"
    return "between" if worse(results["eight"], least) else "more"


def key_size(results: Results) -> str:
    """Judges whether d_k = 1 is clearly worse than the paper's d_k, a larger one clearly better, "both" or "neither"."""
    narrow = above(results["eight"], results["one"], "exact", CLEAR)
    wide = above(results["many"], results["eight"], "exact", CLEAR)
    return {(True, True): "both", (True, False): "narrow", (False, True): "wide"}.get((narrow, wide), "neither")


def farther(results: Results) -> str:
    """Returns the models that generalise to longer sentences: "added" if any adds its positions, else the others."""
    able = {arm for arm, of_arm in results.items() if mean(of_arm, "harder") > 1 - CLEAR}
    if able & {"sinusoids", "learned"}:
        return "added"
    return "both" if len(able) == 2 else able.pop() if able else "none"


# --- post-norm or pre-norm for a deep model (Xiong et al. 2020): six layers trained from two initialisations, and the gradients of the
# decoder's layers before the first step ---

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


# --- rule or list: how a model uses a word seen only by itself, and how many examples of its use it needs (after SCAN, Lake and Baroni
# 2018); the splits are in playground/tasks/sequences.py ---

MOST = 0.5  # exact match on unseen commands above which the word is used by a rule
GUESSES = {0: "none", 1: "one", 4: "four", 16: "sixteen"}


def generalises(results: Sequence[Result]) -> bool | None:
    """Whether most commands of the harder kind are correct; None where seeds vary too much."""
    share, apart = mean(results, "harder"), DEVIATIONS * spread([results], "harder")
    return True if share - apart > MOST else False if share + apart <= MOST else None


def examples_needed(results: Results) -> str:
    """Returns the least number of examples from which on most other commands are correct; "more" when none suffices, "open" when seeds
    disagree or more examples do worse."""
    by_count = {count: generalises(results[f"jump_{count}"]) for count in COUNTS}
    enough = [count for count in COUNTS if by_count[count]]
    if None in by_count.values() or enough != list(COUNTS[len(COUNTS) - len(enough) :]):
        return "open"
    return GUESSES[enough[0]] if enough else "more"


class RuleOrList(ControlledExperiment):
    def verdict(self, results: Sequence[Sequence[Result]]) -> Outcome:
        """Returns, with enough seeds, the answer they agree on: otherwise the question is open, whatever their mean."""
        outcome = super().verdict(results)
        agreed = examples_needed({each[0].arm: each for each in results})
        return replace(outcome, answer=agreed) if min(map(len, results)) >= ENOUGH_SEEDS else outcome


RULE_OR_LIST = RuleOrList(
    "rule_or_list",
    (*GUESSES.values(), "more", "open"),
    code=(Grammar.draw, examples_needed),
    arms={
        "ours": {},
        **{f"jump_{count}": {"task": f"commands_jump{f'_{count}' if count else ''}"} for count in COUNTS},
        "length": {"task": "commands_length"},
    },
    base={"task": "commands", "steps": 300},
    judge=examples_needed,
    judged="harder",
    decisive=tuple(f"jump_{count}" for count in COUNTS),
    more=measure_harder,
    expects="sixteen",
    minutes=8,
    order=30,
    next=("beyond", "why_attention"),
)
