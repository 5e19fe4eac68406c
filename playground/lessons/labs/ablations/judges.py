"""Judges of ablations: functions that return the guess supported by an experiment's results; and two experiments with measures of their
own."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional as F

from playground.config import PAD
from playground.data.batches import collate
from playground.data.corpus import Corpus, make_items
from playground.inspection.activations import module_calls
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
    falls,
    is_measured,
    mean,
    measure_harder,
    spread,
)
from playground.lessons.lab import Lines, Outcome
from playground.model.layers import EncoderLayer, Residual
from playground.model.transformer import Transformer, initialise
from playground.tasks.grammars import Grammar
from playground.tasks.numbers import MONTH_FIRST, draw_date
from playground.tasks.sequences import COUNTS
from playground.tasks.toy_tasks import split_of
from playground.training.metrics import build_eval_set, validate
from playground.training.step import cross_entropy
from playground.variants import build
from playground.variants.alternatives import plain_xavier

FEWER = 1.25  # a smaller ratio of losses is no difference


def which(*parts: str, **pairs: tuple[str, str]) -> Callable[[Results], str]:
    """Makes a judge of two pairs of arms, given by their answers or as `<part>_with` and `<part>_without`: the pair whose second arm is
    clearly behind its first, "both" or "neither"."""
    pairs |= {part: (f"{part}_with", f"{part}_without") for part in parts}

    def judge(results: Results) -> str:
        apart = [answer for answer, (first, second) in pairs.items() if above(results[first], results[second], "exact", CLEAR)]
        return apart[0] if len(apart) == 1 else "both" if apart else "neither"

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


def farther(results: Results) -> str:
    """Returns the models that generalise to longer sentences: "added" if any adds its positions, else the others."""
    able = {arm for arm, of_arm in results.items() if mean(of_arm, "harder") > 1 - CLEAR}
    if able & {"sinusoids", "learned"}:
        return "added"
    return "both" if len(able) == 2 else able.pop() if able else "none"


# --- measures of the encoder at the end ---

PROBED = 100  # maximum number of held-out sentences


def asymmetry(model: Transformer, corpus: Corpus) -> Mapping[str, float]:
    """Measures ‖S − Sᵀ‖ / 2‖S‖ of the scores S of the first encoder layer's self-attention: 0 where token i always scores token j as j
    scores i, 1 where it scores it by the opposite number."""
    batch, attention = collate(corpus.heldout[:PROBED]), model.encoder[0].self_attention
    query, key, _, mask, *_ = module_calls(model, batch.src, batch.tgt_in)[0]["encoder.0.self_attention"][0].inputs
    q, k = (attention.split(project(x)) for project, x in ((attention.W_q, query), (attention.W_k, key)))
    scores = q @ k.mT * mask * mask.mT
    return {"asymmetry": float((scores - scores.mT).norm() / (2 * scores.norm()))}


def probe_positions(model: Transformer, corpus: Corpus) -> Measured:
    """Probes the vectors before and after each sublayer of a post-norm encoder: fits a linear map to the tokens' positions by least squares
    in one half of the sentences, and measures which fraction of the positions' variance it explains in the other half (R²)."""
    batch = collate(corpus.heldout[:PROBED])
    calls, _ = module_calls(model, batch.src, batch.tgt_in)
    norms = (calls[f"encoder.{layer}.norm_{number}"][0].output for layer in range(len(model.encoder)) for number in (1, 2))
    real, half = batch.src != PAD, len(batch.src) // 2
    positions = torch.arange(batch.src.shape[1], dtype=torch.float32).expand_as(real)
    explained = []
    for x in (calls["encoder.0"][0].inputs[0], *norms):
        x = F.pad(x, (0, 1), value=1.0)  # the map's constant
        (x_fit, y_fit), (x_test, y_test) = ((x[part][real[part]], positions[part][real[part]]) for part in (slice(half), slice(half, None)))
        errors = x_test @ torch.linalg.lstsq(x_fit, y_fit[:, None]).solution[:, 0] - y_test
        explained.append(max(0.0, 1 - float(errors.square().mean() / y_test.var(correction=0))))
    return {"probe": explained}


def show_probe(results: Arms) -> tuple[Lines, ...]:
    """Plots what the probe explains by the number of sublayers, the mean over seeds, in the deepest models once all are trained."""
    if not is_measured(results):
        return ()
    rows = {arm_results[0].arm: np.mean([result.profiles["probe"] for result in arm_results], axis=0) for arm_results in results}
    deepest = max(map(len, rows.values()))
    lines = {arm: 100 * row for arm, row in rows.items() if len(row) == deepest}
    caption = {"sublayers": deepest - 1} | {arm: float(row[-1]) for arm, row in lines.items()}
    return (Lines("probe", np.arange(deepest), lines, percent=True, caption=caption),)


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
    family="letters",
    arms={f"{start}_{norm}": knobs | other for start, knobs in STARTS.items() for norm, other in NORMS.items()}
    | {"ours_none": {"norm": "none"}},
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


# --- forgetting: what fine-tuning leaves of the form of dates that was learned first; the tasks are in playground/tasks/numbers.py ---


def measure_second_form(model: Transformer, corpus: Corpus) -> Mapping[str, float]:
    """Measures exact match on held-out dates of the second form."""
    dice, drawn = random.Random(1), []
    while len(drawn) < PROBED:
        example = draw_date(dice, False, (MONTH_FIRST,))
        drawn += [example] if split_of(corpus.name, example.src) == "heldout" else []
    items = [*make_items(drawn, (corpus.src_tokenizer, corpus.tgt_tokenizer))]
    return {"second": validate(model, build_eval_set(corpus, items)).exact_match}


def forgets(results: Results) -> str:
    """Returns the fine-tuned arm that lost the first form, "both" or "neither"."""
    lost = [arm for arm in ("later", "rehearsed") if falls(results[arm], "early", "exact", CLEAR)]
    return lost[0] if len(lost) == 1 else "both" if lost else "neither"


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
