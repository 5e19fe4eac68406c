"""Induction heads of a decoder-only model: the weight that each head gives to what followed an earlier occurrence of a token, and the exact
match that is lost without the head."""

from dataclasses import dataclass

import numpy as np

from playground.config import BOS, EOS
from playground.data.corpus import Corpus
from playground.features.shared import blocks, panels
from playground.features.shared.heads import draw_map
from playground.features.shared.queries.results import pieces_from
from playground.features.shared.view import View, percent
from playground.inspection.attention import induction
from playground.inspection.heads import read_weights
from playground.inspection.interventions import HeadId, silence
from playground.model.copies import shadow_copy
from playground.model.transformer import Transformer
from playground.runs.run import Run
from playground.training.metrics import build_eval_set, tally

SENTENCES, SENTENCES_OF_ALL = 60, 1600  # held-out ones, for one head at most, and for all heads together


@dataclass(frozen=True)
class Induction:
    """Of each head (L, H): its mean weight on the place of induction, `chance` if it were spread evenly, and exact match without it."""

    weights: np.ndarray
    chance: float
    whole: float  # exact match of the unchanged model
    without: np.ndarray


def measure_induction(model: Transformer, run: Run, corpus: Corpus) -> Induction | None:
    """Measures all heads on held-out sentences; None without a repeated token."""
    layers, heads = model.config.attention_layers("decoder"), model.config.n_heads
    items = corpus.heldout[: min(SENTENCES, SENTENCES_OF_ALL // (layers * heads))]
    kinds = (read_weights(model, [(item.src_ids, item.tgt_ids) for item in items], kind) for kind in ("encoder", "cross", "decoder"))
    total, chance, rows = np.zeros((layers, heads)), 0.0, 0
    for item, encoder, cross, decoder in zip(items, *kinds, strict=True):
        source, target = (*item.src_ids, EOS), (BOS, *item.tgt_ids)
        pieces = [each for side in zip(run.tokenizers, (source, target), strict=True) for each in pieces_from(*side)]
        place, s = induction([piece.text for piece in pieces]), len(source)
        total += (encoder[..., :s] * place[:s, :s]).sum(axis=(-2, -1)) + (cross[..., :s] * place[s:, :s]).sum(axis=(-2, -1))
        total += (decoder[..., : len(target)] * place[s:, s:]).sum(axis=(-2, -1))
        visible = np.arange(len(pieces)) + 1 if model.config.alteration.causal else np.maximum(np.arange(len(pieces)) + 1, s)
        chance, rows = chance + float((place.sum(axis=1) / visible).sum()), rows + int(place.any(axis=1).sum())
    if not rows:
        return None
    questions = build_eval_set(corpus, tuple(items))

    def measure_exact_match(*off: HeadId) -> float:
        silence(copy := shadow_copy(model), off)
        return tally(copy, questions).validation.exact_match

    without = [[measure_exact_match(HeadId("decoder", layer, head)) for head in range(heads)] for layer in range(layers)]
    return Induction(total / rows, chance / rows, measure_exact_match(), np.array(without))


def defer_induction(view: View) -> list[dict]:
    """Builds the deferred block, for a decoder-only model at rest."""
    if not view.run.experiment.model.alteration.decoder_only or (view.run.working and view.step is None):
        return []
    inputs = (view.run.id, view.look.step, view.language, view.dark, view.width)
    return [blocks.later("induction", "induction", view.say("interventions.importance_waiting"), " ".join(map(str, inputs)))]


@panels.declare("induction", needs=panels.ATTENTION)
def build_induction(view: View) -> dict:
    """Builds two heat maps of all heads: the weight on what followed, and the exact match lost without the head; nothing for a model with
    an encoder."""
    if not view.run.experiment.model.alteration.decoder_only:
        return {"step": view.step, "blocks": []}
    run, corpus = view.run, view.runs.corpora.get(view.run.experiment, view.run.pairs)
    measured = view.reader.work(run, view.step, ("induction",), lambda model, _: measure_induction(model, run, corpus))
    if measured is None:
        return {"step": view.step, "blocks": []}
    layer, head = map(int, np.unravel_index(measured.weights.argmax(), measured.weights.shape))
    shares = {"weight": measured.weights[layer, head], "without": measured.without[layer, head]}
    shares |= {"chance": measured.chance, "whole": measured.whole}
    values = {name: percent(share, 0) for name, share in shares.items()} | {"name": f"{layer + 1}.{head + 1}"}
    weights = _draw(view, "induction", measured.weights, values, value=view.labels["weight"], scale="probability")
    if measured.whole:
        lost = _draw(view, "induction_lost", measured.whole - measured.without, values, value=view.say("heads.induction_lost"))
    else:
        lost = blocks.text("induction-lost", view.say("heads.induction_unlearnt"), css="pg-caption")
    return {"step": view.step, "blocks": [blocks.row("induction", weights, lost, css="halves")]}


def _draw(view: View, name: str, numbers: np.ndarray, values: dict[str, str], **options: str) -> dict:
    """Draws `numbers` (layers, heads), with `values` in the caption."""
    rows, columns = ([str(number) for number in range(1, size + 1)] for size in numbers.shape)
    titles = view.say("interventions.patch_layer"), view.say("interventions.patch_head")
    picture = draw_map(view, numbers, rows, columns, kind="decoder", titles=titles, share=2, **options)
    return blocks.figure(name.replace("_", "-"), picture, view.say(f"heads.{name}_caption", **values), view.say(f"heads.{name}"))
