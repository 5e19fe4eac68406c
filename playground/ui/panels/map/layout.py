"""The plan of a model: which stage stands where in the drawing of the map, which lines join them, and every stage as a small picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from playground.inspection.activations import Stage
from playground.inspection.formulas import divisor
from playground.queries.activations import SentenceActivations
from playground.ui.blocks import FoldLine, Join, TilesLine, TokensLine
from playground.ui.miniature import miniature
from playground.ui.view import View, tokens

EMBEDDING = ("ids", "embedding", "scaled", "positions")
# Each tuple is one line of the drawing; what a model doesn't compute is left out. "norm" stands first or last, as the model has it. The
# first line of an attention ends in its weights, the second begins with the values that they weigh.
ATTENTION = (("q", "q_turned", "k", "k_turned", "scores", "scaled", "masked", "weights"), ("v", "mixed", "concat", "W_o", "residual"))
FEED_FORWARD = (("hidden", "activated", "W_2", "residual"),)
END = {"encoder": ("encoder.norm",), "decoder": ("decoder.norm", "decoder.output", "logits", "probabilities")}
SUBLAYERS = ("self_attention", "cross_attention", "feed_forward")
FOLDED = 2  # layers of a stack, beyond which only one is unfolded


def plan(view: View, inside: SentenceActivations, head: int, unfolded: Mapping[str, int]) -> dict:
    """Both columns of the drawing as lines of tokens, tiles and folded layers; the memory between them; the lines that join tiles.

    `unfolded` says which layer of "encoder" and "decoder" is shown when not all are.
    """
    draw = _Plan(view, inside, head)
    encoder = [draw.tokens("src", inside.source, draw.title("source", "encoder")), *draw.line(f"src.{name}" for name in EMBEDDING)]
    encoder += [*draw.layers("encoder", unfolded["encoder"]), *draw.line(END["encoder"])]
    decoder = [draw.tokens("fed", inside.fed, draw.title("target", "decoder")), *draw.line(f"tgt.{name}" for name in EMBEDDING)]
    decoder += [*draw.layers("decoder", unfolded["decoder"]), *draw.line(END["decoder"], draw.title("end", "decoder"))]
    decoder.append(draw.tokens("tgt", inside.targets))
    return {"encoder": encoder, "memory": draw.line(["memory"])[0], "decoder": decoder, "lines": draw.lines(), "order": list(inside.stages)}


class _Plan:
    """Draws for one view; keeps the addresses it has placed."""

    def __init__(self, view: View, inside: SentenceActivations, head: int) -> None:
        self.view, self.inside, self.stages, self.head = view, inside, inside.stages, head

    def title(self, name: str, hue: str, **values: object) -> dict:
        return {"text": self.view.say(f"map.part_{name}", **values), "hue": hue}

    def tokens(self, side: str, pieces: tuple, title: dict | None = None) -> TokensLine:
        said = self.view.say(f"map.tokens_{side}")
        return TokensLine(kind="tokens", side=side, title=title, label=said, tokens=tokens(pieces))

    def line(self, addresses: Iterable[str], title: dict | None = None) -> list[TilesLine]:
        """One line of the tiles that exist, or none; its title stands above them."""
        found = [self.tile(self.stages[address]) for address in addresses if address in self.stages]
        for before, tile in pairwise(found):
            tile["follows"] = before["address"] in tile["inputs"]
        return [TilesLine(kind="tiles", tiles=found, title=title)] if found else []

    def layers(self, stack: str, unfolded: int) -> list[dict]:
        """Every layer of a stack, unfolded or as one line."""
        count = 1 + max((stage.layer for stage in self.of(stack) if stage.layer is not None), default=-1)
        lines = []
        for n in range(count):
            lines += self.layer(stack, n) if count <= FOLDED or n == unfolded else [self.fold(stack, n)]
        return lines

    def layer(self, stack: str, n: int) -> list[dict]:
        lines = []
        for sublayer in SUBLAYERS:
            at = f"{stack}.{n}.{sublayer}"
            inside = self.of(at)
            if not inside:
                continue
            attention = sublayer != "feed_forward"
            rows = [[*row] for row in (ATTENTION if attention else FEED_FORWARD)]
            rows[0 if inside[0].name == "norm" else -1].insert(0 if inside[0].name == "norm" else 99, "norm")
            heads = inside[[stage.name for stage in inside].index("v")].values.shape[0] if attention else 0
            shown = {"head": self.head + 1, "heads": heads} if heads else {}
            title = self.title(sublayer if not heads else f"{sublayer}_head", inside[0].part, layer=n + 1, **shown)
            for row in rows:
                lines += self.line((f"{at}.{name}" for name in row), title if row is rows[0] else None)
        return lines

    def fold(self, stack: str, n: int) -> FoldLine:
        """A folded layer: a line that unfolds it, with what it hands on as its small picture."""
        last = self.of(f"{stack}.{n}")[-1]
        text = self.view.say(f"map.fold_{stack}", layer=n + 1)
        return FoldLine(kind="fold", text=text, stage=f"{stack}.{n}", hue=stack, tile=self.tile(last))

    def of(self, prefix: str) -> list[Stage]:
        return [stage for address, stage in self.stages.items() if address.startswith(f"{prefix}.")]

    def tile(self, stage: Stage) -> dict:
        return {
            "address": stage.address,
            "name": short(self.view, stage),
            "shape": "×".join(map(str, stage.values.shape)),
            "part": stage.part,
            "label": label(self.view, stage, self.head),
            "inputs": list(stage.inputs),
            "square": _square(stage),
            "mini": small(stage, self.head),
        }

    def lines(self) -> list[Join]:
        """What goes around a sublayer (residuals), and from the memory into every cross-attention."""
        found = []
        for stage in self.stages.values():
            if stage.name == "residual":
                found.append(Join(kind="residual", start=stage.inputs[0], end=stage.address, hue=stage.part))
            elif "memory" in stage.inputs:
                found.append(Join(kind="memory", start="memory", end=stage.address, hue="cross"))
        return found


def small(stage: Stage, head: int) -> dict:
    """A stage as a small picture."""
    return miniature(slice_of(stage.values, stage, head), seen_of(stage, head), scale(stage), strongest(stage, head), _square(stage))


def _square(stage: Stage) -> bool:
    """Whether tokens stand on both sides."""
    return stage.axes[0] == "H" and stage.axes[-1] in "ST"


def slice_of(values: np.ndarray, stage: Stage, head: int) -> np.ndarray:
    """What is shown of a stage: (R, C), one head of those that have heads, token ids as one column."""
    found = values[head] if stage.axes[0] == "H" else values
    return found[:, None] if found.ndim == 1 else found


def seen_of(stage: Stage, head: int) -> np.ndarray | None:
    """The mask of what is shown, (R, C); None where nothing can be masked."""
    return None if stage.mask is None else np.broadcast_to(stage.mask, stage.values.shape)[head]


def strongest(stage: Stage, head: int) -> float:
    """The value of the strongest colour: the largest size that isn't masked; 1 for probabilities."""
    if scale(stage) == "probability":
        return 1.0
    values, seen = np.abs(slice_of(stage.values, stage, head)), seen_of(stage, head)
    return float((values if seen is None else values[seen]).max(initial=0)) or 1.0


def scale(stage: Stage) -> str:
    """How its numbers are coloured."""
    return "plain" if stage.name == "ids" else "probability" if stage.name in ("weights", "probabilities") else "signed"


def kind_of(stage: Stage) -> str:
    """The name under which words are kept: the two scalings and the two activations differ."""
    return "scaled_embedding" if stage.name == "scaled" and "H" not in stage.axes else stage.name


def short(view: View, stage: Stage) -> str:
    """What stands under a small picture."""
    if stage.name == "activated":
        return view.say(f"map.short_{view.run.experiment.model.activation}")
    if kind_of(stage) == "scaled":
        return f"÷ {divisor(view.run.experiment.model)}"
    return view.say(f"map.short_{kind_of(stage)}")


def label(view: View, stage: Stage, head: int) -> str:
    """The whole name of a tile, for a screen reader and for the pointer."""
    shape = "×".join(map(str, stage.values.shape))
    name = view.say("map.tile", path=" › ".join(path(view, stage)), shape=shape)
    return name if stage.axes[0] != "H" else f"{name} · {view.say('map.head_of', head=head + 1, heads=stage.values.shape[0])}"


def path(view: View, stage: Stage) -> list[str]:
    """Where a stage stands, from the outside in: decoder, layer 1, cross-attention, weights."""
    pieces = stage.address.split(".")
    found = [view.say(f"map.in_{'encoder' if pieces[0] in ('src', 'encoder', 'memory') else 'decoder'}")]
    if stage.layer is not None:
        found += [view.say("map.in_layer", layer=stage.layer + 1), view.say(f"map.in_{pieces[2]}")]
    elif pieces[0] in ("src", "tgt"):
        found.append(view.say("map.in_embedding"))
    return [*found, view.say(f"map.stage_{kind_of(stage)}")]
