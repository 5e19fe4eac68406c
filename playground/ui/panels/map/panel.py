"""The map: this very model as one drawing through which the sentence flows; every stage opens, every number can be worked out."""

from __future__ import annotations

from collections.abc import Mapping

from playground.cursor import choices
from playground.figures import theme
from playground.inspection.activations import Stage
from playground.lessons.tour import STOPS, Reading, find_reading
from playground.queries.activations import Cell, SentenceActivations, activations
from playground.runs.lru import LRU
from playground.ui import blocks
from playground.ui.panels import head_choice
from playground.ui.panels.map import stage, tour, worksheet
from playground.ui.panels.map.layout import FOLDED, path, plan
from playground.ui.view import View

DRAWN = LRU(64, 8_000_000)  # drawings: one is the same for every cell that is clicked


def panel(view: View) -> dict:
    config, stop = view.run.experiment.model, view.choice("stop", tuple(STOPS))
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    chosen = head_choice.chosen(view, view.part)  # the page's: the drawing has every layer, and shows this head in each
    head = chosen[1]
    about = view.reader, view.run, view.step, view.text, view.reference
    asked_at_stop = find_reading(activations(*about)[0].stages, config, stop, head) if stop else None
    asked = view.field("stage") or (asked_at_stop.address if asked_at_stop else "")
    at = _chosen(view, asked, asked_at_stop)
    found, derivation = activations(*about, Cell(asked, head, *at) if asked and at else None)
    opened = found.stages.get(asked)
    unfolded = _unfolded(asked, layers)
    shown = {stack: n or 0 for stack, n in unfolded.items()}
    drawn = DRAWN.get_or_make((found.number, view.language, head, *shown.values()), lambda: plan(view, found, head, shown))
    drawing = blocks.map(
        "map",
        view.say("map.label"),
        open=opened.address if opened else "",
        close=next((f"{stack}.{n}" for stack, n in unfolded.items() if n and layers[stack] > FOLDED), ""),
        here=here(view, found, opened, head),
        **drawn,
        colours=_colours(view.dark),
        words={name: view.say(f"map.{name}") for name in ("here", "close", "previous", "next", "masked", "blocks")},
        blocks=stage.blocks(view, found, derivation, opened, head, at, brief=bool(stop)) if opened else [],
    )
    if stop:
        shown_blocks = [tour.block(view, found, stop, head), drawing]
    else:
        about_it = blocks.text("about", view.say("map.about"), css="pg-caption")
        choices_of_it = blocks.row("choices", *_choices(view, chosen, config.n_heads), css="controls")
        shown_blocks = [about_it, choices_of_it, drawing, _worksheet(view, opened)]
    return {"step": found.step, "held": head_choice.named(view.part, *chosen), "blocks": shown_blocks}


def here(view: View, found: SentenceActivations, opened: Stage | None, head: int) -> list[dict]:
    """Where one is: from the whole model down to the open stage. A piece with a "stage" leads there; an "aside" is no place."""
    pieces: list[dict] = [{"text": view.say("map.whole"), "stage": ""}]
    if opened:
        pieces += [{"text": name} for name in path(view, opened)]
    if opened and opened.layer is not None:
        pieces[2]["stage"] = ".".join(opened.address.split(".")[:2])
    if opened and opened.axes[0] == "H":
        pieces.append({"text": view.say("map.head_of", head=head + 1, heads=opened.values.shape[0]), "aside": True})
    return [*pieces, {"text": view.say("map.at_step", step=f"{found.step:,}"), "aside": True}]


def _choices(view: View, chosen: tuple[int, int], heads: int) -> list[dict]:
    """Which head is shown where there are several, and what the decoder is fed."""
    layer, head = chosen
    numbers = [{"value": str(n + 1), "label": str(n + 1)} for n in range(heads)]
    feeds = [{"value": name, "label": view.say(f"page.feed_{name}")} for name in choices("target")]
    others = {"layer": layer + 1, "follow": "off"}  # the cursor names a head by its layer as well
    found = [blocks.choice("head", "head", view.say("map.head"), numbers, str(head + 1), resets=others)] if heads > 1 else []
    return [*found, blocks.choice("feed", "target", view.say("page.feed"), feeds, view.choice("target"))]


def _chosen(view: View, asked: str, at_stop: Reading | None) -> tuple[int, int] | None:
    """Row and column of the cursor, whether or not the model has them; until one is chosen, those that the stop of the tour asks for."""
    row, col = view.number("row"), view.number("col")
    if None not in (row, col):
        return row, col
    return at_stop.place if at_stop and at_stop.address == asked else None


def _unfolded(asked: str, layers: Mapping[str, int]) -> dict[str, int | None]:
    """Of each stack the layer that was asked for; None when none was. "decoder.3" asks for one, and so does every stage in it."""
    stack, _, rest = asked.partition(".")
    number = rest.partition(".")[0]
    named = number.isascii() and number.isdigit() and len(number) < 3 and int(number) < layers.get(stack, 0)
    return {name: int(number) if named and name == stack else None for name in layers}


def _colours(dark: bool) -> dict:
    """The scales of the large pictures, for the small ones."""
    palette = theme.colors(dark)
    return {
        "signed": theme.diverging(dark),
        "probability": theme.sequential(dark),
        "plain": [palette["paper"], palette["paper"], palette["line"]],
        "masked": palette["masked"],
        "hatch": palette["hatch"],
    }


def _worksheet(view: View, opened: Stage | None) -> dict:
    """A printable sheet of such calculations, another one for each number of a student; of the attention that is open, at first."""
    words = {name: view.say(f"map.paper_{name}") for name in ("title", "about", "seed", "open", "key")}
    words["attention"] = view.say("map.worksheet_kind")
    kinds = [{"value": kind, "label": view.say(f"map.worksheet_kind_{kind}")} for kind in worksheet.KINDS]
    return blocks.worksheet("worksheet", kinds, opened.part if opened else "encoder", words)
