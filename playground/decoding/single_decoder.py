"""The fast decoder of a single sentence, in numpy alone: for a click, and for a command that needn't wait for torch's import.

The state of one token is a vector, and its products with matrices are so small that torch would spend most of its time on call overhead;
numpy's is a third of that: at d_model 64 the batch decoder takes 2.8 ms of a processor for 12 tokens after 12 where this one takes 1.9, at
128 4.0 and 2.8; of a whole click in Translate, 12 ms, that is a tenth. The arrays are a model's parameters and position tables, by the
names that they have there.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from operator import iadd

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from playground.config import BOS, EOS, MAX_POSITIONS, PAD, ModelConfig, Refusal

INITIAL_TOKENS = 16  # initial capacity of a cache in tokens; doubled when full
MASKED = -1e30  # as in model/attention.py
EPSILON = 1e-5  # of torch's layer norm
Arrays = Mapping[str, np.ndarray]
Map = Callable[[np.ndarray], np.ndarray]


class SingleDecoder:
    """A source of S token ids, encoded once, and a target that grows by one token at a time. The arrays are float32, and those of a stock
    model with this configuration. Raises Refusal when a sentence is too long."""

    def __init__(self, arrays: Arrays, config: ModelConfig, ids: Sequence[int]) -> None:
        padding = np.array([id == PAD for id in ids])
        self.mask, self.memory_mask = None, np.where(padding, np.float32(MASKED), 0) if padding.any() else None
        self.length, self.embedding, self.table = 0, arrays["tgt_embedding.weight"], arrays.get("tgt_positions.table")
        self.scale = embedding_scale(config)
        memory = encode(arrays, config, ids, self.memory_mask)
        self.layers = [SingleLayer(arrays, f"decoder.{at}", config, memory) for at in range(config.decoder_layers)]
        self.norm, self.project = norm(arrays, "decoder_norm"), linear(arrays, "projection")

    def write(self, most: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Decodes greedily up to EOS or `most` tokens. Returns them, and their log probabilities in nats."""
        ids, logprobs, token = [], [], BOS
        while len(ids) < most and token != EOS:
            logits = self.next_logits(token)  # (V,)
            logits -= np.maximum.reduce(logits)
            logits -= np.log(np.add.reduce(np.exp(logits)))  # rounded as in torch: of two that are then equal the first is taken
            token = int(logits.argmax())
            logprobs.append(float(logits[token]))
            ids.append(token)
        return tuple(ids), tuple(logprobs)

    def next_logits(self, token: int) -> np.ndarray:
        """Feeds one more token and returns the logits after it (V,)."""
        place = self.length
        if place == MAX_POSITIONS:
            raise Refusal("model.too_long", tokens=place + 1, most=MAX_POSITIONS)
        x = self.embedding[token] * self.scale
        if self.table is not None:
            x += self.table[place]
        mask = self._mask(token)
        for layer in self.layers:
            x = layer.step(x, place, mask, self.memory_mask)
        self.length += 1
        return self.project(self.norm(x))

    def _mask(self, token: int) -> np.ndarray | None:
        """Masks every PAD, even one that the sentence has written: the terms added to scores (L,); None while there is no PAD."""
        if self.mask is None and token == PAD:
            self.mask = np.zeros(MAX_POSITIONS, np.float32)
        if self.mask is None:
            return None
        self.mask[self.length] = MASKED if token == PAD else 0
        return self.mask[: self.length + 1]


class SingleLayer:
    """A decoder layer with its caches: keys and values of memory (S, D) for cross-attention, and of the written tokens: keys (H, L, K),
    multiplied by the scale of the scores, and values (H, L, U + 1), with a 1 after each, whose sum of weights is the softmax's divisor."""

    def __init__(self, arrays: Arrays, name: str, config: ModelConfig, memory: np.ndarray) -> None:
        own, cross = f"{name}.self_attention", f"{name}.cross_attention"
        self.W_q, self.W_k, self.W_v, self.W_o = (linear(arrays, f"{own}.{part}") for part in ("W_q", "W_k", "W_v", "W_o"))
        self.query, self.cross_out = linear(arrays, f"{cross}.W_q"), linear(arrays, f"{cross}.W_o")
        self.n_heads, self.angles = config.n_heads, angles(arrays, own)
        k, v = (split_heads(linear(arrays, f"{cross}.{part}")(memory), config) for part in ("W_k", "W_v"))  # (H, S, K or U)
        self.scale = k.shape[2] ** -config.attention_scale
        self.memory_k, self.memory_v = k * np.float32(self.scale), np.ones((*v.shape[:2], v.shape[2] + 1), np.float32)
        self.memory_v[:, :, :-1] = v
        self.k, self.v = (np.ones((config.n_heads, INITIAL_TOKENS, part.shape[2]), np.float32) for part in (k, self.memory_v))
        self.feed_forward, self.wrap = feed_forward(arrays, f"{name}.feed_forward", config), wrap(config)
        self.norms = tuple(norm(arrays, f"{name}.norm_{at}") for at in (1, 2, 3))

    def step(self, x: np.ndarray, place: int, mask: np.ndarray | None, memory_mask: np.ndarray | None) -> np.ndarray:
        """Computes the newest token's state (D,) -> (D,)."""
        wrap, (norm_1, norm_2, norm_3) = self.wrap, self.norms
        x = wrap(x, lambda x: self.own_attention(x, place, mask), norm_1)
        x = wrap(x, lambda x: self.cross_attention(x, memory_mask), norm_2)
        return wrap(x, self.feed_forward, norm_3)

    def own_attention(self, x: np.ndarray, place: int, mask: np.ndarray | None) -> np.ndarray:
        if place == self.k.shape[1]:
            self.k, self.v = (np.concatenate((cache, np.ones_like(cache)), axis=1) for cache in (self.k, self.v))
        shape = self.n_heads, -1
        q, k, v = self.W_q(x).reshape(shape), self.W_k(x).reshape(shape), self.W_v(x).reshape(shape)
        if self.angles is not None:
            rotate_(q, self.angles[place])
            rotate_(k, self.angles[place])
        np.multiply(k, self.scale, out=self.k[:, place])
        self.v[:, place, :-1] = v
        return self.W_o(attend(q, self.k[:, : place + 1], self.v[:, : place + 1], mask))

    def cross_attention(self, x: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
        q = self.query(x).reshape(self.n_heads, -1)
        return self.cross_out(attend(q, self.memory_k, self.memory_v, mask))


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Attends with one query per head: q (H, K), scaled k (H, L, K), v and ones (H, L, U + 1), `mask` (L,) added to scores -> (H U,)."""
    weights = np.matvec(k, q)  # (H, L)
    if mask is not None:
        weights += mask
    weights -= np.maximum.reduce(weights, axis=1, keepdims=True)
    np.exp(weights, out=weights)
    mixed = np.vecmat(weights, v)  # the ones become the sum of the weights: one division of the mixed values replaces one of each weight
    return (mixed[:, :-1] / mixed[:, -1:]).ravel()


# --- the encoder ---


def encode(arrays: Arrays, config: ModelConfig, ids: Sequence[int], mask: np.ndarray | None) -> np.ndarray:
    """Encodes S tokens, with a `mask` (S,) added to scores -> memory (S, D). Raises Refusal when they are too many."""
    if len(ids) > MAX_POSITIONS:
        raise Refusal("model.too_long", tokens=len(ids), most=MAX_POSITIONS)
    x, connect = arrays["src_embedding.weight"][list(ids)] * embedding_scale(config), wrap(config)
    if (table := arrays.get("src_positions.table")) is not None:
        x += table[: len(ids)]
    for name in (f"encoder.{at}" for at in range(config.encoder_layers)):
        x = connect(x, encoder_attention(arrays, f"{name}.self_attention", config, mask), norm(arrays, f"{name}.norm_1"))
        x = connect(x, feed_forward(arrays, f"{name}.feed_forward", config), norm(arrays, f"{name}.norm_2"))
    memory = norm(arrays, "encoder_norm")(x)
    if config.memory_mode == "mean":
        return np.tile(memory[slice(None) if mask is None else mask == 0].mean(axis=0), (len(ids), 1))
    return memory * 0 if config.memory_mode == "cut" else memory


def encoder_attention(arrays: Arrays, name: str, config: ModelConfig, mask: np.ndarray | None) -> Map:
    """Returns the self-attention of all tokens, (S, D) -> (S, D)."""
    W_q, W_k, W_v, W_o = (linear(arrays, f"{name}.{part}") for part in ("W_q", "W_k", "W_v", "W_o"))
    rotations = angles(arrays, name)

    def attend_all(x: np.ndarray) -> np.ndarray:
        q, k, v = (split_heads(project(x), config) for project in (W_q, W_k, W_v))  # (H, S, K or U)
        if rotations is not None:
            rotate_(q, rotations[: len(x)])
            rotate_(k, rotations[: len(x)])
        weights = q * np.float32(k.shape[2] ** -config.attention_scale) @ k.swapaxes(1, 2)  # (H, S, S)
        if mask is not None:
            weights += mask
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        return W_o((weights @ v).swapaxes(0, 1).reshape(len(x), -1))

    return attend_all


# --- products, norms and sublayers as functions of one state (D,) or many (N, D) ---


def embedding_scale(config: ModelConfig) -> float:
    return math.sqrt(config.d_model) if config.embedding_scale else 1.0


def linear(arrays: Arrays, name: str) -> Map:
    """Returns x -> x W^T + b."""
    transposed, bias = arrays[f"{name}.weight"].T, arrays.get(f"{name}.bias")
    return (lambda x: x.dot(transposed)) if bias is None else (lambda x: iadd(x.dot(transposed), bias))


def split_heads(x: np.ndarray, config: ModelConfig) -> np.ndarray:
    """(S, H K) -> (H, S, K)."""
    return x.reshape(len(x), config.n_heads, -1).swapaxes(0, 1)


def norm(arrays: Arrays, name: str) -> Map:
    """Returns the layer norm of this name; the identity where there is none."""
    if (gain := arrays.get(f"{name}.weight")) is None:
        return lambda x: x
    shift, width, mean = arrays.get(f"{name}.bias", 0), len(gain), np.full(len(gain), 1 / len(gain), np.float32)

    def normalise(x: np.ndarray) -> np.ndarray:
        if x.ndim == 1:
            x = x - x.dot(mean)
            x *= 1 / math.sqrt(x.dot(x) / width + EPSILON)
        else:
            x = x - x.dot(mean)[:, None]
            x /= np.sqrt(np.vecdot(x, x)[:, None] / width + EPSILON)
        x *= gain
        x += shift
        return x

    return normalise


def feed_forward(arrays: Arrays, name: str, config: ModelConfig) -> Map:
    W_1, W_2 = linear(arrays, f"{name}.W_1"), linear(arrays, f"{name}.W_2")
    if config.activation == "relu":
        return lambda x: W_2(np.maximum(W_1(x), 0))
    return (lambda x: W_2(W_1(x))) if config.activation == "none" else (lambda x: W_2(_gelu(W_1(x))))


def _gelu(x: np.ndarray) -> np.ndarray:
    """x times the normal distribution's share below it. Torch's, as numpy has no error function: slow where torch isn't imported yet."""
    import torch

    return torch.nn.functional.gelu(torch.from_numpy(x)).numpy()


def wrap(config: ModelConfig) -> Callable:
    """Returns f(x, sublayer, norm), a sublayer with pre- or post-norm and residual connection."""
    if config.residual and config.norm == "post":
        return lambda x, sublayer, norm: norm(iadd(sublayer(x), x))
    if config.residual:
        return lambda x, sublayer, norm: iadd(sublayer(norm(x)), x)
    if config.norm == "post":
        return lambda x, sublayer, norm: norm(sublayer(x))
    return lambda x, sublayer, norm: sublayer(norm(x))


def angles(arrays: Arrays, name: str) -> np.ndarray | None:
    """Returns the rotation of each pair of dimensions at each position as complex numbers of length 1 (MAX_POSITIONS, K // 2), or None."""
    cos = arrays.get(f"{name}.rotary.cos")
    return None if cos is None else cos + 1j * arrays[f"{name}.rotary.sin"]


def rotate_(x: np.ndarray, angles: np.ndarray) -> None:
    """Applies rotary positions in place: x (..., K), angles (..., K // 2)."""
    pairs = x[..., : 2 * angles.shape[-1]]
    pairs[:] = (np.ascontiguousarray(pairs).view(np.complex64) * angles).view(np.float32)


# --- a model's file ---


def read_arrays(data: bytes, config: ModelConfig) -> dict[str, np.ndarray]:
    """Reads the parameters of a safetensors file, and adds what it doesn't hold: shared matrices by each name, and position tables. Raises
    ValueError and its like unless all are finite float32, and norms and biases as wide as the states that they change."""
    try:
        arrays = safetensors.numpy.load(data)
    except SafetensorError as error:
        raise ValueError("not a safetensors file") from error
    if config.share_embeddings == "all":
        arrays["tgt_embedding.weight"] = arrays["src_embedding.weight"]
    if config.share_embeddings in ("all", "output"):
        arrays["projection.weight"] = arrays["tgt_embedding.weight"]
    for name, array in arrays.items():
        width = len(arrays[f"{name.removesuffix('.bias')}.weight"]) if name.endswith(".bias") else config.d_model
        if array.dtype != np.float32 or not np.isfinite(array).all() or (array.ndim == 1 and len(array) != width):
            raise ValueError(name)
    if config.encoding.added == "sinusoids":
        turns = _turns(config.d_model)
        table = np.stack((np.sin(turns), np.cos(turns)), axis=-1).reshape(len(turns), -1)
        arrays |= {"src_positions.table": table, "tgt_positions.table": table}
    if config.encoding.rotary:
        turns = _turns(config.d_k or config.d_model // config.n_heads)
        for stack, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
            for at in range(count):
                arrays[f"{stack}.{at}.self_attention.rotary.cos"] = np.cos(turns)
                arrays[f"{stack}.{at}.self_attention.rotary.sin"] = np.sin(turns)
    return arrays


def _turns(dims: int) -> np.ndarray:
    """The angles of model/positions.py: (MAX_POSITIONS, dims // 2)."""
    pairs = np.arange(dims // 2, dtype=np.float32)
    return np.arange(MAX_POSITIONS, dtype=np.float32)[:, None] / np.float32(10_000) ** (2 * pairs / np.float32(dims))
