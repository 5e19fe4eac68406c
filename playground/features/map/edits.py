"""Numbers typed over on the map: the passes before and after, and their differences in words."""

from playground.config import Refusal
from playground.features.map.layout import list_path, write_change, write_pair
from playground.features.map.stage import Passes, name_columns, name_rows
from playground.features.shared import blocks
from playground.features.shared.decoding import build_comparison
from playground.features.shared.queries.activations import Cell, EditedActivations, activations, edited_activations
from playground.features.shared.view import View, texts
from playground.inspection.edits import TensorEdit, parse, select_learned
from playground.words import paragraph

MAX_NAMED = 3  # edits in the sentence; more are counted
RAW = ("scores", "scaled", "masked")  # large numbers, also of masked cells; their weights tell more


def run_passes(view: View, cell: Cell | None, text: str) -> Passes:
    """Runs the model with the edits of `text`; without them if they don't fit this model and sentence."""
    context, refusal = (view.reader, view.run, view.step, view.text, view.reference), None
    try:
        if edits := parse(text):
            edited, derivation = edited_activations(*context, cell, edits)
            return Passes(edited.after, derivation, edited, edits)
    except Refusal as error:
        if not error.key.startswith("edits."):
            raise
        refusal = error
    return Passes(*activations(*context, cell), refusal=refusal)


def build_effect(view: View, passes: Passes) -> list[dict]:
    """Builds the edits in force with the ways to undo them, what they change on the map, and the outputs before and after."""
    text = view.field("edits")
    if not text:
        return []
    undo = blocks.button("undo-edit", "move", view.say("edits.undo"), to={"edits": text.rpartition(";")[0]})
    undo_all = blocks.button("undo-edits", "move", view.say("edits.undo_all"), to={"edits": ""})
    if passes.refusal or not passes.edited:
        reason = passes.refusal.say(view.language) if passes.refusal else ""
        return [blocks.row("edits", blocks.text("edits-refused", reason, css="pg-warning"), undo, undo_all, css="controls")]
    edited, likely = passes.edited, []
    for each in (edited.before, edited.after):
        likely.append([float(row[piece.id]) for row, piece in zip(each.stages["probabilities"].values, each.targets, strict=True)])
    names = [_name_edit(view, edited, *pair) for pair in zip(passes.edits, edited.originals, strict=True)]
    more = [view.say("edits.more", count=len(names) - MAX_NAMED)] if len(names) > MAX_NAMED else []
    typed = view.say("edits.typed", edits=view.say("interventions.and").join([*names[-MAX_NAMED:], *more]))
    learned = select_learned(view.reader.model_at(view.run, view.step)[0], passes.edits)
    limit = [view.say("edits.only_learned")] if len(learned) < len(passes.edits) else []
    sentence = blocks.text("edits-typed", paragraph([typed, _describe(view, passes), view.say("edits.private"), *limit]), css="pg-cell")
    values = {"step": edited.after.step, "edits": ";".join(map(str, learned))}
    keep = [blocks.button("keep-edits", "command", view.say("edits.keep"), command="fork", values=values)] if learned else []
    comparison = build_comparison(view, edited.outputs, texts(edited.before.targets), (likely[0], likely[1]), changed=True)
    return [blocks.row("edits", sentence, undo, undo_all, *keep, css="controls"), *comparison]


def _name_edit(view: View, edited: EditedActivations, edit: TensorEdit, original: float) -> str:
    """Names the place of an edit, a learned number as in torch, with its first old and new value."""
    if edit.seed is not None:
        return view.say("edits.entry_random", name=edit.name)
    in_stage = edit.name in edited.before.stages
    place = _name_cell(view, edited, edit.name, edit.index) if in_stage else f"{edit.name}[{', '.join(map(str, edit.index))}]"
    before, after = write_pair(original, edit.values[0])
    return view.say("edits.entry", place=place, before=before, after=after)


def _name_cell(view: View, edited: EditedActivations, address: str, index: tuple[int, ...]) -> str:
    """Names a cell of a stage by the stage's path, its head, its row and its column."""
    forward, stage = edited.before, edited.before.stages[address]
    *head, row, column = index
    cell = view.say("map.cell", row=name_rows(view, forward, stage)[0][row], column=name_columns(view, forward, stage)[0][column])
    heads = [view.say("map.head_of", head=head[0] + 1, heads=stage.values.shape[0])] if head else []
    return " › ".join([*list_path(view, stage), *heads, cell])


def _describe(view: View, passes: Passes) -> str:
    """Describes the number of tensors that change, and the largest change that was not typed."""
    edited, typed = passes.edited, {edit.name for edit in passes.edits}
    computed = {address: change for address, change in edited.differences.items() if address not in typed}
    if not computed:
        return view.say("edits.nothing")
    telling = [name for name in computed if not name.endswith(RAW)] or [*computed]
    address = max(telling, key=lambda name: abs(computed[name].after - computed[name].before))
    counts = {"changed": len(computed), "all": len(edited.before.stages)}
    place = _name_cell(view, edited, address, computed[address].index)
    return view.say("edits.changed", **write_change(computed[address]), **counts, place=place)
