"""The same model in torch.nn.Transformer: how far apart the outputs are, and what its fast path leaves out."""

import copy
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS, ModelConfig
from playground.lessons.lab import Grid, Lab, Outcome, TextTable
from playground.lessons.labs.nn_transformer.conversion import (
    KNOBS,
    arguments,
    as_nn_transformer,
    attention_pairs,
    disturb,
    layer_pairs,
    plain_pairs,
    their_masks,
)
from playground.model.masks import padding_mask
from playground.model.positions import position_ids
from playground.model.transformer import Transformer

warnings.filterwarnings("ignore", "The PyTorch API of nested tensors")  # a message for developers, not students

WORDS = (*SPECIAL_TOKENS, "a", "b", "c", "d")
SRC = torch.tensor([[4, 5, 6, 7, EOS], [5, 4, EOS, PAD, PAD]])
TGT_IN = torch.tensor([[BOS, 7, 6, 5], [BOS, 4, 5, PAD]])
CONFIG = ModelConfig(d_model=16, n_heads=4, d_ff=32, zero_init=False)
TIMES = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"  # a shape stays on one line


def embedded(ours: Transformer) -> tuple[Tensor, Tensor]:
    """Embeds the inputs of both models' layers: (B, S, D) and (B, T, D)."""
    return (
        ours.embed(SRC, ours.src_embedding, ours.src_positions, position_ids(SRC.shape[1])),
        ours.embed(TGT_IN, ours.tgt_embedding, ours.tgt_positions, position_ids(TGT_IN.shape[1])),
    )


def their_logits(ours: Transformer, theirs: nn.Transformer, masks: Mapping[str, Tensor | None]) -> Tensor:
    """Returns logits (B, T, V) from our embeddings and projection around torch's layers."""
    return ours.project(theirs(*embedded(ours), **masks))


def apart(ours: Transformer, theirs: nn.Transformer, masks: Mapping[str, Tensor | None]) -> float:
    """Returns the largest difference of logits at non-padding tokens."""
    return (their_logits(ours, theirs, masks) - ours(SRC, TGT_IN).logits)[TGT_IN != PAD].abs().max().item()


def slips(ours: Transformer) -> dict[str, float]:
    """Measures the error of each mistake in converting one model into the other."""
    theirs, masks = as_nn_transformer(ours)[0], their_masks(SRC, TGT_IN)
    normed = as_nn_transformer(ours)[0]
    normed.encoder.norm, normed.decoder.norm = (nn.LayerNorm(ours.config.d_model) for _ in range(2))
    x = embedded(ours)[0]
    sentences_as_places = theirs.encoder(x.transpose(0, 1)).transpose(0, 1)  # batch_first=False given (B, S, D)
    return {
        "batch_first": (sentences_as_places - theirs.encoder(x)).abs().max().item(),
        "nhead": apart(ours, as_nn_transformer(ours, nhead=8)[0], masks),
        "last_norm": apart(ours, normed, masks),
        "no_future": apart(ours, theirs, masks | {"tgt_mask": None}),
        "no_padding": apart(ours, theirs, {"tgt_mask": masks["tgt_mask"]}),
        "inverted": apart(ours, theirs, {name: ~mask for name, mask in masks.items()}),
    }


def added(mask: Tensor) -> Tensor:
    """Converts a Boolean mask of torch (True is masked) to an additive one."""
    return torch.zeros(mask.shape).masked_fill(mask, -torch.inf)


def between_layers(layers: nn.ModuleList) -> float:
    """Returns the largest difference between the parameters of the first two layers."""
    return max((left - right).abs().max().item() for left, right in zip(layers[0].parameters(), layers[1].parameters(), strict=True))


def clones(layer: nn.TransformerEncoderLayer) -> nn.ModuleList:
    """Makes two layers from one with nn.TransformerEncoder."""
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).layers


class Watch(TorchDispatchMode):
    """Counts torch's operations while active, and the elements normalised by each norm, or by a fused layer."""

    def __init__(self) -> None:
        super().__init__()
        self.operations, self.sizes = 0, []

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        self.operations += 1
        if function.overloadpacket.__name__ in ("native_layer_norm", "_transformer_encoder_layer_fwd"):
            self.sizes.append(args[0].numel())
        return function(*args, **(kwargs or {}))


def encoded(ours: Transformer) -> tuple[Tensor, list[Tensor]]:
    """Runs our encoder's layers alone: encoder output (B, S, D) and the weights of each layer (B, H, S, S)."""
    x, mask, all_weights = embedded(ours)[0], padding_mask(SRC), []
    for layer in ours.encoder:
        x, weights = layer(x, mask, position_ids(SRC.shape[1]))
        all_weights.append(weights)
    return x, all_weights


def watched(encode: Callable[[], Tensor], gradient: bool) -> tuple[Tensor, int, int]:
    """Returns the encoder output (B, S, D), the number of operations, and the tokens processed by the last layer."""
    with torch.set_grad_enabled(gradient), Watch() as watch:
        memory = encode()
    return memory.detach(), watch.operations, watch.sizes[-1] // memory.shape[-1]


def given_weights(encoder: nn.TransformerEncoder, x: Tensor, hidden: Tensor, gradient: bool) -> tuple[Tensor | None, int]:
    """Captures the first layer's attention weights with a hook; and counts the operations while it is registered."""
    captured = []
    handle = encoder.layers[0].self_attn.register_forward_hook(lambda module, inputs, result: captured.append(result[1]))
    _, operations, _ = watched(lambda: encoder(x, src_key_padding_mask=hidden), gradient)
    handle.remove()
    return captured[0], operations


def fast_path(ours: Transformer) -> tuple[TextTable, Grid]:
    """Compares three executions of an encoder: ours, torch's step by step, and torch's fast path without gradient."""
    theirs, hidden, x = as_nn_transformer(ours)[0].encoder, ~padding_mask(SRC)[:, 0, 0], embedded(ours)[0].detach()
    _, weights = encoded(ours)
    ways = {
        "ours": watched(lambda: encoded(ours)[0], gradient=True),
        "steps": watched(lambda: theirs(x, src_key_padding_mask=hidden), gradient=True),
        "fast": watched(lambda: theirs(x, src_key_padding_mask=hidden), gradient=False),
    }
    (by_steps, _), (by_fast, hooked) = (given_weights(theirs, x, hidden, gradient) for gradient in (True, False))
    memories = torch.stack([memory for memory, _, _ in ways.values()])
    requested = theirs.layers[0].self_attn(x, x, x, key_padding_mask=hidden, need_weights=True, average_attn_weights=False)[1]
    differences = (memories - memories[0])[:, SRC != PAD].abs().amax(dim=(1, 2))
    caption = {
        "hooked": hooked, "asked": (requested - weights[0]).abs().max().item(),
        "length": memories[0][SRC == PAD].norm(dim=-1).max().item(),
        "fast_length": memories[2][SRC == PAD].norm(dim=-1).max().item(),
    }  # fmt: skip
    rows = (
        ("operations", *(str(operations) for _, operations, _ in ways.values())),
        ("tokens", *(str(tokens) for _, _, tokens in ways.values())),
        ("weights", *("none" if tensor is None else TIMES.join(map(str, tensor.shape)) for tensor in (weights[0], by_steps, by_fast))),
        ("apart", *(f"{difference:.2g}" for difference in differences.tolist())),
    )
    lengths = memories[:, 1].norm(dim=-1).numpy()
    return (
        TextTable("fast", ("seen", *ways), rows, caption=caption),
        Grid("memory", lengths, tuple(ways), tuple(WORDS[token] for token in SRC[1]), caption=caption),
    )


def format_default(value: Any) -> str:
    """Formats a default of torch; a function by its name."""
    return getattr(value, "__name__", str(value))


def argument_table(caption: Mapping[str, Any]) -> TextTable:
    """Tabulates the arguments of nn.Transformer: our knob, the value here, and torch's default."""
    defaults = inspect.signature(nn.Transformer).parameters
    rows = [(name, KNOBS[name], format_default(value), format_default(defaults[name].default)) for name, value in arguments(CONFIG).items()]
    return TextTable("arguments", ("argument", "knob", "here", "default"), tuple(rows), caption=caption)


def parameter_table(ours: Transformer, caption: Mapping[str, Any]) -> TextTable:
    """Tabulates the matrices of the first encoder layer: our names, torch's, and torch's shapes."""
    layer, (theirs, _) = ours.encoder[0], as_nn_transformer(ours)
    names = {id(matrix): name for module in (layer, theirs.encoder.layers[0]) for name, matrix in module.named_parameters()}
    pairs = [pair for pair in layer_pairs(layer, theirs.encoder.layers[0]) if pair[1].ndim == 2]
    rows = [(" + ".join(names[id(part)] for part in parts), names[id(their)], TIMES.join(map(str, their.shape))) for parts, their in pairs]
    return TextTable("parameters", ("ours", "theirs", "shape"), tuple(rows), caption=caption)


def run(seed: int) -> Outcome:
    ours = disturb(Transformer(CONFIG, len(WORDS), len(WORDS), torch.Generator().manual_seed(seed)), seed).eval()
    exact, masks, theirs = copy.deepcopy(ours).double(), their_masks(SRC, TGT_IN), as_nn_transformer(ours)[0]
    with torch.enable_grad():  # without gradients, torch would take its fast path
        difference, exact_difference = (apart(model, as_nn_transformer(model)[0], masks) for model in (ours, exact))
        logits = [model.detach()[0].numpy() for model in (ours(SRC, TGT_IN).logits, their_logits(ours, theirs, masks))]
        wrong, float_masks = slips(ours), apart(ours, theirs, {name: added(mask) for name, mask in masks.items()})
    numbers = {"difference": difference, "exact": exact_difference, "parameters": sum(part.numel() for part in theirs.parameters())}
    caption = {
        **numbers, "least": min(wrong.values()), "norm": CONFIG.norm, "float_masks": float_masks,
        "cloned": between_layers(clones(theirs.encoder.layers[0])), "drawn": between_layers(ours.encoder),
    }  # fmt: skip
    costs = {"float32": difference, "float64": exact_difference, **wrong}
    rows = tuple(WORDS[token] for token in TGT_IN[0])
    return Outcome(
        "identical" if difference == 0 else "rounding" if difference < 1e-4 else "apart",
        numbers,
        (
            argument_table(caption),
            parameter_table(ours, caption),
            Grid("logits", logits[0], rows, WORDS, caption=caption),
            Grid("their_logits", logits[1], rows, WORDS, caption=caption),
            TextTable("slips", ("slip", "apart"), tuple((f"slip_{name}", f"{cost:.2g}") for name, cost in costs.items()), caption=caption),
            *fast_path(ours),
        ),
    )


LAB = Lab(
    "nn_transformer", ("identical", "rounding", "apart"), run,
    (
        arguments,
        attention_pairs,
        layer_pairs,
        plain_pairs,
        as_nn_transformer,
        their_masks,
        apart,
        slips,
        added,
        clones,
        Watch,
        given_weights,
    ),
    first="logits", expects="rounding", order=190, next=("norms", "masks"),
)  # fmt: skip
