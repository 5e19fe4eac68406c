"""Layers: attention and a feed-forward network, each wrapped in a residual and a norm (sections 3.1 and 3.3, figure 1)."""

from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.model.attention import MultiHeadAttention
from playground.model.kv_cache import NO_CACHE, KVCache
from playground.model.parts import Dropout, Linear


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same at every position (equation 2)."""

    def __init__(self, config: ModelConfig, dropout: Dropout) -> None:
        super().__init__()
        self.W_1 = Linear(config.d_model, config.d_ff, bias=config.bias)
        self.W_2 = Linear(config.d_ff, config.d_model, bias=config.bias)
        self.activation = {"relu": F.relu, "gelu": F.gelu, "none": nn.Identity()}[config.activation]
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        """(B, L, D) -> (B, L, d_ff) -> (B, L, D)."""
        return self.W_2(self.dropout(self.activation(self.W_1(x))))


class Residual(nn.Module):
    """x + Dropout(Sublayer(x)) (sections 3.1 and 5.4). Without the residual connection, only Dropout(Sublayer(x))."""

    def __init__(self, config: ModelConfig, dropout: Dropout) -> None:
        super().__init__()
        self.connected, self.dropout = config.residual, dropout

    def forward(self, x: Tensor, sublayer_of_x: Tensor) -> Tensor:
        """x (B, L, D), sublayer_of_x (B, L, D) -> (B, L, D)."""
        return x + self.dropout(sublayer_of_x) if self.connected else self.dropout(sublayer_of_x)


def layer_norm(config: ModelConfig) -> nn.Module:
    """Returns a norm of each vector to mean 0 and variance 1, then scaled and shifted (Ba et al. 2016); the identity without norms."""
    return nn.Identity() if config.norm == "none" else nn.LayerNorm(config.d_model, bias=config.bias)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward. The norm is after each residual as in the paper, or before each sublayer, or omitted."""

    def __init__(self, config: ModelConfig, dropout: Dropout) -> None:
        super().__init__()
        self.norm = config.norm
        self.self_attention = MultiHeadAttention(config, dropout, rotary=config.encoding.rotary)
        self.feed_forward = FeedForward(config, dropout)
        self.residual = Residual(config, dropout)
        self.norm_1, self.norm_2 = (layer_norm(config) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor, position_ids: Tensor, kv_cache: KVCache | None = None) -> tuple[Tensor, Tensor]:
        """x (B, S, D), mask (B, 1, 1, S), position_ids (1, S) -> x (B, S, D), weights (B, H, S, S). Only the layers of a decoder-only model
        have a `kv_cache`: of the tokens before those of x."""
        if self.norm == "post":
            attended, weights = self.self_attention(x, x, x, mask, position_ids, kv_cache)
            x = self.norm_1(self.residual(x, attended))
            x = self.norm_2(self.residual(x, self.feed_forward(x)))
        else:
            y = self.norm_1(x)
            attended, weights = self.self_attention(y, y, y, mask, position_ids, kv_cache)
            x = self.residual(x, attended)
            x = self.residual(x, self.feed_forward(self.norm_2(x)))
        return x, weights


class DecoderLayer(nn.Module):
    """Masked self-attention, then cross-attention to the encoder's memory, then feed-forward."""

    def __init__(self, config: ModelConfig, dropout: Dropout) -> None:
        super().__init__()
        self.norm = config.norm
        self.self_attention = MultiHeadAttention(config, dropout, rotary=config.encoding.rotary)
        self.cross_attention = MultiHeadAttention(config, dropout)
        self.feed_forward = FeedForward(config, dropout)
        self.residual = Residual(config, dropout)
        self.norm_1, self.norm_2, self.norm_3 = (layer_norm(config) for _ in range(3))

    def forward(
        self, x: Tensor, mask: Tensor, position_ids: Tensor, memory: Tensor, memory_mask: Tensor,
        kv_cache: tuple[KVCache | None, KVCache | None] = NO_CACHE,
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        """x (B, T, D), mask (B, 1, T, T), position_ids (1, T), memory (B, S, D), memory_mask (B, 1, 1, S) -> x (B, T, D), weights
        (B, H, T, T), cross_weights (B, H, T, S). With a `kv_cache`, x and the rows of mask and weights are those of the N new tokens."""
        own_cache, cross_cache = kv_cache
        if self.norm == "post":
            attended, weights = self.self_attention(x, x, x, mask, position_ids, own_cache)
            x = self.norm_1(self.residual(x, attended))
            attended, cross_weights = self.cross_attention(x, memory, memory, memory_mask, kv_cache=cross_cache)
            x = self.norm_2(self.residual(x, attended))
            x = self.norm_3(self.residual(x, self.feed_forward(x)))
        else:
            y = self.norm_1(x)
            attended, weights = self.self_attention(y, y, y, mask, position_ids, own_cache)
            x = self.residual(x, attended)
            attended, cross_weights = self.cross_attention(self.norm_2(x), memory, memory, memory_mask, kv_cache=cross_cache)
            x = self.residual(x, attended)
            x = self.residual(x, self.feed_forward(self.norm_3(x)))
        return x, weights, cross_weights
