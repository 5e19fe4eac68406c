"""Recurrent models, as before the Transformer: an encoder and a decoder of gated recurrent units (torch.nn.GRU), without attention and
with it, in the symbols of Cho et al. 2014 and Bahdanau et al. 2015.

A GRU replaces all layers of a stack, with about the same number of parameters. No positions are added, as it reads in order anyway.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.costs import parameters
from playground.model.parts import Linear
from playground.model.positions import NoPositions
from playground.model.transformer import Transformer
from playground.variants.variant import Variant


class GRU(nn.GRU):
    """h_j = f(x_j, h_{j−1}): each state depends on the one before it. `draw` draws its parameters."""

    def reset_parameters(self) -> None:
        pass


class RecurrentEncoder(nn.Module):
    """Reads from left to right; N numbers in a state. (Bahdanau et al. read in both directions.)"""

    def __init__(self, config: ModelConfig, n: int) -> None:
        super().__init__()
        self.gru = GRU(config.d_model, n, batch_first=True, bias=config.bias)

    def forward(self, x: Tensor, mask: Tensor, position_ids: Tensor) -> tuple[Tensor, None]:
        """x (B, S, D) -> the states h_1 … h_S (B, S, N), and no weights. Padding is last, so it doesn't affect earlier states."""
        return self.gru(x)[0], None


class RecurrentDecoder(nn.Module):
    """Cho et al. 2014: the encoder's last state is the context c of the sentence. Every step reads this single vector, whatever the length
    of the sentence."""

    def __init__(self, config: ModelConfig, n: int) -> None:
        super().__init__()
        self.gru = GRU(config.d_model + n, n, batch_first=True, bias=config.bias)
        self.W_s = Linear(n, n, bias=config.bias)
        self.W_o = Linear(n + config.d_model + n, config.d_model, bias=config.bias)

    def forward(
        self, y: Tensor, mask: Tensor, position_ids: Tensor, memory: Tensor, memory_mask: Tensor, *cache: Any
    ) -> tuple[Tensor, None, Tensor | None]:
        """y (B, T, D), memory (B, S, N), memory_mask (B, 1, 1, S) -> (B, T, D), no self-attention, and the cross-attention (B, 1, T, S) of
        a decoder that has one. Ignores the cache."""
        real = memory_mask[:, 0, 0]  # (B, S)
        last = memory[torch.arange(len(memory), device=memory.device), real.sum(dim=-1) - 1]  # h_S (B, N)
        s, c, weights = self.states(y, memory, real, last, torch.tanh(self.W_s(last))[None])
        return torch.tanh(self.W_o(torch.cat((s, y, c), dim=-1))), None, weights

    def states(self, y: Tensor, memory: Tensor, real: Tensor, last: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """s_0 (1, B, N) -> the states s_1 … s_T and their contexts (B, T, N), and the weights of attention."""
        c = last[:, None].expand(-1, y.shape[1], -1)
        return self.gru(torch.cat((y, c), dim=-1), s)[0], c, None  # s_i = f(s_{i−1}, y_{i−1}, c)


class AttendingDecoder(RecurrentDecoder):
    """Bahdanau et al. 2015: each step has its own context, a weighted mean of all states of the encoder."""

    def __init__(self, config: ModelConfig, n: int) -> None:
        super().__init__(config, n)
        self.W_a, self.U_a = (Linear(n, n, bias=False) for _ in range(2))
        self.v_a = Linear(n, 1, bias=False)

    def states(self, y: Tensor, memory: Tensor, real: Tensor, last: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        keys, results = self.U_a(memory), []
        for token in y.unbind(dim=1):  # sequential: a step's attention depends on the state before it
            e = self.v_a(torch.tanh(self.W_a(s[0])[:, None] + keys))[..., 0]  # e_ij = v_a · tanh(W_a s_{i−1} + U_a h_j), (B, S)
            weights = e.masked_fill(~real, -torch.inf).softmax(dim=-1)  # α_ij
            c = (weights[:, None] @ memory)[:, 0]  # c_i = Σ_j α_ij h_j, (B, N)
            s = self.gru(torch.cat((token, c), dim=-1)[:, None], s)[1]  # s_i = f(s_{i−1}, y_{i−1}, c_i)
            results.append((s[0], c, weights))
        states, contexts, weights = (torch.stack(steps, dim=1) for steps in zip(*results, strict=True))
        return states, contexts, weights[:, None]


def replace_layers(model: Transformer, decoder: type[RecurrentDecoder]) -> None:
    """Replaces all layers of the encoder by a GRU, and those of the decoder by another."""
    config, generator = model.config, model.generator
    replaced = (model.encoder, model.decoder, model.encoder_norm, model.decoder_norm, model.src_positions, model.tgt_positions)
    n = state_size(config, sum(parameter.numel() for part in replaced for parameter in part.parameters()), decoder is AttendingDecoder)
    model.src_positions, model.tgt_positions = (NoPositions(config.d_model) for _ in range(2))
    model.encoder_norm, model.decoder_norm = nn.Identity(), nn.Identity()
    model.encoder = nn.ModuleList([RecurrentEncoder(config, n)]).to(generator.device)
    model.decoder = nn.ModuleList([decoder(config, n)]).to(generator.device)
    for name, parameter in (*model.encoder.named_parameters(), *model.decoder.named_parameters()):
        draw(name, parameter, generator)


def draw(name: str, parameter: Tensor, generator: torch.Generator) -> None:
    """Draws recurrent matrices orthogonal (Bahdanau et al. 2015, appendix B), the others as in the Transformer; biases are 0."""
    if "bias" in name:
        parameter.zero_()
        return
    start = nn.init.orthogonal_ if "weight_hh" in name else nn.init.xavier_uniform_
    for gate in parameter.chunk(3 if "gru" in name else 1):
        start(gate, generator=generator)


# --- parameter counts ---


def state_size(config: ModelConfig, most: int, attends: bool) -> int:
    """Returns the largest state size that `most` parameters allow."""
    n = 1
    while gru_parameters(config, n + 1, attends) <= most:
        n += 1
    return n


def gru_parameters(config: ModelConfig, n: int, attends: bool) -> int:
    """Counts the parameters of both GRUs with states of n numbers, and of the linear maps around them."""
    d, bias = config.d_model, int(config.bias)
    encoder = 3 * n * (d + n + 2 * bias)
    decoder = 3 * n * (d + n + n + 2 * bias) + n * (n + bias) + d * (2 * n + d + bias)
    return encoder + decoder + attends * (2 * n * n + n)


def extra_parameters(config: ModelConfig, attends: bool) -> int:
    """Counts parameters beyond those of the replaced layers, norms and positions: never above 0."""
    most = sum(parameters(config, 0, 0).values())  # of a model without vocabularies
    return gru_parameters(config, state_size(config, most, attends), attends) - most


RECURRENT = {
    "gru": Variant(replace_layers, RecurrentDecoder, extra_parameters=partial(extra_parameters, attends=False)),
    "gru_attention": Variant(replace_layers, AttendingDecoder, extra_parameters=partial(extra_parameters, attends=True)),
}
