"""Rule or list: how a model uses a word seen only by itself, and how many examples of its use it needs (after SCAN, Lake and Baroni 2018).
The splits are in playground/tasks/commands.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from playground.lessons.controlled import DEVIATIONS, ENOUGH_SEEDS, ControlledExperiment, Result, Results, mean, measure_harder, spread
from playground.lessons.lab import Outcome
from playground.tasks.commands import COUNTS
from playground.tasks.grammars import Grammar

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


LAB = RuleOrList(
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
