"""Final questions of a lesson, made from the run, step and sentence on screen and graded at once. Read in this order:

posed (a question, and how wrong options are made) · attending (on attention, heads, scores, residuals and norms) · reading (on tokens,
positions, masks and outputs) · learning (on curves, steps, data, and the limits of lists). Here each lesson has its questions, and the one
repeated two lessons later.

The wrong options of twelve questions are common beliefs. A trained model refutes them: each has its numbers, measured on a run that ships
with the app, and the place where the same can be seen there. They are asked before and after the course as well.

A question's messages are `checks.<name>`, and `checks.<name>_why` for its answer (of a belief what the model shows), and of each option
`checks.<name>_choice_<option>`; of a wrong belief also `checks.<name>_choice_<option>_why` (why it is believed).
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playground.lessons.checks import attending, learning, reading
from playground.lessons.checks.posed import Check, CheckContext, Option, Posed
from playground.lessons.course import LESSONS, Lesson, number

BEFORE, AFTER = ROUNDS = ("before", "after")  # the course: what the page calls these rounds in place of a lesson


@dataclass(frozen=True)
class Belief:
    """A question like `Check`. `measured` are the numbers of its answer; `to` opens what shows them."""

    name: str
    right: str
    wrong: tuple[str, ...]
    to: Mapping[str, str]
    measured: Mapping[str, Any] = field(default_factory=dict)
    by_formula = False

    def pose(self, context: CheckContext | None = None) -> Posed:
        """Poses the question with the same order of options each time, so that answers can be counted."""
        names = [self.right, *self.wrong]
        random.Random(self.name).shuffle(names)
        options = tuple(Option(key=f"{self.name}_choice_{name}") for name in names)
        return Posed(options, names.index(self.right), self.measured, self.to)


_HEADS = {"tab": "interventions", "run": "german_english", "change": "heads"}
BELIEFS = {
    belief.name: belief
    for belief in (
        Belief(
            "qkv", "matrices", ("equal", "sources", "same_space"),
            {"tab": "map", "run": "german_english", "stage": "encoder.0.self_attention.q"}, {"cosine": 0.09},
        ),
        Belief("importance", "mixing", ("matters", "proportional"), _HEADS | {"off": "c2.4"}, {"weight": 86, "same": 60, "all": 60}),
        Belief(
            "triangle", "whole", ("triangle", "diagonal"),
            {"tab": "attention", "run": "reverse", "view": "matrix", "part": "cross", "layer": "2"}, {"percent": 100},
        ),
        Belief(
            "wider", "likelier", ("better", "exhaustive"), {"tab": "translate", "run": "numbers_de", "method": "beam", "beam": "4"},
            {"greedy": 97, "beam": 97, "wide": 97, "all": 100},
        ),
        Belief(
            "padding", "as_much", ("skipped", "shorter"), {"tab": "masks", "mask": "padding"},
            {"padded": 7_794_688, "short": 5_795_840},
        ),
        Belief(
            "unchanged", "another", ("useless", "noise"), _HEADS | {"off": "c1.3_c1.4_c2.1_c2.2_c2.4"},
            {"alone": 60, "together": 51, "all": 60},
        ),
        Belief("cheating", "hidden", ("cheats", "told"), {"tab": "labs", "lab": "bug_future"}, {"change": 0}),
        Belief(
            "sentences", "fewer", ("same", "slightly"), {"tab": "training", "run": "german_english", "step": "40"},
            {"tokens": 95, "exact": 61},
        ),
        Belief(
            "parts", "all", ("split", "dimensions"),
            {"tab": "map", "run": "german_english", "stage": "encoder.0.self_attention.q", "row": "2", "col": "0"},
            {"heads": 8, "d_model": 64, "d_k": 16, "least": 0.046},
        ),
        Belief("learnt_positions", "added", ("learnt", "order"), {"tab": "labs", "lab": "permutation"}, {"with": 5.0, "without": 6e-7}),
        Belief("more_heads", "equal", ("more", "double"), {"tab": "labs", "lab": "heads"}, {"parameters": 239_262}),
        Belief("gpt", "none", ("encoder", "cross"), {"tab": "masks", "mask": "gpt"}, {"parameters": 0}),
    )
}  # fmt: skip


LATER = 2  # lessons until a question is repeated

# The questions of each lesson: beliefs, or functions in one module.
QUESTIONS: dict[str, tuple[Any, ...]] = {
    "tokens": (reading, "different_ids", "embedding_size"),
    "attention": (attending, "importance", "attended"),
    "why": (reading, "decoder_steps"),
    "weight": (attending, "ratio", "qkv", "shifted"),
    "heads": (attending, "ranked_heads", "parts"),
    "votes": (attending, "unchanged"),
    "order": (reading, "distance", "learnt_positions", "orders"),
    "masks": (reading, "which_mask", "triangle", "padding"),
    "layers": (attending, "residual_sum", "normalised", "more_heads"),
    "training": (learning, "p_to_n", "sentences"),
    "step": (learning, "cross_entropy"),
    "teacher_forcing": (reading, "fed_token", "cheating"),
    "steering": (learning, "clipped"),
    "decoding": (reading, "wider", "temperature", "beam_best"),
    "measure": (learning, "perplexity"),
    "own": (learning, "trained_on"),
    "rules": (learning, "harder_kind", "list_share"),
    "gpt": (reading, "gpt", "visible_keys"),
}
# Their keys follow from the paper's formulas, and would be wrong for a model with a bug or a variant.
BY_FORMULA = {
    "distance", "embedding_size", "normalised", "ranked_heads", "ratio", "residual_sum", "shifted", "visible_keys", "which_mask",
}  # fmt: skip
CHECKS: dict[str, tuple[Check | Belief, ...]] = {
    lesson: tuple(BELIEFS.get(name) or Check(name, getattr(module, name), name in BY_FORMULA) for name in names)
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
