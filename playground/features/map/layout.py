"""The layout of the map: the position of each stage in the drawing, the lines that join them, and every stage as a small picture."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from playground.features.map import FoldLine, Join, TilesLine, TokensLine
from playground.features.shared.figures.plain import make_miniature
from playground.features.shared.queries.activations import SentenceActivations
from playground.features.shared.view import View, tokens
from playground.inspection.activations import Stage
from playground.inspection.edits import Difference
from playground.inspection.formulas import divisor

EMBEDDING = ("ids", "embedding", "scaled", "positions")
# Each tuple is one line of the drawing, without the stages a model doesn't compute. "norm" is first or last, as in the model. The first
# line of an attention ends in its weights, the second begins with the values that they weigh.
ATTENTION = (("q", "q_turned", "k", "k_turned", "scores", "scaled", "masked", "weights"), ("v", "mixed", "concat", "W_o", "residual"))
FEED_FORWARD = (("hidden", "activated", "W_2", "residual"),)
END = {"encoder": ("encoder.norm",), "decoder": ("decoder.norm", "decoder.output", "logits", "probabilities")}
STACKS = {"encoder": "encoder", "decoder": "decoder", "layers": "decoder"}  # with their hues
SUBLAYERS = ("self_attention", "cross_attention", "feed_forward")
MAX_UNFOLDED = 2  # layers of a stack; of more only one is unfolded


def build_plan(
    view: View, forward: SentenceActivations, head: int, unfolded: Mapping[str, int], differences: Mapping[str, Difference]
) -> dict:
    """Builds both columns of the drawing as lines of tokens, tiles and folded layers, the memory between them, and the joins of tiles. Of a
    decoder-only model one column has the source only, and no memory is between them.

    `unfolded` is the layer shown of each stack when not all are; `differences` are made by edits.
    """
    draw, is_joint = _Drawing(view, forward, head, differences), "joined" in forward.stages
    titles = [draw.title(f"{name}_joint" if is_joint else name, hue) for name, hue in (("source", "encoder"), ("target", "decoder"))]
    encoder = [draw.tokens("src", forward.source, titles[0]), *draw.line(f"src.{name}" for name in EMBEDDING)]
    decoder = [draw.tokens("fed", forward.fed, titles[1]), *draw.line(f"tgt.{name}" for name in EMBEDDING)]
    decoder += draw.line(["joined"], draw.title("joined", "decoder"))
    for stack, layer in unfolded.items():
        (encoder if stack == "encoder" else decoder).extend(draw.layers(stack, layer))
    encoder += draw.line(END["encoder"])
    decoder += [*draw.line(END["decoder"]), draw.tokens("tgt", forward.targets)]
    memory = next(iter(draw.line(["memory"])), None)
    return {"encoder": encoder, "memory": memory, "decoder": decoder, "lines": draw.joins(), "order": [*forward.stages]}


class _Drawing:
    """Draws the lines of one view's plan."""

    def __init__(self, view: View, forward: SentenceActivations, head: int, differences: Mapping[str, Difference]) -> None:
        self.view, self.forward, self.stages, self.head, self.differences = view, forward, forward.stages, head, differences

    def title(self, name: str, hue: str) -> dict:
        return {"text": self.view.say(f"map.part_{name}"), "hue": hue}

    def tokens(self, side: str, pieces: tuple, title: dict | None = None) -> TokensLine:
        label = "" if title else self.view.say(f"map.tokens_{side}")
        return TokensLine(kind="tokens", side=side, title=title, label=label, tokens=tokens(pieces))

    def line(self, addresses: Iterable[str], title: dict | None = None) -> list[TilesLine]:
        """Builds one line of the tiles that exist, or none, with its title."""
        tiles = [self.tile(self.stages[address]) for address in addresses if address in self.stages]
        for previous, tile in pairwise(tiles):
            tile["follows"] = previous["address"] in tile["inputs"]
        return [TilesLine(kind="tiles", tiles=tiles, title=title)] if tiles else []

    def layers(self, stack: str, unfolded: int) -> list[dict]:
        """Builds every layer of a stack, unfolded or as one line."""
        count = 1 + max((stage.layer for stage in self.find_stages(stack) if stage.layer is not None), default=-1)
        lines = []
        for n in range(count):
            lines += self.layer(stack, n) if count <= MAX_UNFOLDED or n == unfolded else [self.fold(stack, n)]
        return lines

    def layer(self, stack: str, n: int) -> list[dict]:
        lines = []
        for sublayer in SUBLAYERS:
            at = f"{stack}.{n}.{sublayer}"
            stages = self.find_stages(at)
            if not stages:
                continue
            rows = [[*row] for row in (FEED_FORWARD if sublayer == "feed_forward" else ATTENTION)]
            rows[0 if stages[0].name == "norm" else -1].insert(0 if stages[0].name == "norm" else 99, "norm")
            part = self.view.say(f"map.in_{sublayer}")
            title = {"text": part if lines else self.view.say("map.part_layer", layer=n + 1, part=part), "hue": stages[0].part}
            for row in rows:
                lines += self.line((f"{at}.{name}" for name in row), title if row is rows[0] else None)
        return lines

    def fold(self, stack: str, n: int) -> FoldLine:
        """Builds a folded layer: a line that unfolds it, with a small picture of its output."""
        last = self.find_stages(f"{stack}.{n}")[-1]
        text = self.view.say(f"map.fold_{'decoder' if stack == 'decoder' else 'encoder'}", layer=n + 1)
        return FoldLine(kind="fold", text=text, stage=f"{stack}.{n}", hue=STACKS[stack], tile=self.tile(last))

    def find_stages(self, prefix: str) -> list[Stage]:
        return [stage for address, stage in self.stages.items() if address.startswith(f"{prefix}.")]

    def tile(self, stage: Stage) -> dict:
        values, mask = slice_stage(stage.values, stage, self.head), slice_mask(stage, self.head)
        change, label = self.differences.get(stage.address), write_label(self.view, stage, self.head)
        changed = self.view.say("edits.tile", all=stage.values.size, **write_change(change)) if change else ""
        return {
            "address": stage.address,
            "name": write_short_name(self.view, stage),
            "shape": "×".join(map(str, stage.values.shape)),
            "part": stage.part,
            "label": f"{label} · {changed}" if changed else label,
            "inputs": list(stage.inputs),
            "square": _is_square(stage),
            "mini": make_miniature(values, mask, choose_scale(stage), find_limit(stage, self.head), _is_square(stage)),
            "changed": changed,
        }

    def joins(self) -> list[Join]:
        """Builds the joins around sublayers (residuals), and from the memory to every cross-attention."""
        joins = []
        for stage in self.stages.values():
            if stage.name == "residual":
                joins.append(Join(kind="residual", start=stage.inputs[0], end=stage.address, hue=stage.part))
            elif "memory" in stage.inputs:
                joins.append(Join(kind="memory", start="memory", end=stage.address, hue="cross"))
        return joins


def write_change(change: Difference) -> dict[str, object]:
    """Writes the values of a sentence about a difference."""
    before, after = write_pair(change.before, change.after)
    return {"cells": change.cells, "before": before, "after": after}


def write_pair(before: float, after: float) -> tuple[str, str]:
    """Writes two numbers with as many digits, from 3 on, as it takes to tell them apart."""
    pairs = ((f"{before:.{digits}g}", f"{after:.{digits}g}") for digits in range(3, 10))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{before:.3g}", f"{after:.3g}"))


def _is_square(stage: Stage) -> bool:
    """Returns whether both axes are tokens."""
    return stage.axes[0] == "H" and stage.axes[-1] in "STL"


def slice_stage(values: np.ndarray, stage: Stage, head: int) -> np.ndarray:
    """Returns the shown part (R, C) of a stage: one head if it has heads, token ids as one column."""
    part = values[head] if stage.axes[0] == "H" else values
    return part[:, None] if part.ndim == 1 else part


def slice_mask(stage: Stage, head: int) -> np.ndarray | None:
    """Returns the mask (R, C) of the shown part; None where nothing can be masked."""
    return None if stage.mask is None else np.broadcast_to(stage.mask, stage.values.shape)[head]


def find_limit(stage: Stage, head: int) -> float:
    """Returns the value of the strongest colour: the largest unmasked magnitude; 1 for probabilities."""
    if choose_scale(stage) == "probability":
        return 1.0
    values, mask = np.abs(slice_stage(stage.values, stage, head)), slice_mask(stage, head)
    return float((values if mask is None else values[mask]).max(initial=0)) or 1.0


def choose_scale(stage: Stage) -> str:
    """Returns the name of the stage's colour scale."""
    return "plain" if stage.name == "ids" else "probability" if stage.name in ("weights", "probabilities") else "signed"


def name_kind(stage: Stage) -> str:
    """Returns the stage's key in the words; the two scalings differ."""
    return "scaled_embedding" if stage.name == "scaled" and "H" not in stage.axes else stage.name


def write_short_name(view: View, stage: Stage) -> str:
    """Writes the caption of a small picture."""
    if stage.name == "activated":
        return view.say(f"map.short_{view.run.experiment.model.activation}")
    if name_kind(stage) == "scaled":
        return f"÷{divisor(view.run.experiment.model)}"
    return view.say(f"map.short_{name_kind(stage)}")


def write_label(view: View, stage: Stage, head: int) -> str:
    """Writes the full name of a tile, for screen readers and the pointer."""
    shape = "×".join(map(str, stage.values.shape))
    name = view.say("map.tile", path=" › ".join(list_path(view, stage)), shape=shape)
    return name if stage.axes[0] != "H" else f"{name} · {view.say('map.head_of', head=head + 1, heads=stage.values.shape[0])}"


def list_path(view: View, stage: Stage) -> list[str]:
    """Lists a stage's position from the outside in: decoder, layer 1, cross-attention, weights."""
    address_parts = stage.address.split(".")
    first = "map.in_encoder" if address_parts[0] in ("src", "encoder", "memory") else "map.in_decoder"
    is_joint = address_parts[0] == "src" and view.run.experiment.model.alteration.decoder_only
    names = [view.say("map.tokens_src" if is_joint else first)]
    if stage.layer is not None:
        names += [view.say("map.in_layer", layer=stage.layer + 1), view.say(f"map.in_{address_parts[2]}")]
    elif address_parts[0] in ("src", "tgt"):
        names.append(view.say("map.in_embedding"))
    return [*names, view.say(f"map.stage_{name_kind(stage)}")]
