"""The Map tab: the model as one drawing, the tour through it, and what the numbers typed over change."""

import math
from collections.abc import Mapping

from playground.config import Refusal
from playground.features import map as kinds
from playground.features.map import stage, worksheets
from playground.features.map.layout import MAX_UNFOLDED, build_plan, list_path, write_change, write_pair
from playground.features.map.stage import Passes, name_columns, name_rows
from playground.features.shared import blocks, heads as head_choice, panels
from playground.features.shared.decoding import build_comparison
from playground.features.shared.figures import theme
from playground.features.shared.queries.activations import Cell, EditedActivations, SentenceActivations, activations, edited_activations
from playground.features.shared.view import View, texts
from playground.inspection.activations import Stage
from playground.inspection.edits import TensorEdit, parse, select_learned
from playground.inspection.formulas import divisor, formula
from playground.lessons.tour import STOPS, Head, Reading, find_reading, kind_of, list_notes
from playground.model.attention import head_widths
from playground.runs.memory import LRU
from playground.words import known, paragraph, percentage

PLANS = LRU(64, 8_000_000)  # of drawings; a click on a cell changes none
OWN_FORMULA = {"projections", "sublayer", "loop"}  # of stops whose formula covers more than the open stage
# Variant -> the one whose formula it shares: like pre-norm, no norm has none around the sum; the text explains memory_mode.
SAME_FORMULA = {
    "sublayer_none": "sublayer_pre", "sublayer_alone_none": "sublayer_alone_pre",
    "projections_mean": "projections", "projections_cut": "projections",
}  # fmt: skip
OWN_QUESTION = {"positions_rotary", "positions_none"}  # stops that ask for another number than in the paper's model
WORDS = ("label", "check", "previous", "next", "skip", "end", "keys", "sign", "no_number", "nearly")
MAX_NAMED = 3  # edits in the sentence; more are counted
RAW = ("scores", "scaled", "masked")  # large numbers, also of masked cells; their weights tell more


@panels.declare("map", "inside", 1, panels.FORMULA)
def panel(view: View) -> dict:
    config, stop = view.run.experiment.model, view.choice("stop", tuple(STOPS))
    layers = {stack: config.attention_layers(stack) for stack in ("encoder", "decoder")}
    if config.alteration.decoder_only:
        layers = {"layers": layers["decoder"]}
    part = kind_of(stop) if stop else view.part
    if stop:  # the clearest pattern, whatever head is chosen: by the newest parameters, so that it stays over the replay
        chosen = head_choice.find_best_head(view.reader.look(view.run, None, view.text, head_choice.REFERENCE), part)
    else:
        chosen = head_choice.choose_head(view, part)
    head = chosen[1]  # the drawing shows it in every layer
    context = view.reader, view.run, view.step, view.text, view.reference
    reading_at_stop = find_reading(activations(*context)[0].stages, config, stop, chosen) if stop else None
    address = view.field("stage") or (reading_at_stop.address if reading_at_stop else "")
    cell = _choose_cell(view, address, reading_at_stop)
    passes = run_passes(view, Cell(address, head, *cell) if address and cell else None, "" if stop else view.field("edits"))
    forward, edited = passes.forward, passes.edited
    opened = forward.stages.get(address)
    unfolded = _choose_layers(address, layers)
    visible = {stack: n or 0 for stack, n in unfolded.items()}
    differences = edited.differences if edited else {}
    key = forward.number, view.language, head, *visible.values()
    plan = PLANS.get_or_make(key, lambda: build_plan(view, forward, head, visible, differences))
    effect = build_effect(view, passes) if not stop else []
    drawing = kinds.map(
        "map",
        view.say("map.label"),
        open=opened.address if opened else "",
        close=next((f"{stack}.{n}" for stack, n in unfolded.items() if n and layers[stack] > MAX_UNFOLDED), ""),
        here=list_breadcrumbs(view, forward, opened, head),
        **plan,
        colours=_pick_colours(view.dark),
        words={name: view.say(f"map.{name}") for name in ("here", "close", "previous", "next", "masked", "blocks")},
        blocks=stage.build_stage(view, passes, opened, head, cell, bool(stop), effect) if opened else [],
    )
    if stop:
        content = [build_stop(view, forward, stop, chosen), drawing]
    else:
        about_text = blocks.text("about", view.say("map.about"), css="pg-caption")
        choice_row = blocks.row("choices", *_build_choices(view, chosen, config.n_heads), css="controls")
        content = [about_text, choice_row, *([] if opened else effect), drawing, _build_worksheet(view, opened)]
    return {"step": forward.step, "held": head_choice.format_head(part, *chosen), "blocks": content}


def list_breadcrumbs(view: View, forward: SentenceActivations, opened: Stage | None, head: int) -> list[dict]:
    """Lists the breadcrumbs from the whole model to the open stage. A piece with a "stage" links to it; an "aside" is a remark."""
    pieces: list[dict] = [{"text": view.say("map.whole"), "stage": ""}]
    if opened:
        pieces += [{"text": name} for name in list_path(view, opened)]
    if opened and opened.layer is not None:
        pieces[2]["stage"] = ".".join(opened.address.split(".")[:2])
    if opened and opened.axes[0] == "H":
        pieces.append({"text": view.say("map.head_of", head=head + 1, heads=opened.values.shape[0]), "aside": True})
    return [*pieces, {"text": view.say("map.at_step", step=f"{forward.step:,}"), "aside": True}]


def _build_choices(view: View, chosen: tuple[int, int], heads: int) -> list[dict]:
    """Builds the choices of the shown head and of the decoder's input."""
    layer, head = chosen
    numbers = [{"value": str(n + 1), "label": str(n + 1)} for n in range(heads)]
    resets = {"layer": layer + 1, "follow": "off"}  # the cursor stores a head with its layer
    controls = [blocks.choice("head", "head", view.say("map.head"), numbers, str(head + 1), resets=resets)] if heads > 1 else []
    return [*controls, view.offer_feed()]


def _choose_cell(view: View, address: str, at_stop: Reading | None) -> tuple[int, int] | None:
    """Returns the cursor's (row, column), which the model may not have; by default the cell that the tour's stop asks for."""
    row, col = view.number("row"), view.number("col")
    if None not in (row, col):
        return row, col
    return at_stop.place if at_stop and at_stop.address == address else None


def _choose_layers(address: str, layers: Mapping[str, int]) -> dict[str, int | None]:
    """Returns the requested layer of each stack, else None: "decoder.3" requests a layer, and so does every stage in it."""
    stack, _, rest = address.partition(".")
    number = rest.partition(".")[0]
    is_layer = number.isascii() and number.isdigit() and len(number) < 3 and int(number) < layers.get(stack, 0)
    return {name: int(number) if is_layer and name == stack else None for name in layers}


def _pick_colours(dark: bool) -> dict:
    """Returns the colour scales of the large pictures, for the small ones."""
    palette = theme.colors(dark)
    return {
        "signed": theme.diverging(dark),
        "probability": theme.sequential(dark),
        "plain": [palette["paper"], palette["paper"], palette["line"]],
        "masked": palette["masked"],
        "hatch": palette["hatch"],
    }


def _build_worksheet(view: View, opened: Stage | None) -> dict:
    """Builds the link to a printable worksheet, by a student's number; by default of the open attention."""
    words = {name: view.say(f"map.paper_{name}") for name in ("title", "about", "seed", "open", "key")}
    words["attention"] = view.say("map.worksheet_kind")
    options = [{"value": kind, "label": view.say(f"map.worksheet_kind_{kind}")} for kind in (*worksheets.KINDS, *worksheets.RUN_SHEETS)]
    return kinds.worksheet("worksheet", options, opened.part if opened else "encoder", words)


def build_stop(view: View, forward: SentenceActivations, stop: str, head: Head) -> dict:
    """Builds the stop on this head."""
    names, config = tuple(STOPS), view.run.experiment.model
    at, question = names.index(stop), find_reading(forward.stages, config, stop, head)
    stage = forward.stages[question.address]
    rows, columns = name_rows(view, forward, stage)[0], name_columns(view, forward, stage)[0]
    variant = f"{stop}_{question.variant}".removesuffix("_")
    column = question.cell[-1] if question.cell else 0
    place = {"row": rows[question.row], "number": question.row + 1, "column": columns[column], "at": column + 1}
    unit = stop if question.is_whole else "cell" if stage.axes[-1] in "STV" else "dimension"

    def write_slip(name: str, index: int) -> str:
        """Writes the hint for reading another row or column, or for counting the hatched cells."""
        names = {"row": rows, "column": columns}.get(name)
        return view.say(f"tour.slip_{name}", number=index + 1, name=names[index] if names else "")

    return kinds.tour(
        "tour",
        stop=stop,
        place=view.say("tour.place", number=at + 1, count=len(names)),
        title=view.say(f"tour.title_{stop}"),
        text=_write_text(view, stop, variant, head),
        formula=_write_formula(view, forward, question.address, SAME_FORMULA.get(variant, variant) if stop in OWN_FORMULA else ""),
        ask=view.say(f"tour.ask_{variant if variant in OWN_QUESTION else stop}", **place),
        answer=question.value if math.isfinite(question.value) else None,
        tolerance=question.tolerance if math.isfinite(question.value) else 0.0,
        right=view.say("tour.right", value=f"{question.value:.0f}" if question.is_whole else f"{question.value:.4f}"),
        where=view.say(f"tour.where_{unit}", **place),
        mistakes=[{"value": value, "text": write_slip(name, index)} for value, name, index in question.mistaken],
        previous=names[at - 1] if at else "",
        next=names[at + 1] if at + 1 < len(names) else "",
        words={name: view.say(f"tour.{name}") for name in WORDS} | {"not_finite": view.say("tour.not_finite")},
    )


def _write_text(view: View, stop: str, variant: str, head: Head) -> str:
    """Writes the explanation of the stop, with this model's deviations from the formula."""
    config = view.run.experiment.model
    values = {"layer": head[0] + 1, "head": head[1] + 1, "heads": config.n_heads, "width": config.d_model, "layers": config.encoder_layers}
    scale = divisor(config) if config.attention_scale else ""
    d_k, d_v = head_widths(config)
    note_values = {"d_k": d_k, "d_v": d_v, "percent": percentage(config.dropout, None)}
    keys = (f"tour.text_{name}" for name in (f"{stop}_before", f"{variant.rpartition('_')[0]}_first", variant, f"{stop}_after"))
    sentences = [view.say(key, scale=scale, d_k=d_k, **values) for key in keys if known(view.language, key)]
    return paragraph([*sentences, *(view.say(f"tour.note_{name}", **note_values) for name in list_notes(config, stop))])


def _write_formula(view: View, forward: SentenceActivations, address: str, key: str) -> str:
    """Writes the formula of a stage, or of a stop by its words `key`."""
    config = view.run.experiment.model
    if not key:
        words_key, values = formula(config, forward.stages[address])
        return view.say(words_key, **values)
    bias = {letter: f" + b_{letter}" if config.bias else "" for letter in "QKVO"}
    return view.say(f"tour.formula_{key}", **bias)


# ---- numbers typed over ----


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
