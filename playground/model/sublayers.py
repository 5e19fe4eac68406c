"""Routes: the model's embeddings, sublayers and projection in order, with the parameters and FLOPs of each.

A norm belongs to its sublayer, positions to the embedding they are added to, a shared matrix to the first route that has it.
"""

from __future__ import annotations

from functools import cache

from playground.config import ModelConfig
from playground.model.attention import head_widths
from playground.model.positions import added_positions

NORMS = {
    "encoder": {"norm_1": "self_attention", "norm_2": "feed_forward"},
    "decoder": {"norm_1": "self_attention", "norm_2": "cross_attention", "norm_3": "feed_forward"},
}
SUBLAYERS = {stack: tuple(norms.values()) for stack, norms in NORMS.items()}


def sublayers(config: ModelConfig) -> tuple[str, ...]:
    """Lists the routes in the order of computation: "src_embedding", "encoder.0.self_attention", …, "tgt_embedding", …, "projection"."""
    routes = []
    for side, stack, layers in (("src", "encoder", config.encoder_layers), ("tgt", "decoder", config.decoder_layers)):
        routes.append(f"{side}_embedding")
        routes += [f"{stack}.{layer}.{name}" for layer in range(layers) for name in SUBLAYERS[stack]]
        routes += [f"{stack}_norm"] if config.norm == "pre" else []
    return (*routes, "projection")


@cache
def sublayer_of(parameter: str) -> str:
    """Returns the route of a parameter of the model: "decoder.1.norm_2.weight" -> "decoder.1.cross_attention"."""
    stack, *rest = parameter.split(".")
    if stack in NORMS:
        layer, module = rest[:2]
        return f"{stack}.{layer}.{NORMS[stack].get(module, module)}"
    return stack.replace("_positions", "_embedding")


def parameters(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> dict[str, int]:
    """Counts the learned numbers of each route. Raises Refusal for an unknown position encoding."""
    d, bias, share = config.d_model, int(config.bias), config.share_embeddings
    norm = (d + bias * d) * (config.norm != "none")
    positions = added_positions(config).parameter_count(d)
    attention = attention_parameters(config) + norm
    kinds = {
        "src_embedding": src_vocab * d + positions,
        "tgt_embedding": (0 if share == "all" else tgt_vocab * d) + positions,
        "self_attention": attention,
        "cross_attention": attention,
        "feed_forward": 2 * d * config.d_ff + bias * (config.d_ff + d) + norm,
        "encoder_norm": norm,
        "decoder_norm": norm,
        "projection": (tgt_vocab * d if share == "none" else 0) + bias * tgt_vocab,
    }
    return {route: kinds[route.rpartition(".")[2]] for route in sublayers(config)}


def attention_parameters(config: ModelConfig) -> int:
    """Counts W_q, W_k, W_v and W_o of one attention sublayer, with their biases."""
    d, bias, width = config.d_model, int(config.bias), query_width(config)
    return 2 * (d + bias) * width + 2 * (d + bias) * d


def query_width(config: ModelConfig) -> int:
    """Returns the columns of W_q, and of W_k: d_k for each head."""
    return config.n_heads * head_widths(config)[0]


def hidden_matrices(config: ModelConfig) -> tuple[tuple[int, int, int], ...]:
    """Lists (rows, columns, count) of the matrices inside the layers, the shorter side first."""
    attention, feed_forward = config.encoder_layers + 2 * config.decoder_layers, config.encoder_layers + config.decoder_layers
    sides = ((query_width(config), 2 * attention), (config.d_model, 2 * attention), (config.d_ff, 2 * feed_forward))
    return tuple((min(config.d_model, side), max(config.d_model, side), count) for side, count in sides)


def flops(config: ModelConfig, tgt_vocab: int, s: int, t: int) -> dict[str, int]:
    """Counts the floating-point operations of each route in a forward pass of S source and T target tokens (with EOS and BOS).

    As usual, only matrix products count: (A, B) times (B, C) takes A B C multiplications and A B C additions.
    """

    def multiplications(route: str) -> int:
        length = s if route.startswith("encoder") else t
        kinds = {
            "self_attention": attention_multiplications(config, length, length, length),
            "cross_attention": attention_multiplications(config, t, s, s),
            "feed_forward": feed_forward_multiplications(config, length),
            "projection": t * config.d_model * tgt_vocab,
        }
        return kinds.get(route.rpartition(".")[2], 0)  # embeddings are looked up, norms have no matrices

    return {route: 2 * multiplications(route) for route in sublayers(config)}


def attention_multiplications(config: ModelConfig, queries: int, projected: int, keys: int) -> int:
    """Counts one attention sublayer: W_q and W_o for the queries, W_k and W_v for the `projected` tokens, Q K^T and the weights times V in
    all heads."""
    d = config.d_model
    return ((queries + projected) * d + queries * keys) * (query_width(config) + d)


def feed_forward_multiplications(config: ModelConfig, tokens: int) -> int:
    """Counts one feed-forward sublayer: W_1 and W_2."""
    return 2 * tokens * config.d_model * config.d_ff
