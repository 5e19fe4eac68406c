"""The cursor: every view setting, declared once.

The cursor is the state of the view: run, step, sentence, layer, head, token and display options. It is part of the address, so a link
carries it. Each field is text; "" is not set. From the declaration here come the check of a link, the values a panel reads
(features/shared/view.py), the bounds of a slider, and everything the page's script needs to know of the fields (ui/static).
"""

import re
from collections.abc import Mapping
from typing import Any

from playground.config import BEAM_WIDTH, LENGTH_PENALTY, MAX_POSITIONS, Refusal, limits
from playground.knobs import MAX_TEXT, Choice, Lists, Number, Text, shortened
from playground.words import OFFERED

MAX_CELLS = 10**6  # columns of a figure, and token ids


def _whole(low: int, high: float, default: int | None = None, **more: Any) -> Number:
    return Number(low=low, high=int(high), default="" if default is None else str(default), **more)


def _number(low: float, high: float, step: float, default: float, **more: Any) -> Number:
    return Number(low=low, high=high, step=step, default=f"{default:g}", **more)


def _one_of(*choices: str, default: str | None = None, **more: Any) -> Choice:
    """Declares a choice. The first value is the default unless another is given; "" makes it optional."""
    return Choice(choices=choices, default=choices[0] if default is None else default, **more)


def _listed(name: str, default: str = "", **more: Any) -> Choice:
    return Choice(choices=name, default=default, **more)


def _written(pattern: str, example: str, **more: Any) -> Text:
    return Text(pattern=pattern, example=example, **more)


def _several(entry: str, between: str) -> str:
    """Returns the pattern of a list."""
    return f"{entry}({re.escape(between)}{entry})*"


RUN_COLUMNS = ("name", "exact_match", "validation_loss", "steps", "seconds", "parameters", "tokens_per_second", "created")
RUN = r"[\w-]{1,64}"
HEAD = r"[1-9]\d?\.[1-9]\d?"  # layer and head, counted from 1
SENTENCE = ("run", "text")
STAGE = r"(src|tgt|encoder|decoder|layers)(\.\w{1,40}){1,4}|memory|joined|logits|probabilities"
# One number typed over, or a matrix randomised: the name of a parameter or the address of a stage, the place, the new values or a seed.
NEW = r"-?\d{1,9}(\.\d{1,20})?(e-?\d{1,2})?"
EDIT = rf"[\w.]{{1,80}}(:\d{{1,6}}(,\d{{1,6}}){{0,2}}={NEW}(,{NEW})*|=r\d{{1,6}})"
MAX_EDITS = 16
LAYERS = max(limits(name).high for name in ("encoder_layers", "decoder_layers"))

FIELDS: dict[str, Text | Choice | Number] = {
    "run": Text(entry=True),  # the registry checks whether the run exists
    "step": _whole(0, limits("steps").high, reset_by=("run",)),  # "": now
    "text": Text(reset_by=("run",), carried=True),  # "": the run's first example
    "tab": _listed("tabs", "training", entry=True),
    "part": _one_of("cross", "encoder", "decoder"),
    "layer": _whole(1, LAYERS, reset_by=("run", "part"), carried=True),
    "head": _whole(1, max(limits("n_heads").choices), reset_by=("run", "part"), carried=True),
    "follow": _one_of("off", "on"),  # the head that is best at each step, instead of one for all
    "q": _whole(0, MAX_POSITIONS, reset_by=(*SENTENCE, "part"), carried=True),  # the row (query) and the column (key) of the pinned cell
    "k": _whole(0, MAX_POSITIONS, reset_by=(*SENTENCE, "part"), carried=True),
    "lang": _one_of(*OFFERED, default="", local=True),  # "": the browser's
    "target": _one_of("reference", "output", reset_by=("run",), carried=True),  # the decoder's input
    # translate
    "method": _listed("methods"),  # "": the run's, see `decoding_width`
    "beam": _whole(1, 10, BEAM_WIDTH),
    "penalty": _number(0.0, 2.0, 0.1, LENGTH_PENALTY),
    "temperature": _number(0.1, 3.0, 0.1, 1.0),
    "draw": _whole(0, 10**6, 1),  # the seed
    "draws": _one_of("1", "20"),  # how many outputs
    "top_k": _whole(0, 30, 0),  # 0: all
    "top_p": _number(0.05, 1.0, 0.05, 1.0),
    "prefix": Text(reset_by=SENTENCE),
    "must": Text(reset_by=SENTENCE),  # of a beam: words that its output contains, and words that it doesn't
    "must_not": Text(reset_by=SENTENCE),
    "cache": _one_of("on", "off"),
    "unknown": _one_of("off", "copy"),  # the replacement of <unk> in the output
    "price": _one_of("off", "on"),  # the timing of longer sentences, which takes most of a second
    # attention, masks, positions, data
    "view": _one_of("matrix", "lines", "product", "rollout", "all", "whole"),
    "measure": _one_of("aligned", "entropy"),
    "masks": _written(_several(r"\d{1,3}", ","), "0,2", reset_by=("run",)),  # the examples of the batch
    "mask": _one_of("memory", "padding", "causal", "target", "packed", "prefix", "gpt", default="causal"),
    "pos": _one_of("heatmap", "waves", "similarity", "shift", "learned"),
    "shift": _whole(0, 32, 3),
    "split": _one_of("heldout", "train", "test", "harder", "file"),
    # teacher forcing and interventions
    "fix": _written(r"\d{1,6}:\d{1,6}", "2:7", reset_by=SENTENCE),  # step and token
    "force": Text(reset_by=SENTENCE),
    "change": _one_of("heads", "row", "patch"),
    "corrupted": Text(reset_by=SENTENCE),  # the sentence that is patched; "": one chosen by the model's outputs
    "off": _written(_several(f"[edc]{HEAD}", "_"), "c1.3_e2.1", reset_by=("run",)),
    "squeeze": _one_of(*limits("memory_mode").choices, default="", reset_by=("run",)),
    "cells": _written(rf"c{HEAD}_q\d{{1,3}}(_k\d{{1,3}}-(0(\.\d{{1,4}})?|1)|_x\d{{1,3}})+", "c2.3_q1_k4-0.5_x6", reset_by=SENTENCE),
    # map
    "stop": _listed("stops", entry=True),  # of the tour; opens its stage unless `stage` is set
    "stage": _written(STAGE, "encoder.0.self_attention.weights", entry=True, reset_by=("stop",)),
    "row": _whole(0, MAX_POSITIONS, reset_by=(*SENTENCE, "stage", "stop")),
    "col": _whole(0, MAX_CELLS, reset_by=(*SENTENCE, "stage", "stop")),
    "window": _whole(0, MAX_CELLS, reset_by=("stage", "stop")),
    "hide": _one_of("on", default=""),
    "digits": _one_of("on", default=""),
    "edits": _written(rf"{EDIT}(;{EDIT}){{0,{MAX_EDITS - 1}}}", "encoder.0.feed_forward.W_1.weight:3,5=0.5", reset_by=("run",)),
    # a training step
    "moment": _one_of("loss", "logits", "stream", "scores", "gradient", "optimiser", "after"),
    "line": _whole(0, MAX_CELLS, reset_by=("run",)),  # row of the batch, and place in it
    "place": _whole(0, MAX_POSITIONS, reset_by=("run",)),
    "logit": _whole(0, MAX_CELLS, reset_by=("run",)),
    "module": _whole(0, 99, reset_by=("run",)),
    "parameter": _written(r"\w{1,40}(\.\w{1,40}){1,5}", "decoder.0.cross_attention.W_q.weight", reset_by=("run", "module")),
    "grad_row": _whole(0, MAX_CELLS, reset_by=("run", "module", "parameter")),
    "grad_col": _whole(0, MAX_CELLS, reset_by=("run", "module", "parameter")),
    # labs and lessons
    "lab": _listed("labs", entry=True),
    "guess": _listed("guesses", reset_by=("lab",), personal=True),
    "sure": _one_of("50", "75", "95", default="", reset_by=("lab",), personal=True),  # percent
    "set": _written(_several(r"\w+=[\w.%+~-]*", "&"), "size=3", reset_by=("lab",)),
    "toss": _whole(1, limits("seed").high, 1, reset_by=("lab",)),
    "arms": _written(_several(RUN, "."), "reverse.sort", reset_by=("lab",)),
    "lesson": _listed("lessons", entry=True),
    "result": _one_of("on", default="", reset_by=("lesson",)),  # of a round of questions, once all are answered
    "notes": _one_of("on", default=""),
    "path": _one_of("term", "45", "90"),  # lessons of the list that fit into so many minutes
    "predicted": _listed("answers", reset_by=("lesson",), personal=True),
    "certain": _one_of("50", "75", "95", default="", reset_by=("lesson",), personal=True),
    "glossary": _listed("terms", local=True),
    "room": _written("[A-Za-z2-9]{4,6}", "K7QFM", personal=True, local=True),  # of a class, to join
    "api": _one_of("1", default="", entry=True, local=True),  # shows how to use the run by API
    "plain": _one_of("1", default="", entry=True, local=True),  # the view as text
    "fixed": _written(_several(r"\w{1,30}", ","), "task,d_model", local=True),  # settings of an exercise link that can't be changed
    "controls": _written(_several(r"[a-z-]{1,20}", ","), "data,model", local=True),  # groups of settings shown, "-": none; "": all
    "present": _one_of("1", default="", local=True),  # presentation mode: one figure and its caption fill the screen
    # evaluation, diagnostics, embeddings
    "file": _written(RUN, "own", personal=True, local=True),  # an upload to score the run on, visible to its owner only
    "compare": _written(_several(RUN, ","), "reverse,sort"),
    "mapped": _written(RUN, "reverse"),
    "gauge": _listed("gauges", "gradient"),
    "route": _whole(0, 99, reset_by=("gauge",)),
    "what": _listed("embeddings", "src"),
    "token": _whole(0, MAX_CELLS, reset_by=(*SENTENCE, "what")),
    "by": _one_of("token", "place"),
    # comparison of runs
    "runs": _written(_several(RUN, ","), "reverse,sort"),  # the ticked ones; "-": none
    "over": _one_of("steps", "seconds", "tokens"),
    "seeds": _one_of("band", "each"),  # runs that differ in the seed only: their mean, or a line for each
    "find": Text(),  # in the table of runs
    "sort": _one_of("", *(f"{sign}{name}" for name in RUN_COLUMNS for sign in ("-", ""))),  # "-": the largest first
    "differ": _one_of("origin", "ticked"),  # show differences from a run's origin, or among the ticked runs
    "pin": _written(RUN, "reverse"),
    # the board of a class
    "activity": _written("[0-9a-f]{8}", "0a1b2c3d"),  # "": the newest one
    "arm": _whole(0, 7, reset_by=("activity",)),  # show only this one
    "revealed": _one_of("on", default="", reset_by=("activity",), local=True),  # shows the result
    "across": _one_of("parameters", "seconds", "knob", "scaling"),  # the x axis of the scores
    "names": _one_of("on", default="", local=True),  # for the teacher only
}

CARRIED = tuple(name for name, field in FIELDS.items() if field.carried)
FOLLOWED = tuple(name for name, field in FIELDS.items() if not (field.personal or field.local))  # shared by the teacher of a room
OF_RUN = tuple(name for name, field in FIELDS.items() if "run" in field.reset_by)  # reset when the run changes

# Former values of fields. Links may still use them.
FORMER_VALUES: dict[str, dict[str, str]] = {
    "tab": {
        "learn": "training", "lives": "teacher_forcing", "whatif": "interventions", "vectors": "embeddings", "health": "diagnostics",
        "evaluate": "evaluation",
    },
    "lab": {
        "leak_future": "bug_future", "leak_source": "bug_source", "leak_memory": "bug_memory", "leak_shift": "bug_shift",
        "leak_axis": "bug_axis", "leak_norm": "bug_norm", "leak_view": "bug_view", "leak_loss": "bug_loss", "leak_dropout": "bug_dropout",
        "leak_inverted": "bug_inverted", "twin": "nn_transformer",
    },
    "lesson": {"lives": "teacher_forcing"},
    "stop": {"cross": "weights"},
    "predicted": {"none": "unknown"},
}  # fmt: skip


def choices(name: str) -> tuple[str, ...]:
    """Returns the choices of a field that declares them itself, in display order."""
    return FIELDS[name].choices


def check(name: str, value: str, lists: Lists | None = None) -> None:
    """Raises Refusal for an unknown field or an invalid value; "" is always valid."""
    if name not in FIELDS:
        raise Refusal("config.unknown", name=shortened(name))
    if value and (refusal := FIELDS[name].refusal(name, value, lists)):
        raise refusal


def current_value(name: str, value: str) -> str:
    """Returns the present name of a field's value."""
    return FORMER_VALUES.get(name, {}).get(value, value)


def read_query(query: Mapping[str, str], lists: Lists) -> tuple[dict[str, str], dict[str, Refusal]]:
    """Returns the fields that a link sets, with their present values, and a Refusal for each invalid one."""
    now = {name: current_value(name, query[name]) for name in FIELDS if query.get(name)}
    ignored = {name: refusal for name, value in now.items() if (refusal := FIELDS[name].refusal(name, value, lists))}
    return {name: value for name, value in now.items() if name not in ignored}, ignored


def declared() -> dict[str, Any]:
    """Returns the declaration for the page's script."""
    causes = dict.fromkeys(cause for field in FIELDS.values() for cause in field.reset_by)
    return {
        "defaults": {name: field.default for name, field in FIELDS.items()},
        "resets": {cause: [name for name, field in FIELDS.items() if cause in field.reset_by] for cause in causes},
        "carried": CARRIED,
        "personal": [name for name, field in FIELDS.items() if field.personal],
        "followed": FOLLOWED,
        "entries": [name for name, field in FIELDS.items() if field.entry],
        "max_text": MAX_TEXT,
        "former_values": FORMER_VALUES,
    }
