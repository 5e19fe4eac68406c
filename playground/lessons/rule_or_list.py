"""Rule or list: what a model makes of a word that it has only seen by itself, and how many examples of its use it takes (after SCAN, Lake
and Baroni 2018). The splits are those of playground/tasks/commands.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from playground.lessons.controlled import DEVIATIONS, ENOUGH_SEEDS, ControlledExperiment, Result, Results, mean, spread
from playground.lessons.judges import harder
from playground.lessons.lab import Outcome
from playground.tasks.commands import COUNTS
from playground.tasks.grammars import Grammar

MOST = 0.5  # of the commands that training never shows: with more of them right, the word is used as a rule would use it
GUESSES = {0: "none", 1: "one", 4: "four", 16: "sixteen"}


def generalises(found: Sequence[Result]) -> bool | None:
    """Whether most commands of the harder kind are right; None where seeds are so far apart that it can't be told."""
    share, apart = mean(found, "harder"), DEVIATIONS * spread([found], "harder")
    return True if share - apart > MOST else False if share + apart <= MOST else None


def examples_needed(results: Results) -> str:
    """The least number of examples of use from which on most of the other commands are right; "more" when even the largest is too small,
    "open" when seeds disagree or more examples do worse than fewer."""
    found = {count: generalises(results[f"jump_{count}"]) for count in COUNTS}
    enough = [count for count in COUNTS if found[count]]
    if None in found.values() or enough != list(COUNTS[len(COUNTS) - len(enough) :]):
        return "open"
    return GUESSES[enough[0]] if enough else "more"


class RuleOrList(ControlledExperiment):
    def verdict(self, results: Sequence[Sequence[Result]]) -> Outcome:
        """With enough seeds, what they agree on: where they don't, the question is open, whatever their mean says."""
        found = super().verdict(results)
        agreed = examples_needed({each[0].arm: each for each in results})
        return replace(found, answer=agreed) if min(map(len, results)) >= ENOUGH_SEEDS else found


RULE_OR_LIST = RuleOrList(
    "rule_or_list",
    "ablation",
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
    more=harder,
    expects="sixteen",
    minutes=8,
    next=("beyond", "why_attention"),
)
