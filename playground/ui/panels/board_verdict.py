"""The verdict on a class experiment: by the rule of the dealt lab, else by which arm ends above which."""

from __future__ import annotations

from collections.abc import Sequence

from playground.lessons.controlled import CLOSE, ENOUGH_SEEDS, ControlledExperiment, Outcome, Result, above
from playground.queries.pooled import compare_pairs
from playground.ui.class_board import Board, ClassRun
from playground.ui.panels.lessons import experiment as lab_experiment
from playground.ui.view import View
from playground.words import listed, paragraph


def write_verdict(view: View, class_board: Board, outcome: Outcome | None) -> tuple[str, str]:
    """Returns (the verdict on the ended runs, its explanation and caveats): the lab's own, else which arm ends above which."""
    ended = class_board.ended
    if class_board.lab:
        return _write_lab_verdict(view, class_board, class_board.lab, outcome)
    if len(ended) < 2:
        return view.say("board.no_verdict", ended=sum(map(len, ended.values())), dealt=len(class_board.activity["dealt"])), ""
    first, second = sorted(ended, key=lambda arm: -class_board.pooled(arm).mean)[:2]
    comparison = compare_pairs(class_board.scores(first), class_board.scores(second))
    values = {"first": class_board.arms[first], "second": class_board.arms[second], "above": comparison.above, "pairs": comparison.all}
    results = [_build_results(ended[arm]) for arm in (first, second)]
    fewest = min(map(len, results))
    verdict_key = "one" if fewest < 2 else "above" if above(*results, "exact", CLOSE) else "close"  # one run has no spread
    notes = [view.say(f"board.why_{verdict_key}", same=comparison.same)] if fewest > 1 else []
    if fewest < ENOUGH_SEEDS:
        notes.append(view.say("board.weak_runs", least=ENOUGH_SEEDS, fewest=fewest))
    missing_count = len(class_board.arms) - len(ended)
    if missing_count:
        notes.append(view.say("board.arms_missing", count=missing_count))
    return view.say(f"board.verdict_{verdict_key}", **values), paragraph(notes)


def judge_lab(view: View, class_board: Board) -> Outcome | None:
    """Judges the ended runs by the lab's rule; None until every arm has an ended run."""
    lab, ended = class_board.lab, class_board.ended
    if lab is None or len(ended) < len(class_board.arms):
        return None
    names = list(lab.arms)
    return lab.verdict([
        [lab_experiment.measure_result(view.runs, view.open_reader, lab, names[arm], student.number, student.run) for student in ended[arm]]
        for arm in sorted(ended)
    ])  # fmt: skip


def _write_lab_verdict(view: View, class_board: Board, lab: ControlledExperiment, outcome: Outcome | None) -> tuple[str, str]:
    """Writes the lab's answer and its caveats. One run per arm has no spread, so the answer then is only what the rule gives so far."""
    if outcome is None:
        missing = [name for arm, name in enumerate(class_board.arms) if arm not in class_board.ended]
        return view.say("board.lab_waits", arms=listed(view.language, missing)), ""
    fewest, answer = class_board.min_runs, lab.say(view.language, f"guess_{outcome.answer}")
    caveats = lab_experiment.list_caveats(view, lab, outcome) if fewest > 1 else [view.say("lessons.weak_seeds", seeds=fewest)]
    reasons = [lab.say(view.language, f"why_{outcome.answer}", **outcome.numbers), *caveats]
    return view.say("board.lab_so_far" if fewest < 2 else "board.lab_answer", answer=answer), paragraph(reasons)


def _build_results(runs: Sequence[ClassRun]) -> list[Result]:
    return [Result(str(student.arm), student.number, student.run, {}, {"exact": student.score}) for student in runs]
