"""Position encodings: the order of tokens in a model without recurrence (section 3.5)."""

import torch
from torch import Tensor, nn

from playground.config import MAX_POSITIONS, ModelConfig, Refusal

BASE = 10_000  # of the wavelengths: from 2 pi, in the first pair of dimensions, almost to this times 2 pi


def sinusoids(length: int, d_model: int) -> Tensor:
    """PE[pos, 2i] = sin(pos / 10000^(2i / d_model)), PE[pos, 2i + 1] = cos of the same angle. -> (L, D); d_model is even."""
    angles = _angles(length, d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


def _angles(length: int, dims: int, device: torch.device | None = None) -> Tensor:
    """pos / 10000^(2i / dims) for every position and every pair of dimensions: (L, dims // 2)."""
    pairs = torch.arange(dims // 2, device=device)
    return torch.arange(length, device=device)[:, None] / BASE ** (2 * pairs / dims)


def position_ids(length: int, device: torch.device | None = None) -> Tensor:
    """Returns the positions of a sentence's tokens, (1, L), the same for all sentences. Raises Refusal when there are too many."""
    if length > MAX_POSITIONS:
        raise Refusal("model.too_long", tokens=length, most=MAX_POSITIONS)
    return torch.arange(length, device=device)[None]


class SinusoidalPositions(nn.Module):
    """Adds the sinusoids of section 3.5. Has no learned parameters."""

    @staticmethod
    def parameter_count(d_model: int) -> int:
        return 0

    def __init__(self, d_model: int, length: int = MAX_POSITIONS) -> None:
        super().__init__()
        self.register_buffer("table", sinusoids(length, d_model), persistent=False)

    def forward(self, x: Tensor, position_ids: Tensor) -> Tensor:
        """x (B, L, D), the positions of its tokens (B, L) or (1, L) -> (B, L, D)."""
        return x + self.table[position_ids]


class LearnedPositions(nn.Module):
    """Adds one learned vector for each position (the alternative of section 3.5, and row E of table 3)."""

    @staticmethod
    def parameter_count(d_model: int) -> int:
        return MAX_POSITIONS * d_model

    def __init__(self, d_model: int, length: int = MAX_POSITIONS) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(length, d_model))

    def forward(self, x: Tensor, position_ids: Tensor) -> Tensor:
        """x (B, L, D), the positions of its tokens (B, L) or (1, L) -> (B, L, D)."""
        return x + self.table[position_ids]


class NoPositions(nn.Module):
    """Adds nothing: for rotary positions, which are in the attention layers, or for none."""

    @staticmethod
    def parameter_count(d_model: int) -> int:
        return 0

    def __init__(self, d_model: int, length: int = MAX_POSITIONS) -> None:
        super().__init__()

    def forward(self, x: Tensor, position_ids: Tensor) -> Tensor:
        """x (B, L, D) -> (B, L, D)."""
        return x


ADDED: dict[str, type[nn.Module]] = {"": NoPositions, "sinusoids": SinusoidalPositions, "learned": LearnedPositions}


def added_positions(config: ModelConfig) -> type[nn.Module]:
    """Returns the class that adds positions to the embeddings; it is created with d_model. Raises Refusal for an unknown encoding."""
    added = config.encoding.added
    if added not in ADDED:
        raise Refusal("model.no_positions", name=config.positions, added=added, known=", ".join(filter(None, ADDED)))
    return ADDED[added]


class RotaryPositions(nn.Module):
    """Rotates queries and keys instead of adding to the input (RoFormer, Su et al. 2021).

    Each pair of dimensions is a point in the plane and is rotated by the angle of the sinusoids at that position. The product of a
    rotated query and a rotated key depends on their distance only. With an odd number of dimensions the last one is unchanged.
    """

    def __init__(self, d_head: int, length: int = MAX_POSITIONS) -> None:
        super().__init__()
        angles = _angles(length, d_head)
        self.pairs = d_head // 2 * 2  # rotated dimensions
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x: Tensor, position_ids: Tensor) -> Tensor:
        """x (B, H, L, K), the positions of its tokens (B, L) or (1, L) -> (B, H, L, K)."""
        cos, sin = self.cos[position_ids][:, None], self.sin[position_ids][:, None]  # (B or 1, 1, L, K // 2)
        even, odd = x[..., 0 : self.pairs : 2], x[..., 1 : self.pairs : 2]
        turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)
        return torch.cat((turned, x[..., self.pairs :]), dim=-1)
