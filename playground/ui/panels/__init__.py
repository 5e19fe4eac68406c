"""One module per tab: each reads a view, queries what it needs and returns blocks. Read in this order:

sentence (the line above every tab) · training and outcome · translate, candidates and beam_tree · decoding_step (one step,
wherever it is shown) · map · attention, attention_views, heads and head_choice · model_view (all heads at once) · lanes, teacher_forcing
and votes · interventions, edit_row and head_importance · masks · positions · data · embeddings · diagnostics · step (one training step in
slow motion) · evaluation · runs, run_table, same_sentence and disagreements (several runs side by side) · board (a class's runs),
board_verdict and board_course (its progress) · lessons (labs and the course).

A panel is a function of a `View` that returns {"step": the step of its numbers, "blocks": its content}. "recorded": the numbers were saved
in training, at fewer steps than the sentence's snapshots.
"""

from __future__ import annotations

from collections.abc import Callable

from playground.config import Refusal, default
from playground.runs.run import Run
from playground.ui.panels import (
    attention,
    board,
    data,
    diagnostics,
    disagreements,
    embeddings,
    evaluation,
    head_importance,
    interventions,
    masks,
    positions,
    runs,
    same_sentence,
    sentence,
    teacher_forcing,
    training,
    translate,
)
from playground.ui.panels.lessons import checks, course, labs
from playground.ui.panels.map import panel as map
from playground.ui.panels.step import panel as step
from playground.ui.titles import variant_name
from playground.ui.view import View

PANELS: dict[str, Callable[[View], dict]] = {
    "sentence": sentence.panel,
    "training": training.panel,
    "translate": translate.panel,
    "map": map.panel,
    "teacher_forcing": teacher_forcing.panel,
    "attention": attention.panel,
    "interventions": interventions.panel,
    "masks": masks.panel,
    "positions": positions.panel,
    "data": data.panel,
    "embeddings": embeddings.panel,
    "diagnostics": diagnostics.panel,
    "step": step.panel,
    "evaluation": evaluation.panel,
    "runs": runs.panel,
    "board": board.panel,
    "course": course.panel,
    "labs": labs.panel,
    "reach": evaluation.build_reach,
    "score": head_importance.build_score,
    "importance": head_importance.build_importance,
    "same_sentence": same_sentence.panel,
    "disagreements": disagreements.panel,
    "checks": checks.panel,
}
# They rely on the paper's formulas, and would be wrong for a model variant.
BY_FORMULA = ("map", "teacher_forcing", "interventions", "masks", "positions", "embeddings", "diagnostics", "step", "reach", "importance")
# They show attention weights, one matrix per head and layer, which a recurrent model doesn't have.
BY_ATTENTION = ("attention", "score")
# Sections of the page -> their tabs.
PLACES: dict[str, tuple[str, ...]] = {
    "train": ("training", "step", "data", "diagnostics"),
    "inside": ("map", "attention", "masks", "positions", "embeddings"),
    "use": ("translate", "teacher_forcing", "interventions", "evaluation"),
    "compare": ("runs", "board"),
    "lessons": ("course", "labs"),
}
TABS = tuple(name for tabs in PLACES.values() for name in tabs)


def list_unavailable(run: Run) -> tuple[str, ...]:
    """Returns the panels that would show something a run's model isn't or doesn't have."""
    model = run.experiment.model
    if model.alteration.recurrent:
        return BY_FORMULA + BY_ATTENTION
    return BY_FORMULA if model.variant != default("variant") else ()


def check(name: str, view: View) -> None:
    """Raises Refusal for a panel that is unavailable."""
    if name in list_unavailable(view.run):
        touring, recurrent = name == "map" and view.read_raw("stop"), view.run.experiment.model.alteration.recurrent
        key = "tour.has_variant" if touring else "page.is_recurrent" if recurrent else "page.has_variant"
        raise Refusal(key, variant=variant_name(view.run, view.language))
