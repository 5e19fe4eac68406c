"""Final questions of a lesson, made from the run, step and sentence on screen and graded at once. Read in this order:

posed (a question, and how wrong options are made) · forward_pass (on tokens, masks, attention, norms and outputs) · learning (on curves,
steps, data, and the limits of lists). Here each lesson has its questions, and the one repeated two lessons later.

The wrong options of some questions are common beliefs. A trained model refutes them: each has its numbers, of a run that ships with the
app or of a lab, and the place that shows the same ones. Twelve of them are asked before and after the course as well.

A question's messages are `checks.<name>`, and `checks.<name>_why` for its answer (of a belief what the model shows), and of each option
`checks.<name>_choice_<option>`; of a wrong belief also `checks.<name>_choice_<option>_why` (why it is believed).
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from playground.cursor import FIELDS, OF_RUN
from playground.lessons.checks import forward_pass, learning
from playground.lessons.checks.posed import Check, CheckContext, Option, Posed
from playground.lessons.course import LESSONS, Lesson, number

BEFORE, AFTER = ROUNDS = ("before", "after")  # the course: what the page calls these rounds in place of a lesson


@dataclass(frozen=True)
class Belief:
    """A question like `Check`. `to` opens the panel whose block `shows` (its kind and id) has the `measured` numbers of the answer."""

    name: str
    right: str
    wrong: tuple[str, ...]
    to: Mapping[str, str]
    shows: str
    measured: Mapping[str, Any]
    by_formula = False

    def pose(self, context: CheckContext | None = None) -> Posed:
        """Poses the question with the same order of options each time, so that answers can be counted."""
        names = [self.right, *self.wrong]
        random.Random(self.name).shuffle(names)
        options = tuple(Option(key=f"{self.name}_choice_{name}") for name in names)
        return Posed(options, names.index(self.right), self.measured, self.to, shows=self.shows)


def _open(run: str, tab: str, **more: str) -> dict[str, str]:
    """Returns the link to a tab with a run as it ships: its latest step, its first sentence, no changes."""
    return {name: FIELDS[name].default for name in OF_RUN} | {"run": run, "tab": tab} | more


_ATTENTION = {"follow": "off", "view": "matrix"}
BELIEFS = {
    belief.name: belief
    for belief in (
        Belief(
            "qkv", "matrices", ("equal", "sources", "same_space"),
            _open("german_english", "attention", part="encoder", follow="off", view="product", layer="1", head="1", q="3", k="3"),
            "text product-sum", {"product": -4.1215},
        ),
        Belief(
            "importance", "mixing", ("matters", "proportional"),
            _open("german_english", "interventions", change="row", off="c2.4", layer="2", head="4", q="0"),
            "cells row-cells", {"weight": 0.97},
        ),
        Belief(
            "triangle", "whole", ("triangle", "diagonal"),
            _open("reverse", "attention", part="cross", layer="2", head="3", q="0", k="11", **_ATTENTION),
            "figure attention", {"further": 11, "percent": 97},
        ),
        Belief(
            "wider", "likelier", ("better", "exhaustive"),
            _open("numbers_de", "evaluation", split="heldout", method="beam", beam="10", penalty="1"),
            "table scores", {"wide": 97.6, "greedy": 97.6},
        ),
        Belief(
            "padding", "as_much", ("skipped", "shorter"), _open("reverse", "masks", mask="padding"),
            "figure mask-own", {"hidden": 68, "cells": 289, "pads": 4},
        ),
        Belief(
            "unchanged", "another", ("useless", "noise"),
            _open("german_english", "interventions", change="heads", off="c1.3_c1.4_c2.1_c2.2_c2.4"),
            "text off-together", {"together": 14.6, "all": 500, "alone": 0.4},
        ),
        Belief(
            "cheating", "hidden", ("cheats", "told"),
            _open("reverse", "attention", part="decoder", layer="1", head="1", q="2", k="3", **_ATTENTION),
            "text attention-cell", {"row": 3, "column": 4, "weight": 0},
        ),
        Belief(
            "sentences", "fewer", ("same", "slightly"), _open("german_english", "training", step="40"),
            "numbers numbers", {"tokens": 95.1, "exact": 60.8},
        ),
        Belief(
            "parts", "all", ("split", "dimensions"),
            _open("german_english", "map", stop="", stage="encoder.0.self_attention.q", row="2", col="0"),
            "figure stage", {"tokens": 10, "d_k": 16, "d_model": 64},
        ),
        Belief(
            "learnt_positions", "added", ("learnt", "order"),
            {"tab": "labs", "lab": "permutation", "guess": "unknown", "set": "", "toss": "1"},
            "text verdict", {"with": 0.59},
        ),
        Belief(
            "more_heads", "equal", ("more", "double"), _open("reverse", "diagnostics"),
            "text costs-said", {"parameters": 239_262},
        ),
        Belief(
            "gpt", "none", ("encoder", "cross"), _open("reverse", "masks", mask="gpt"),
            "figure mask-own", {"hidden": 325, "cells": 676},
        ),
    )
}  # fmt: skip


# The same of every run that ships with the app: of all its outputs, of its updates, or of all its sentences longer than those of training.
ASIDE = {
    belief.name: belief
    for belief in (
        Belief(
            "one_vector", "few", ("order",), _open("german_english", "interventions", change="heads", squeeze="mean"),
            "table score", {"exact": 0.6, "tokens": 52.0, "all": 500},
        ),
        Belief(
            "against", "some", ("all",), _open("german_english", "teacher_forcing", q="0"),
            "figure votes-bars", {"lead": 6.52, "parts": 21, "against": 8},
        ),
        Belief(
            "updates", "one", ("tokens", "pairs"), _open("german_english", "step", moment="loss"),
            "figure step-losses", {"tokens": 758, "pairs": 96, "step": 74},
        ),
        Belief(
            "warming", "smaller", ("same",), _open("german_english", "step", step="1", moment="optimiser"),
            "text rule", {"first": 0.0032, "rate": 0.04},
        ),
        Belief(
            "plane", "less", ("most",), _open("german_english", "embeddings", what="src"),
            "figure plane", {"first": 9, "second": 7},
        ),
        Belief(
            "longer", "fewer", ("same",), _open("reverse", "evaluation", split="harder"),
            "table scores", {"longer": 0.0, "same": 99.0},
        ),
    )
}  # fmt: skip

LATER = 2  # lessons until a question is repeated

# The questions of each lesson: beliefs, or functions in one module.
QUESTIONS: dict[str, tuple[Any, ...]] = {
    "tokens": (forward_pass, "different_ids", "embedding_size"),
    "attention": (forward_pass, "importance", "attended"),
    "why": (forward_pass, "decoder_steps", "one_vector"),
    "weight": (forward_pass, "ratio", "qkv"),
    "heads": (forward_pass, "ranked_heads", "parts"),
    "votes": (forward_pass, "unchanged", "against"),
    "order": (forward_pass, "distance", "learnt_positions"),
    "masks": (forward_pass, "which_mask", "triangle", "padding"),
    "layers": (forward_pass, "normalised", "more_heads"),
    "training": (learning, "p_to_n", "sentences"),
    "step": (learning, "cross_entropy", "updates"),
    "teacher_forcing": (forward_pass, "fed_token", "cheating"),
    "steering": (learning, "clipped", "warming"),
    "decoding": (forward_pass, "wider", "temperature"),
    "measure": (learning, "perplexity", "plane"),
    "own": (learning, "trained_on", "longer"),
    "rules": (learning, "harder_kind", "list_share"),
    "gpt": (forward_pass, "gpt", "visible_keys"),
}
# Their keys follow from the paper's formulas, and would be wrong for a model with a bug or a variant.
BY_FORMULA = {
    "distance", "embedding_size", "normalised", "ranked_heads", "ratio", "visible_keys", "which_mask",
}  # fmt: skip
CHECKS: dict[str, tuple[Check | Belief, ...]] = {
    lesson: tuple((BELIEFS | ASIDE).get(name) or Check(name, getattr(module, name), name in BY_FORMULA) for name in names)
    for lesson, (module, *names) in QUESTIONS.items()
}


def list_own(lesson: Lesson) -> tuple[Check | Belief, ...]:
    """Returns the questions of a lesson; none for the tour, whose stops have their own."""
    return CHECKS.get(lesson.name, ())


def list_repeated(lesson: Lesson) -> tuple[Check | Belief, ...]:
    """Returns the repeated question of an earlier lesson, a different one each time; none in the first lessons."""
    at = number(lesson) - LATER
    earlier = list_own(LESSONS[at]) if at >= 0 else ()
    return earlier[(at - 1) % len(earlier) :][:1] if earlier else ()


def list_checks(lesson: Lesson) -> tuple[Check | Belief, ...]:
    return *list_own(lesson), *list_repeated(lesson)


def pose(check: Check | Belief, context: CheckContext, draw: int = 1) -> Posed:
    """Poses the question about this sentence, deterministically; another `draw` selects another row, head or token. Raises Refusal where it
    can't be posed."""
    chance = random.Random(f"{check.name} {context.run.id} {context.step} {context.text} {draw}")
    return check.pose(replace(context, chance=chance))
