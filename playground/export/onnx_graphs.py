"""A model as two ONNX graphs, for any runtime: the encoder, and one step of the decoder with its key-value cache.

`encoder.onnx`: src (B, S) -> cross_k, cross_v (N, B, H, S, K). `decoder_step.onnx`: src, tgt_in (B, T + 1), self_k, self_v (N, B, H, T, K),
cross_k, cross_v -> logits (B, V) of the next token, new_k, new_v (N, B, H, T + 1, K), and the cross-attention weights (N, B, H, S) of its
row. N counts the decoder's layers. A sentence begins with T = 0 and empty self_k and self_v.
"""

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from playground.config import Refusal
from playground.model.masks import padding_mask
from playground.model.transformer import Transformer

ANY = torch.export.Dim.DYNAMIC
TOKENS = {0: ANY, 1: ANY}
CACHE = {1: ANY, 3: ANY}
SIZES = (2, 5, 3)  # sentences, source tokens and cached tokens of the traced example; the graphs take any
LOUD = ("torch.onnx", "torch.export")  # logs of missing packages that no graph here needs


class Encoder(nn.Module):
    """Reads the source, once for a sentence."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, src: Tensor) -> tuple[Tensor, Tensor]:
        memory, _ = self.model.encode(src)
        keys_values = [layer.cross_attention.keys_values(memory, memory) for layer in self.model.decoder]
        return torch.stack([k for k, _ in keys_values]), torch.stack([v for _, v in keys_values])


class DecoderStep(nn.Module):
    """Computes the newest target token's row, and its keys and values."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, src: Tensor, tgt_in: Tensor, self_k: Tensor, self_v: Tensor, cross_k: Tensor, cross_v: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        cache = self.model.new_cache()
        for (own, cross), *layer in zip(cache.layers, self_k, self_v, cross_k, cross_v, strict=True):
            own.k, own.v, cross.k, cross.v = layer
        states, _, weights = self.model.decode(tgt_in, cross_k, padding_mask(src), cache=cache)  # of the memory, keys and values are known
        new_k, new_v = (torch.stack(side) for side in zip(*((own.k, own.v) for own, _ in cache.layers), strict=True))
        return self.model.project(states)[:, -1], new_k, new_v, torch.stack([row[:, :, -1] for row in weights])


def write_onnx(model: Transformer, folder: Path) -> None:
    """Writes both graphs into the folder. Raises Refusal for an altered model, which may have neither encoder nor cache, and
    ModuleNotFoundError without onnx and onnxscript."""
    import onnxscript  # noqa: F401 (else torch's error would be pages long)

    if model.config.altered_by != "none":
        raise Refusal("export.no_onnx", variant=model.config.altered_by)
    folder.mkdir(parents=True, exist_ok=True)
    sentences, length, cached = SIZES
    src, tgt_in = torch.full((sentences, length), 4), torch.full((sentences, cached + 1), 4)
    encoder, step = Encoder(model).eval(), DecoderStep(model).eval()
    cross = encoder(src)
    own = tuple(side[:, :, :, :cached] for side in cross)  # with the right shapes
    _write(encoder, (src,), ("cross_k", "cross_v"), [TOKENS], folder / "encoder.onnx")
    shapes = [TOKENS, TOKENS, *[CACHE] * 4]
    _write(step, (src, tgt_in, *own, *cross), ("logits", "new_k", "new_v", "cross"), shapes, folder / "decoder_step.onnx")


def _write(graph: nn.Module, inputs: tuple[Tensor, ...], outputs: Sequence[str], shapes: Sequence[dict], file: Path) -> None:
    names = graph.forward.__code__.co_varnames[1 : len(inputs) + 1]
    for name in LOUD:
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore", FutureWarning)
        torch.onnx.export(
            graph, inputs, file, dynamo=True, verbose=False, external_data=False, input_names=names, output_names=outputs,
            dynamic_shapes=tuple(shapes),
        )  # fmt: skip
