"""Twelve questions whose wrong options are common beliefs. A trained model refutes them: each has its numbers, measured on a run that ships
with the app, and the place where the same can be seen there. They are asked before the course, within it and after it.

The messages of a belief are `checks.<name>`, `checks.<name>_why` (what the model shows), and of each option
`checks.<name>_choice_<option>`; of a wrong one also `checks.<name>_choice_<option>_why` (why it is believed).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.lessons.checks.posed import CheckContext, Option, Posed

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
            "parts", "all", ("split", "dimensions"), {"tab": "attention", "run": "german_english", "view": "matrix", "part": "encoder"},
            {"heads": 8},
        ),
        Belief("learnt_positions", "added", ("learnt", "order"), {"tab": "labs", "lab": "permutation"}, {"with": 5.0, "without": 6e-7}),
        Belief("more_heads", "equal", ("more", "double"), {"tab": "labs", "lab": "heads"}, {"parameters": 239_262}),
        Belief("gpt", "none", ("encoder", "cross"), {"tab": "masks", "mask": "gpt"}, {"parameters": 0}),
    )
}  # fmt: skip
