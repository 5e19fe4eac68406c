"""The paper's figure 1 for a run's model: every part from the tokens to the probabilities, and where the page shows it."""

from typing import TypedDict

from playground.config import ModelConfig
from playground.features.shared.naming import disclosed, shown_value, variant_name
from playground.features.shared.panels import FORMULA, PANELS
from playground.model.costs import SUBLAYERS
from playground.runs.run import Run
from playground.words import say

# The paper's values of the knobs that change the figure or its computation.
PAPER = {
    "positions": "sinusoidal", "norm": "post", "residual": True, "activation": "relu", "share_embeddings": "all", "embedding_scale": True,
    "d_k": 0, "attention_scale": 0.5, "memory_mode": "whole", "architecture": "encoder_decoder", "variant": "none",
}  # fmt: skip
HUES = {"src": "encoder", "encoder": "encoder", "memory": "encoder", "cross_attention": "cross"}  # all others: decoder
ATTENTIONS = {  # the part and the mask that the cursor calls them by
    "encoder.self_attention": ("encoder", "padding"), "decoder.self_attention": ("decoder", "target"),
    "decoder.cross_attention": ("cross", "memory"), "layers.self_attention": ("decoder", "gpt"),
}  # fmt: skip
UNMASKED = {"no_source_mask": "encoder.self_attention", "no_memory_mask": "decoder.cross_attention"}  # variant -> attention without a mask


class Part(TypedDict):
    """A box of the figure. `shows` lists the cursors at which it is on screen; a click leads to the first. It is empty where this run's
    model can't be shown. `stages` are prefixes, without the layer, of its stages on the map."""

    name: str
    kind: str
    text: str
    about: str
    hue: str
    shows: list[dict[str, str]]
    stages: list[str]


class Sublayer(TypedDict):
    """From the bottom up. With a `residual` its input bypasses it into its last part."""

    parts: list[Part]
    residual: bool


class Stack(TypedDict):
    """From the bottom up: the parts before the `layers`, one of the layers, and the parts after."""

    layers: int
    input: list[Part]
    sublayers: list[Sublayer]
    end: list[Part]


class ModelFigure(TypedDict):
    """The figure of a whole model, as data for the script. A decoder-only model has no memory, and its encoder only an input, which the
    decoder's stack reads. `shared` is the knob of shared embeddings; `differences` names what differs from the paper; `open` is the
    folded figure's label, `next` its output."""

    label: str
    open: str
    next: str
    encoder: Stack
    memory: Part | None
    decoder: Stack
    shared: str
    differences: str


def model_figure(run: Run, language: str) -> ModelFigure:
    """Returns the figure of a run's model; a mystery run's change stays hidden."""
    return _Figure(disclosed(run).model, language, bool(variant_name(run, language))).draw()


class _Figure:
    """Draws one model; of a `changed` one only parts that ask the model itself are links."""

    def __init__(self, config: ModelConfig, language: str, changed: bool) -> None:
        self.config, self.language, self.changed, self.recurrent = config, language, changed, config.alteration.recurrent
        self.joint = config.alteration.decoder_only
        self.blocked = {FORMULA} if changed and not self.joint else set()

    def draw(self) -> ModelFigure:
        linear = self.part(
            "logits", "linear", _map("logits"), {"tab": "embeddings", "what": "decoder"}, stages=["logits", "decoder.output"]
        )
        of_encoder, of_decoder = SUBLAYERS["encoder"], SUBLAYERS["decoder"]
        kind = "context" if self.config.variant == "gru" else "memory"  # what the decoder reads of the source
        memory = self.part("memory", kind, _map("memory"), {"tab": "embeddings", "what": "memory"})
        return {
            **{name: self.say(name) for name in ("label", "open", "next")},
            "encoder": self.stack("encoder", "src", () if self.joint else of_encoder),
            "memory": None if self.joint else memory,
            "decoder": self.stack("layers" if self.joint else "decoder", "tgt", of_encoder if self.joint else of_decoder)
            | {"end": [*self.last_norm("decoder"), linear, self.part("probabilities", "softmax", _map("probabilities"))]},
            "shared": self.config.share_embeddings,
            "differences": self.differences(),
        }

    def stack(self, name: str, side: str, sublayers: tuple[str, ...]) -> Stack:
        encoding = self.config.encoding.added if sublayers and not self.recurrent else ""
        added = ["src.positions", "tgt.positions"] if self.joint else [f"{side}.positions"]
        positions = [{"tab": "positions", "pos": "learned"}] if encoding == "learned" else []
        embedding = self.part(f"{side}.embedding", "embedding", {"tab": "embeddings", "what": side},
                              stages=[f"{side}.embedding", f"{side}.scaled"])  # fmt: skip
        all_sublayers = [self.sublayer(f"{name}.{sublayer}") for sublayer in sublayers]
        return {
            "layers": 1 if self.recurrent else self.config.attention_layers("encoder" if name == "encoder" else "decoder"),
            "input": [
                self.part(f"{side}.ids", f"tokens_{side}", _map(f"{side}.ids")),
                embedding,
                *([self.part(added[-1], f"positions_{encoding}", *positions, {"tab": "positions"}, stages=added)] if encoding else []),
            ],
            "sublayers": [sublayer for sublayer in all_sublayers if sublayer["parts"]],
            "end": self.last_norm(name) if sublayers else [],
        }

    def last_norm(self, stack: str) -> list[Part]:
        return [self.part(f"{stack}.norm", "norm", _map(f"{stack}.norm"))] if self.config.norm == "pre" and not self.recurrent else []

    def sublayer(self, name: str) -> Sublayer:
        """Returns a sublayer with its norm and sum. An omitted feed-forward network adds nothing to its input."""
        if self.recurrent:
            return {"parts": self.gru_parts(name), "residual": False}
        inside = self.inner_parts(name)
        residual = self.config.residual and bool(inside)
        if self.config.norm == "post":
            last = self.norm_part(name, "add_norm", "norm", "residual") if residual else self.norm_part(name, "norm", "norm")
            return {"parts": [*inside, last], "residual": residual}
        after = [self.norm_part(name, "add", "residual")] if residual else []
        before = [self.norm_part(name, "norm", "norm")] if inside and self.config.norm == "pre" else []
        return {"parts": [*before, *inside, *after], "residual": residual}

    def gru_parts(self, name: str) -> list[Part]:
        """Returns the parts of a GRU stack: additive attention, if this model has it, and one GRU in place of all layers."""
        if name.endswith("feed_forward"):
            return [self.part(name.replace("feed_forward", "gru"), "gru", _map(""))]
        attends = name == "decoder.cross_attention" and self.config.variant == "gru_attention"
        return [self.part(name, "additive_attention", _map(""))] if attends else []

    def norm_part(self, name: str, kind: str, *stages: str) -> Part:
        """Returns the norm, the sum, or both as a part; the map shows the last one computed, the first of `stages`."""
        return self.part(f"{name}.{stages[0]}", kind, _map(f"{_first(name)}.{stages[0]}"), stages=[f"{name}.{stage}" for stage in stages])

    def inner_parts(self, name: str) -> list[Part]:
        if name in ATTENTIONS:
            return self.attention(name, *ATTENTIONS[name])
        if self.config.variant == "no_feed_forward":
            return []
        return [self.part(name, "feed_forward", _map(f"{_first(name)}.activated"))]

    def attention(self, name: str, part: str, mask: str) -> list[Part]:
        """Returns an attention with its mask. Rotary positions rotate queries and keys of self-attention."""
        parts, sublayer = [], name.partition(".")[2]
        if self.config.encoding.rotary and part != "cross":
            stages = [f"{name}.{side}_turned" for side in ("q", "k")]
            parts.append(self.part(f"{name}.rotary", "rotary", {"tab": "positions"}, stages=stages))
        if self.joint:
            kind, mask = ("mask_causal", "gpt") if self.config.alteration.causal else ("mask_prefix", "prefix")
            own = self.part(f"{name}.mask", kind, {"tab": "masks", "mask": mask}, stages=[f"{name}.masked"], of=self.say(sublayer))
            shows = ({"tab": "attention", "part": which} for which in ("cross", "decoder", "encoder"))
            return [*parts, own, self.part(name, sublayer, *shows, stages=[name, "joined"], heads=self.config.n_heads)]
        if UNMASKED.get(self.config.variant) != name:
            kind = "mask_causal" if part == "decoder" and self.config.variant != "no_causal_mask" else "mask_padding"
            masks = [mask, "causal", "packed"] if kind == "mask_causal" else [mask, "packed"]
            parts.append(self.part(f"{name}.mask", kind, *({"tab": "masks", "mask": which} for which in masks), stages=[f"{name}.masked"],
                                   of=self.say(sublayer)))  # fmt: skip
        return [*parts, self.part(name, sublayer, {"tab": "attention", "part": part}, heads=self.config.n_heads)]

    def part(self, name: str, kind: str, *shows: dict[str, str], stages: list[str] | None = None, **values: object) -> Part:
        hue = next((hue for piece, hue in HUES.items() if piece in name.split(".")), "decoder")
        return {
            "name": name,
            "kind": kind.partition("_")[0] if kind.startswith(("tokens", "positions")) else kind,
            "text": self.say(kind),
            "about": self.say("about", place=self.say(f"in_{hue}"), part=self.say(f"{kind}_about", **values)),
            "hue": hue,
            "shows": [] if PANELS[shows[0]["tab"]].needs in self.blocked else list(shows),
            "stages": [name] if stages is None else stages,
        }

    def differences(self) -> str:
        changed = {name: getattr(self.config, name) for name, value in PAPER.items() if getattr(self.config, name) != value}
        if self.config.d_k == self.config.d_model // self.config.n_heads:  # the paper's value as a number
            changed.pop("d_k")
        sentences = [self.difference(name, value) for name, value in changed.items()]
        return self.say("differences", list=self.say("and").join(sentences)) if sentences else self.say("as_the_paper")

    def difference(self, name: str, value: object) -> str:
        if name in ("architecture", "variant", "d_k"):
            return self.say(f"other.{name}", value=shown_value(name, value, self.language))
        return self.say(f"other.{name}.{'off' if value is False else value}")

    def say(self, key: str, **values: object) -> str:
        return say(self.language, f"model_figure.{key}", **values)


def _map(stage: str) -> dict[str, str]:
    return {"tab": "map", "stage": stage}


def _first(name: str) -> str:
    """Returns the address in the first layer: the page moves on to the layer that it shows already."""
    stack, _, sublayer = name.partition(".")
    return f"{stack}.0.{sublayer}"
