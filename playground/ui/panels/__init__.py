"""One module a tab: each reads a view, asks for what it needs and says which blocks to show. Read in this order:

sentence (the line that is always there) · training and outcome · translate, candidates, sampled and beam_tree · decoding_step (one
step, wherever it is shown) · map · attention, attention_views, heads and head_choice · model_view (all heads at once) · lanes,
teacher_forcing and votes · interventions, edit_row and head_importance · masks · positions · data · embeddings · diagnostics · step (one
training step in slow motion) ·
evaluation · runs, run_table, same_sentence and disagreements (several runs side by side) · board (those of a class), board_verdict
(what they say) and board_course (how far it has come) · lessons (labs and the course).

A panel is a function of a `View` that returns {"step": the step its numbers are from, "blocks": what is shown}. "recorded": training kept
its numbers, and does so at fewer steps than there are pictures of the sentence.
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
    "reach": evaluation.reach,
    "score": head_importance.score,
    "importance": head_importance.importance,
    "same_sentence": same_sentence.panel,
    "disagreements": disagreements.panel,
    "checks": checks.panel,
}
# What they show follows from the paper's formulas, and would be wrong of a model that was changed on purpose.
BY_FORMULA = ("map", "teacher_forcing", "interventions", "masks", "positions", "embeddings", "diagnostics", "step", "reach", "importance")
# What they show are weights of attention, one matrix for each head of each layer, which a recurrent model doesn't have.
BY_ATTENTION = ("attention", "score")
# The page's places, and the tabs in each.
PLACES: dict[str, tuple[str, ...]] = {
    "train": ("training", "step", "data", "diagnostics"),
    "inside": ("map", "attention", "masks", "positions", "embeddings"),
    "use": ("translate", "teacher_forcing", "interventions", "evaluation"),
    "compare": ("runs", "board"),
    "lessons": ("course", "labs"),
}
TABS = tuple(name for tabs in PLACES.values() for name in tabs)


def unavailable(run: Run) -> tuple[str, ...]:
    """The panels that would show what the model of a run isn't, or hasn't got."""
    model = run.experiment.model
    if model.alteration.recurrent:
        return BY_FORMULA + BY_ATTENTION
    return BY_FORMULA if model.variant != default("variant") else ()


def check(name: str, view: View) -> None:
    """Raises Refusal for a panel that is unavailable."""
    if name in unavailable(view.run):
        touring, recurrent = name == "map" and view.read_raw("stop"), view.run.experiment.model.alteration.recurrent
        key = "tour.has_variant" if touring else "page.is_recurrent" if recurrent else "page.has_variant"
        raise Refusal(key, variant=variant_name(view.run, view.language))
