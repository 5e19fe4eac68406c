"""What the arms of a class came to together: by the judge of the lab that was dealt, else which arm ends above which."""

from __future__ import annotations

from collections.abc import Sequence

from playground.lessons.controlled import CLOSE, ENOUGH_SEEDS, ControlledExperiment, Outcome, Result, above
from playground.queries.pooled import compare_pairs
from playground.ui.class_board import Board, ClassRun
from playground.ui.panels.lessons import experiment as lab_experiment
from playground.ui.view import View
from playground.words import listed, paragraph


def verdict(view: View, found: Board, result: Outcome | None) -> tuple[str, str]:
    """What the runs that have ended say: to the lab, by its own judge, else which arm ends above which; and how that is meant, and how
    strong it is."""
    ended = found.ended
    if found.lab:
        return _of_lab(view, found, found.lab, result)
    if len(ended) < 2:
        return view.say("board.no_verdict", ended=sum(map(len, ended.values())), dealt=len(found.activity["dealt"])), ""
    first, second = sorted(ended, key=lambda arm: -found.pooled(arm).mean)[:2]
    counted = compare_pairs(found.scores(first), found.scores(second))
    values = {"first": found.arms[first], "second": found.arms[second], "above": counted.above, "pairs": counted.all}
    results = [_results(ended[arm]) for arm in (first, second)]
    fewest = min(map(len, results))
    key = "one" if fewest < 2 else "above" if above(*results, "exact", CLOSE) else "close"  # one run has no spread
    said = [view.say(f"board.why_{key}", same=counted.same)] if fewest > 1 else []
    if fewest < ENOUGH_SEEDS:
        said.append(view.say("board.weak_runs", least=ENOUGH_SEEDS, fewest=fewest))
    others = len(found.arms) - len(ended)
    if others:
        said.append(view.say("board.arms_missing", count=others))
    return view.say(f"board.verdict_{key}", **values), paragraph(said)


def outcome(view: View, found: Board) -> Outcome | None:
    """What the lab says of the runs that have ended; None until every arm has one."""
    lab, ended = found.lab, found.ended
    if lab is None or len(ended) < len(found.arms):
        return None
    names = list(lab.arms)
    return lab.verdict([
        [lab_experiment.result(view.runs, view.open_reader, lab, names[arm], one.number, one.run) for one in ended[arm]]
        for arm in sorted(ended)
    ])  # fmt: skip


def _of_lab(view: View, found: Board, lab: ControlledExperiment, result: Outcome | None) -> tuple[str, str]:
    """The answer of a lab. With one run of an arm there is no spread, so that it is what its rule says so far."""
    if result is None:
        missing = [name for arm, name in enumerate(found.arms) if arm not in found.ended]
        return view.say("board.lab_waits", arms=listed(view.language, missing)), ""
    fewest, answer = found.fewest, lab.say(view.language, f"guess_{result.answer}")
    reserves = lab_experiment.reserves(view, lab, result) if fewest > 1 else [view.say("lessons.weak_seeds", seeds=fewest)]
    why = [lab.say(view.language, f"why_{result.answer}", **result.numbers), *reserves]
    return view.say("board.lab_so_far" if fewest < 2 else "board.lab_answer", answer=answer), paragraph(why)


def _results(runs: Sequence[ClassRun]) -> list[Result]:
    return [Result(str(one.arm), one.number, one.run, {}, {"exact": one.score}) for one in runs]
