"""Every picture there is, in the sizes that matter: what the tests of all figures are run over."""

import numpy as np

from playground.features import attention as heads
from playground.features.data import panel as data
from playground.features.embeddings import figure as vectors
from playground.features.evaluation import figure as lengths
from playground.features.interventions import figure as changes
from playground.features.lessons import figure as guesses
from playground.features.positions import panel as positions
from playground.features.shared.figures import attention, graph, runs, sublayers, tensor
from playground.features.shared.figures.theme import Style
from playground.features.shared.figures.tokens import steps
from playground.features.step import batch as training_step
from playground.features.teacher_forcing import figure as lens_figure, figure as votes_figure
from playground.features.train import panel as curves
from playground.features.translate import figure as tree
from playground.words import entries

# What people type and tokenizers make: HTML, TeX, Plotly's templates, entities, nothing, blanks, controls, a lone surrogate.
HARD = ["<s>", "<b>x</b>", "$x$", "%{x}", "{{y}}", "&amp;", " ", "", "<img src=x onerror=alert(1)>", "a\nb", "$$", "\ud800", "狗", "␣"]
LAYERS = ["embedding", "layer 1", "layer 2"]


def labels(language):
    """The words of the figures under their short names, as the page hands them over."""
    return {name.removeprefix("figures."): text for name, text in entries(language).items() if name.startswith("figures.")}


def tokens(length, hard=True):
    names = HARD if hard else [*"abcdefgh", "<eos>"]
    return [names[i % len(names)] for i in range(length)]


def gallery(length=12, width=720, hard=True, **style):
    """{name: figure} of every function, for `length` tokens on `width` pixels. `style`: dark, labels."""
    rng = np.random.default_rng(0)
    words = tokens(length, hard)
    decoder = steps(["<bos>", *words[:-1]], words)  # as its rows are called
    weights = rng.dirichlet(np.full(length, 0.3), size=length)
    causal = np.tril(np.ones((length, length), dtype=bool))
    padding = (np.arange(length) < max(length - 2, 1))[None]
    table = rng.normal(size=(max(length, 4), 8))
    both = {"padding": padding, "future": causal}
    first = np.arange(length) < max(length // 2, 1)
    pair = first[:, None] == first[None]
    parts, few = words[:35], weights[:35, :35]  # a model of six layers has about so many parts
    kinds = (["encoder", "decoder", "cross"] * length)[: len(parts)]
    voters = (["decoder", "cross", "feed_forward", "others"] * length)[: len(words)], (["d1.1", "c1.2", "", ""] * length)[: len(words)]
    answer = [f"cross {n + 1}.1" for n in range(len(words))]
    cells = {"style": Style(width=width, **style)}
    nodes, parents = ["<bos>", *words, *words], [-1, *range(length), *range(length)]
    fates, lost = ["kept"] * length + ["finished"] + ["pruned"] * (length - 1) + ["overtaken"], [*range(1, length), 2 * length]
    points, plane, numbers = table[:length, :2], {"limit": 4, "shares": (0.4, 0.2)}, [f"{weight:.3g}" for weight in few[0]]
    entropy = {"kind": "decoder", "measure": "entropy", "most": 3.0}
    half, six = length // 2 + 1, words[:6] + ["x" * 200] * (6 - len(words[:6]))
    counts, by_place, unchosen = [np.full(length, 3), np.full(half, 3)], {"by_place": True, **plane}, {"chosen": None, **cells}
    pictures = {
        "matrix": attention.matrix(weights, decoder, words, pinned=(0, 0), alignment=[*range(length - 1), None], **cells),
        "matrix_masked": attention.matrix(weights, decoder, words, mask=causal, kind="decoder", **cells),
        "matrix_wide": attention.matrix(weights[:1], decoder[:1], words, mask=padding, **cells),
        "small_matrices": attention.small_matrices(np.stack([weights[:9]] * 3), decoder[:9], words, ["a", "b", "c"], 2, **cells),
        "step_bars": attention.step_bars(weights[0], words, mask=padding[0], right=0, **cells),
        "top_tokens": graph.top_tokens(words[:5], np.sort(weights[0])[::-1][:5], chosen=0, **cells),
        "pairs": changes.pairs(words, weights[0], weights[-1], chosen=0, **cells),
        "losses": changes.losses(words, 100 * weights[0] - 5, 20 * weights[-1], kind="cross", least=-5, most=100, off=[True], **cells),
        "votes": votes_figure.votes(answer, 4 * weights[0] - 1, *voters, tokens_of=(words[0], words[-1]), **cells),
        "path": votes_figure.path(answer[:7], rng.normal(size=(len(words[:7]), 2)), tokens_of=(words[0], words[-1]), **cells),
        "frequencies": graph.frequencies(words, np.arange(length) * 1000, **cells),
        "guesses": guesses.histogram(words[:4], rng.integers(0, 9, (len(words[:4]), 3)), ["50 %", "75 %", "95 %"], right=0, **cells),
        "mask_padding": attention.grid(padding, words, words, causes={"padding": padding}, **cells),
        "mask_both": attention.grid(padding & causal, decoder, words, kind="decoder", causes=both, **cells),
        "mask_packed": attention.grid(padding & causal & pair, decoder, words, kind="decoder", causes={**both, "segment": pair}, **cells),
        "mask_memory": attention.grid(padding, decoder[:1], words, kind="cross", **cells),
        "heatmap": positions.heatmap(table, trained=3, **cells),
        "waves": positions.waves({"sinusoidal": table, "learned": table[:3] + 1}, [0, 3, 7], trained=2, **cells),
        "similarity": positions.similarity(table @ table.T / 50, trained=3, **cells),
        "clocks": positions.clocks(table, [0, 1], [0, 1], 1, [0.5, 7.0], **cells),
        "lens": lens_figure.grid(np.tile(weights[:1], (3, 1)), [words] * 3, LAYERS, decoder, decided=[0] * length, pinned=0, **cells),
        "head_aligned": heads.over_training(range(length), rng.random((2, 3, length)), chosen=(1, 2), step=0, **cells),
        "head_entropy": heads.over_training(range(length), 3 * rng.random((2, 3, length)), chosen=(0, 0), **entropy, **cells),
        "products": heads.bars(table[0], table[-1], **cells),
        "tensor": tensor.heatmap(table[:length], words, [*"abcdefgh"], kind="cross", chosen=(0, 0), secret=True, **cells),
        "tensor_masked": tensor.heatmap(weights, decoder, words, kind="decoder", scale="probability", mask=causal, **cells),
        "tensor_ids": tensor.heatmap(np.arange(length)[:, None], words, words[:1], kind="encoder", scale="plain", **cells),
        "tree": tree.tree(nodes, parents, -rng.random((2 * length + 1, 3)), fates, best=range(1, length + 1), reference=lost, **cells),
        "reach": lengths.by_length([weights[0], weights[-1][:half]], ["Reverse <b>x</b>", "x" * 200], [(1, 1), (2, 9)], counts, **cells),
        "places": lengths.by_place(np.vstack([weights, weights[:1]]), (2, 3), **cells),
        "plane": vectors.plane(points, words, ids=range(length), chosen=0, near=[length - 1], **plane, **cells),
        "plane_states": vectors.plane(points, words, kind="decoder", places=range(1, length + 1), own=min(3, length), **by_place, **cells),
        "cosines": vectors.cosines(2 * weights - 1, words, kind="decoder", **cells),
        "batch_losses": training_step.losses(
            np.where(pair, 3 * weights, np.nan), [words] * length, [["<bos>", *words[:-1]]] * length, pair + 1 - causal, at=range(length),
            most=3.0, chosen=(0, 0), titles=("row", "place"), **cells,
        ),
        "health_parts": sublayers.parts(few[0], parts, kinds, numbers, measure="gradient", chosen=0, **cells),
        "health_activation": sublayers.parts(few[0], parts, kinds, numbers, measure="activation", second=(-few[0]).tolist(), **unchosen),
        "health_course": sublayers.over_training(
            range(len(few)), np.where(few > 0.01, few, 0), parts, kinds, measure="update", strong=[0], last=300,
            changes=[(len(few) // 2, "cut")], step=0, **cells,
        ),
        "health_entropy": sublayers.evenness(few[:18, :8], parts[:18], **cells),
        "runs_exact": runs.overlay("exact_match", [range(length)] * 6, [weights[0]] * 6, six, end=1, **cells),
        "runs_loss": runs.overlay("validation_loss", [[], [0.5]], [[], [float("nan")]], ["a", "b"], over="seconds", **cells),
        "pinned": runs.add_pinned(curves.skeletons(**cells)["loss"], "validation_loss", [1, 2], [3, 2], ("loss", "<b>x</b>"), **cells),
        "lengths": data.lengths(rng.integers(1, length + 1, 50), rng.integers(1, length + 1, 50), **cells),
        "dots": graph.dots({"one": [10, 30.123456], "<b>": [5]}, percent="right", **cells),
        "graph": graph.lines(
            range(length), {"raw": weights[0], "scaled": weights[-1]}, log_y=True, bands={"raw": weights[:1].repeat(2, 0)}, **cells,
        ),
        "coverage": data.coverage(sorted(rng.integers(1, 99, 40), reverse=True), [5, 1], **cells),
    }  # fmt: skip
    return pictures | {f"empty_{name}": picture for name, picture in curves.skeletons(steps=300, **cells).items()}
