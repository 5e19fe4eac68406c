"""Costs: the parameters, operations and memory of each part of the model, by formula, before anything is built.

Routes are the model's embeddings, sublayers and projection in order. A norm belongs to its sublayer, positions to the embedding they are
added to, a shared matrix to the first route that has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from playground.config import Experiment, ModelConfig, Refusal, UpdateRule, limits
from playground.model.attention import head_widths
from playground.model.positions import added_positions

NORMS = {
    "encoder": {"norm_1": "self_attention", "norm_2": "feed_forward"},
    "decoder": {"norm_1": "self_attention", "norm_2": "cross_attention", "norm_3": "feed_forward"},
    "layers": {"norm_1": "self_attention", "norm_2": "feed_forward"},  # of a decoder-only model
}
SUBLAYERS = {stack: tuple(norms.values()) for stack, norms in NORMS.items()}


def sublayers(config: ModelConfig) -> tuple[str, ...]:
    """Lists the routes in the order of computation: "src_embedding", "encoder.0.self_attention", …, "tgt_embedding", …, "projection"."""
    routes = []
    for side, stack in (("src", "encoder"), ("tgt", "decoder")):
        routes += [f"{side}_embedding", *_list_sublayers(config, stack)]
        routes += [f"{stack}_norm"] if config.norm == "pre" and (stack == "decoder" or not config.alteration.decoder_only) else []
    return (*routes, "projection")


def _list_sublayers(config: ModelConfig, stack: str) -> list[str]:
    """Lists the sublayers of a stack; those of a decoder-only model, which reads both sides, are with the decoder's."""
    layers = config.attention_layers(stack)
    if config.alteration.decoder_only:
        stack, layers = "layers", layers * (stack == "decoder")
    return [f"{stack}.{layer}.{name}" for layer in range(layers) for name in SUBLAYERS[stack]]


@cache
def sublayer_of(parameter: str) -> str:
    """Returns the route of a parameter of the model: "decoder.1.norm_2.weight" -> "decoder.1.cross_attention"."""
    stack, *rest = parameter.split(".")
    if stack in NORMS:
        layer, module = rest[:2]
        return f"{stack}.{layer}.{NORMS[stack].get(module, module)}"
    return stack.replace("_positions", "_embedding")


# --- parameters ---


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


def attention_count(config: ModelConfig) -> int:
    """Counts the attention sublayers of all layers."""
    return config.encoder_layers + config.decoder_layers * (1 if config.alteration.decoder_only else 2)


def query_width(config: ModelConfig) -> int:
    """Returns the columns of W_q, and of W_k: d_k for each head."""
    return config.n_heads * head_widths(config)[0]


def hidden_matrices(config: ModelConfig) -> tuple[tuple[int, int, int], ...]:
    """Lists (rows, columns, count) of the matrices inside the layers, the shorter side first."""
    attention, feed_forward = attention_count(config), config.encoder_layers + config.decoder_layers
    sides = ((query_width(config), 2 * attention), (config.d_model, 2 * attention), (config.d_ff, 2 * feed_forward))
    return tuple((min(config.d_model, side), max(config.d_model, side), count) for side, count in sides)


def parameter_count(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> int:
    """Counts the model's learned numbers."""
    return sum(parameters(config, src_vocab, tgt_vocab).values())


def update_counts(experiment: Experiment, src_vocab: int, tgt_vocab: int) -> list[tuple[UpdateRule, int]]:
    """Returns each update rule of the optimiser with its number of parameters. Raises Refusal for an unknown optimiser."""
    rule, *rest = experiment.training.update_rules.values()
    every = parameter_count(experiment.model, src_vocab, tgt_vocab)
    hidden = sum(rows * columns * count for rows, columns, count in hidden_matrices(experiment.model))
    return [(rule, hidden), (rest[0], every - hidden)] if rest else [(rule, every)]


# --- operations ---


def flops(config: ModelConfig, tgt_vocab: int, s: int, t: int) -> dict[str, int]:
    """Counts the floating-point operations of each route in a forward pass of S source and T target tokens (with EOS and BOS).

    As usual, only matrix products count: (A, B) times (B, C) takes A B C multiplications and A B C additions.
    """

    def multiplications(route: str) -> int:
        length = {"encoder": s, "layers": s + t}.get(route.partition(".")[0], t)
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


@dataclass(frozen=True)
class Pass:
    """One pass through the decoder: `rows` sentences of `length` tokens each, BOS included; states were computed for the `computed` newest
    tokens, and next-token logits for the `scored` newest."""

    rows: int
    length: int
    computed: int
    scored: int


def without_cache(passes: Sequence[Pass]) -> list[Pass]:
    """Returns the same passes as they would be without a cache."""
    return [replace(each, computed=each.length) for each in passes]


def positions(passes: Sequence[Pass]) -> int:
    """Counts the token states that the decoder computed, repeats included."""
    return sum(each.rows * each.computed for each in passes)


def multiplications(config: ModelConfig, tgt_vocab: int, source: int, passes: Sequence[Pass]) -> int:
    """Counts the multiplications of encoding a source of `source` tokens, EOS included, and of these passes."""
    encoder = attention_multiplications(config, source, source, source) + feed_forward_multiplications(config, source)
    total, joint = config.attention_layers("encoder") * encoder, config.alteration.decoder_only
    for each in passes:
        n = each.computed
        memory = source if n == each.length else 0  # the source's keys and values, unless they were cached
        layer = attention_multiplications(config, n, n, each.length + source * joint) + feed_forward_multiplications(config, n)
        layer += 0 if joint else attention_multiplications(config, n, memory, source)
        total += each.rows * (config.attention_layers("decoder") * layer + each.scored * config.d_model * tgt_vocab)
    return total


def attended(config: ModelConfig, source: int, passes: Sequence[Pass]) -> int:
    """Counts the pairs of a query and a key of the same in all layers, masked ones included: Q K^T and the weights times V take
    query_width + d_model of these multiplications for each pair, all else takes the rest."""
    decoder = sum(each.rows * each.computed * (each.length + source) for each in passes)
    return config.attention_layers("encoder") * source * source + config.attention_layers("decoder") * decoder


def cached_numbers(config: ModelConfig, source: int, target: int) -> int:
    """Counts the numbers in a KV cache: keys and values of all source and target tokens in each layer of the decoder."""
    return config.attention_layers("decoder") * (source + target) * (query_width(config) + config.d_model)


def update_operations(experiment: Experiment, src_vocab: int, tgt_vocab: int) -> float:
    """Returns the operations of the optimiser in a step."""
    moved, (rule, *_) = update_counts(experiment, src_vocab, tgt_vocab), experiment.training.update_rules.values()
    matrices = hidden_matrices(experiment.model)
    iterations = sum(count * 2 * (2 * rows * rows * columns + rows**3) for rows, columns, count in matrices)  # X X^T, its square, times X
    return sum(each.operations * count for each, count in moved) + rule.newton_schulz * iterations


# --- memory ---

FLOAT = 4  # bytes
CHUNK = 2**20  # logits of a training step at once; a batch with more is split
LOGITS = 4.5  # numbers in memory for each logit, where a step has them all
OF_A_CHUNK = 8  # for each logit of a chunk, with oneDNN's reordered copies for its products: measured
LARGE = 2**16  # numbers of a matrix from which its products are oneDNN's: with fewer, as at d_model 64, a whole step gained nothing
OF_A_LARGE = 3.5  # for each number of a large matrix, with oneDNN's kernels and reordered copies, and heap fragmentation: measured
VALIDATION_CELLS = 2048  # source and target tokens of one forward pass of a validation, padding included


def training_bytes(experiment: Experiment, src_vocab: int, tgt_vocab: int, longest: int) -> int:
    """Estimates the peak bytes of a training; `longest` is the longest sentence in tokens, BOS and EOS included.

    Parameters, their last good copy, gradients and the optimiser's moments; and the larger of a step and the widest forward pass of a
    validation. The activations of a batch of the longest sentences are freed before the optimiser allocates its matrices, but the heap is
    too fragmented to reuse: both count.
    """
    counts = update_counts(experiment, src_vocab, tgt_vocab)
    learned = sum((3 + rule.moments) * count for rule, count in counts)
    large = sum(rows * columns * count for rows, columns, count in hidden_matrices(experiment.model) if rows * columns >= LARGE)
    step = sum(rule.scratch * count for rule, count in counts) + OF_A_LARGE * large
    model, rows, parts = experiment.model, _batch_rows(experiment, longest), experiment.training.threads
    activations = rows * row_floats(model, longest)
    cells = VALIDATION_CELLS // 2
    validation = cells * (tgt_vocab + 6 * model.d_model + 2 * query_width(model) + 2 * model.d_ff) + 2 * min(cells * tgt_vocab, CHUNK)
    if takes_chunks(experiment) and is_chunked(rows * longest / parts, tgt_vocab):
        # The projection's gradient, its sum and its scaled copy; a validation's logits don't fit into the freed memory of a chunk's.
        chunks = parts * (OF_A_CHUNK * CHUNK + 3 * model.d_model * tgt_vocab)
        return int(FLOAT * (learned + activations + chunks + step + validation))
    return int(FLOAT * (learned + max(activations + LOGITS * rows * longest * tgt_vocab + step, validation)))


def admit(experiment: Experiment, src_vocab: int, tgt_vocab: int, longest: int, available_bytes: int) -> None:
    """Raises Refusal when rotary positions have no pair of numbers to rotate, which would be a model without positions; and when the
    training needs more than `available_bytes`, with the nearest setting that fits."""
    if experiment.model.encoding.rotary and head_widths(experiment.model)[0] < 2:
        raise Refusal("model.nothing_to_turn")
    needed = training_bytes(experiment, src_vocab, tgt_vocab, longest)
    if needed <= available_bytes:
        return
    numbers = {"needed": _megabytes(needed), "available": _megabytes(available_bytes)}
    for name in ("batch_size", "d_model"):
        value = _largest_that_fits(experiment, name, src_vocab, tgt_vocab, longest, available_bytes)
        if value is not None:
            raise Refusal("model.too_large", **numbers, name=name, value=value)
    raise Refusal("model.much_too_large", **numbers)


def row_floats(config: ModelConfig, length: float) -> float:
    """Counts the activations that one pair of `length` tokens on each side holds for the backward pass, without its logits."""
    dropped = 2 if config.dropout else 0  # dropout holds its factors and the products
    attention = length * (5 * config.d_model + 2 * query_width(config)) + (2 + dropped) * config.n_heads * length * length
    feed_forward = length * ((2 + dropped) * config.d_ff + (1 + dropped) * config.d_model)
    norm = length * 2 * config.d_model
    if config.alteration.decoder_only:  # each layer reads both sides
        weights = (2 + dropped) * config.n_heads * length * length  # of target to source
        return config.attention_layers("decoder") * (2 * (attention + feed_forward + 2 * norm) + weights) + length * 6 * config.d_model
    encoder = config.encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = config.decoder_layers * (2 * attention + feed_forward + 3 * norm)
    return encoder + decoder + length * 6 * config.d_model


def takes_chunks(experiment: Experiment) -> bool:
    """Tests whether its steps may split their loss; a variant's loss may need all logits."""
    return experiment.model.altered_by == "none"


def is_chunked(rows: float, tgt_vocab: float) -> bool:
    """Tests whether the logits of `rows` tokens exceed a chunk, so that a step splits their loss (training/fast_step.py)."""
    return rows * tgt_vocab > CHUNK


def _batch_rows(experiment: Experiment, longest: int) -> int:
    """Counts the pairs of the largest batch."""
    training = experiment.training
    return training.batch_size if training.batch_unit == "sentences" else max(1, training.batch_size // (2 * longest))


def _largest_that_fits(experiment: Experiment, name: str, src_vocab: int, tgt_vocab: int, longest: int, available_bytes: int) -> int | None:
    """Returns the largest value of a knob, below its present one, with which the training fits; None without one.

    A batch is reduced to 8 pairs at least: smaller ones hardly learn.
    """
    part = "training" if name == "batch_size" else "model"
    config, knob = getattr(experiment, part), limits(name)
    low = int(knob.low)
    if name == "batch_size":
        low = 8 if experiment.training.batch_unit == "sentences" else 16 * longest
    for value in range(getattr(config, name) - int(knob.step), low - 1, -int(knob.step)):
        smaller = replace(experiment, **{part: replace(config, **{name: value})})
        if training_bytes(smaller, src_vocab, tgt_vocab, longest) <= available_bytes:
            return value
    return None


def _megabytes(count: int) -> str:
    return f"{count / 2**20:,.0f} MB"
