"""Alternatives: other choices for parts of the paper's model."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from playground.config import MAX_POSITIONS, ModelConfig
from playground.model.attention import MASKED, head_widths, scaled_dot_product_attention
from playground.model.costs import attention_count, query_width
from playground.model.layers import FeedForward
from playground.model.parts import Dropout, Linear
from playground.model.positions import SinusoidalPositions
from playground.model.transformer import SUBLAYER_OUTPUTS, Transformer
from playground.variants.variant import Variant, attentions, replace_functions

# --- score functions ---


class Additive(nn.Module):
    """v · tanh(q + k) for each head (Bahdanau et al. 2015): a small network instead of a product. With q = s W_Q and k = h W_K, q + k is
    [s; h] W, the concatenation of the two vectors times W_Q above W_K."""

    def __init__(self, config: ModelConfig, generator: torch.Generator) -> None:
        super().__init__()
        width, _ = head_widths(config)
        v = torch.randn(config.n_heads, width, generator=generator, device=generator.device) / math.sqrt(width)
        self.v = nn.Parameter(v)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
        hidden = torch.tanh(q[..., :, None, :] + k[..., None, :, :])  # (B, H, Q, 1, K) + (B, H, 1, L, K)
        return _attend((hidden * self.v[:, None, None]).sum(dim=-1), v, mask, dropout)


class Bilinear(nn.Module):
    """q W k for each head (Luong et al. 2015, "general"). It starts as the dot product: W is 1 / sqrt(d_k) on its diagonal. The matrices of
    all heads are stacked into one, as in W_Q, so that matrix optimisers such as Muon treat them alike."""

    def __init__(self, config: ModelConfig, generator: torch.Generator) -> None:
        super().__init__()
        width, _ = head_widths(config)
        begin = torch.eye(width, device=generator.device) / width**config.attention_scale
        self.W = nn.Parameter(begin.repeat(config.n_heads, 1))  # (H K, K)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
        W = self.W.view(q.shape[1], q.shape[-1], -1)  # (H, K, K)
        return scaled_dot_product_attention(q @ W, k, v, mask, 0.0, dropout)


def cosine_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
    """Compares angles only: queries and keys are scaled to length sqrt(d_k), that of random ones."""
    q, k = (nn.functional.normalize(x, dim=-1) * math.sqrt(x.shape[-1]) for x in (q, k))
    return scaled_dot_product_attention(q, k, v, mask, power, dropout)


class Location(nn.Module):
    """W q for each head (Luong et al. 2015, "location"): the scores of the first position, the second, and so on depend on the query only,
    not on the keys. Positions count from the first visible one, as several sentences may share a row. The matrices of all heads are
    stacked into one."""

    def __init__(self, config: ModelConfig, generator: torch.Generator) -> None:
        super().__init__()
        width, _ = head_widths(config)
        W = torch.randn(config.n_heads * width, MAX_POSITIONS, generator=generator, device=generator.device) / math.sqrt(width)
        self.W = nn.Parameter(W)  # (H K, P)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, power: float, dropout: Dropout) -> tuple[Tensor, Tensor]:
        length = k.shape[-2]
        of_position = q @ self.W.view(q.shape[1], q.shape[-1], -1)[..., :length]  # (B, H, Q, L)
        first = mask.int().argmax(dim=-1, keepdim=True)
        position = (torch.arange(length, device=mask.device) - first).clamp(min=0)  # (B, 1, Q, L)
        return _attend(of_position.gather(-1, position.expand_as(of_position)), v, mask, dropout)


def _attend(scores: Tensor, v: Tensor, mask: Tensor, dropout: Dropout) -> tuple[Tensor, Tensor]:
    weights = (scores + torch.where(mask, 0.0, MASKED)).softmax(dim=-1) * mask
    return dropout(weights) @ v, weights


# --- parts left out ---


class NoMatrix(nn.Module):
    """The identity in the place of a learned matrix."""

    def forward(self, x: Tensor) -> Tensor:
        return x


def identity_output(model: Transformer) -> None:
    """Removes W_O: the concatenated heads are added to the residual stream."""
    for attention in attentions(model):
        attention.W_o = NoMatrix()


def shared_query_key(model: Transformer) -> None:
    """Makes W_Q and W_K of each self-attention one matrix: token i scores token j as j scores i."""
    for layer in (*model.encoder, *model.decoder):
        layer.self_attention.W_k = layer.self_attention.W_q


def no_projections(model: Transformer) -> None:
    """Removes W_Q, W_K and W_V of each self-attention: queries, keys and values are the tokens' vectors themselves, cut into heads."""
    for layer in (*model.encoder, *model.decoder):
        attention = layer.self_attention
        attention.W_q = attention.W_k = attention.W_v = NoMatrix()


class ZeroSublayer(nn.Module):
    """A sublayer that adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def no_feed_forward(model: Transformer) -> None:
    for layer in (*model.encoder, *model.decoder):
        layer.feed_forward = ZeroSublayer()


def plain_xavier(model: Transformer) -> None:
    """Draws the last matrix of each sublayer by Xavier too, as torch.nn.Transformer does, without scaling by the number of sublayers."""
    for name, parameter in model.named_parameters():
        if name.endswith(SUBLAYER_OUTPUTS):
            nn.init.xavier_uniform_(parameter, generator=model.generator)


def no_attention_dropout(model: Transformer) -> None:
    """Removes dropout from the attention weights only."""
    for attention in attentions(model):
        attention.dropout = Dropout(0.0, model.generator)


# --- the norm and the positions ---


class BatchNorm(nn.Module):
    """Normalises each number of the vectors over all tokens of a batch (Ioffe and Szegedy 2015), padding included; in eval mode by the
    running mean and variance. These are parameters without a gradient, so that they are saved with the others.
    """

    MOMENTUM, EPSILON = 0.1, 1e-5

    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__()
        self.weight, self.bias = norm.weight, norm.bias
        self.mean = nn.Parameter(torch.zeros_like(norm.weight))
        self.variance = nn.Parameter(torch.ones_like(norm.weight))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            mean, variance, tokens = x.mean(dim=(0, 1)), x.var(dim=(0, 1), correction=0), x.shape[0] * x.shape[1]
            with torch.no_grad():
                self.mean.lerp_(mean, self.MOMENTUM)
                self.variance.lerp_(variance * tokens / max(1, tokens - 1), self.MOMENTUM)  # unbiased
        else:
            mean, variance = self.mean.detach(), self.variance.detach()
        return (x - mean) * torch.rsqrt(variance + self.EPSILON) * self.weight + (0.0 if self.bias is None else self.bias)


class RMSNorm(nn.Module):
    """x / sqrt(mean(x²) + ε) times a learned gain (Zhang and Sennrich 2019): no mean is subtracted and no shift added. T5 and Llama have
    it."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__()
        self.weight, self.eps = norm.weight, norm.eps

    def forward(self, x: Tensor) -> Tensor:
        """(B, L, D) -> (B, L, D)."""
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps) * self.weight


def replace_norms(model: Transformer, kind: Callable[[nn.LayerNorm], nn.Module]) -> None:
    for part in list(model.modules()):
        for name, child in part.named_children():
            if isinstance(child, nn.LayerNorm):
                setattr(part, name, kind(child))


# --- the feed-forward network ---


class SwiGLU(FeedForward):
    """(SiLU(x W_1 + b_1) * (x W_3 + b_3)) W_2 + b_2, with SiLU(h) = h sigmoid(h) (Shazeer 2020): each hidden unit is multiplied by another
    linear map of x. PaLM and Llama have it."""

    W_3: Linear

    def forward(self, x: Tensor) -> Tensor:
        """(B, L, D) -> (B, L, d_ff) -> (B, L, D)."""
        return self.W_2(self.dropout(nn.functional.silu(self.W_1(x)) * self.W_3(x)))


def swiglu(model: Transformer) -> None:
    config = model.config
    for layer in (*model.encoder, *model.decoder):
        network = layer.feed_forward
        network.__class__, network.W_3 = SwiGLU, Linear(config.d_model, config.d_ff, bias=config.bias)
        network.to(model.generator.device)
        nn.init.xavier_uniform_(network.W_3.weight, generator=model.generator)
        if config.bias:
            network.W_3.bias.zero_()


def concatenated(model: Transformer) -> None:
    """Puts all sines first, then all cosines, as many programs do."""
    for encoding in (model.src_positions, model.tgt_positions):
        if isinstance(encoding, SinusoidalPositions):
            encoding.table = torch.cat((encoding.table[:, 0::2], encoding.table[:, 1::2]), dim=1)


# --- parameter counts ---


def without_feed_forward(config: ModelConfig) -> int:
    sublayer = 2 * config.d_model * config.d_ff + config.bias * (config.d_ff + config.d_model)
    return -(config.encoder_layers + config.decoder_layers) * sublayer


def without_keys(config: ModelConfig) -> int:
    """Counts W_K of every self-attention, which has no more than W_Q, negatively."""
    return -(config.encoder_layers + config.decoder_layers) * (config.d_model + config.bias) * query_width(config)


def without_projections(config: ModelConfig) -> int:
    values = (config.encoder_layers + config.decoder_layers) * (config.d_model + config.bias) * config.d_model
    return 2 * without_keys(config) - values


def norm_width(config: ModelConfig) -> int:
    """Counts the numbers of a vector in all norms together."""
    norms = 2 * config.encoder_layers + 3 * config.decoder_layers + 2 * (config.norm == "pre")
    return norms * config.d_model * (config.norm != "none")


def gates(config: ModelConfig) -> int:
    """Counts W_3 and its bias in every layer."""
    return (config.encoder_layers + config.decoder_layers) * (config.d_model + config.bias) * config.d_ff


ALTERNATIVES = {
    "concatenated": Variant(concatenated),
    "identity_output": Variant(
        identity_output, extra_parameters=lambda config: -attention_count(config) * (config.d_model**2 + config.bias * config.d_model)
    ),
    "shared_query_key": Variant(shared_query_key, extra_parameters=without_keys),
    "no_projections": Variant(no_projections, extra_parameters=without_projections),
    "no_feed_forward": Variant(no_feed_forward, extra_parameters=without_feed_forward),
    "additive": Variant(replace_functions, Additive, extra_parameters=lambda config: attention_count(config) * query_width(config)),
    "bilinear": Variant(
        replace_functions, Bilinear, extra_parameters=lambda config: attention_count(config) * query_width(config) * head_widths(config)[0]
    ),
    "cosine": Variant(replace_functions, cosine_attention),
    "location": Variant(
        replace_functions, Location, extra_parameters=lambda config: attention_count(config) * query_width(config) * MAX_POSITIONS
    ),
    "batch_norm": Variant(replace_norms, BatchNorm, extra_parameters=lambda config: 2 * norm_width(config)),  # mean and variance
    "rms_norm": Variant(replace_norms, RMSNorm, extra_parameters=lambda config: -config.bias * norm_width(config)),
    "swiglu": Variant(swiglu, extra_parameters=gates),
    "no_attention_dropout": Variant(no_attention_dropout),
    "plain_xavier": Variant(plain_xavier),
}
