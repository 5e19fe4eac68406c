"""Masks made step by step, and padding on either side."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS
from playground.inspection.masks import batch
from playground.lessons.lab import Control, Grid, Lab, Outcome, TextTable, number_labels
from playground.model.attention import scaled_dot_product_attention
from playground.model.masks import causal_mask, padded as pad, padding_mask, target_mask
from playground.model.parts import Embedding
from playground.model.positions import sinusoids

# --- Masks made step by step (sections 3.1 and 3.2.3): from the lengths of two sentences to the weights of attention. ---

VOCABULARY = (*SPECIAL_TOKENS, "a", "b", "c", "d")
SOURCES = ((4, 5, 6, EOS), (7, EOS))  # "a b c" and "d"
TARGETS = ((BOS, 6, 5, 4), (BOS, 7))  # reversed, as the decoder is fed them
FILLS = ("-1e30", "-inf", "-1e-9")
LARGE, INFINITE, TYPO = FILLS
D_K = 4


def valid(lengths: Tensor, longest: int) -> Tensor:
    """Returns True where a batch has a token: lengths (B,) -> (B, L)."""
    return torch.arange(longest) < lengths[:, None]


def outer(valid: Tensor) -> Tensor:
    """Returns True where both query and key are tokens: (L,) -> (L, L)."""
    return valid[:, None] & valid[None, :]


def future(length: int) -> Tensor:
    """Masks future tokens, the triangle above the diagonal: (L, L)."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def filled(scores: Tensor, hidden: Tensor, fill: float) -> Tensor:
    """Returns the weights (L, L) with `fill` added to the masked scores (L, L)."""
    return (scores + torch.where(hidden, fill, 0.0)).softmax(dim=-1)  # not hidden * fill: 0 times infinity is NaN


def share(weights: Tensor, hidden: Tensor, tokens: Tensor) -> float:
    """Measures the attention weight on masked keys, averaged over the tokens that are not padding (L,)."""
    return (weights * hidden).sum(dim=-1)[tokens].mean().item()


def run_masks(seed: int, fill: str) -> Outcome:
    tgt_in = pad(TARGETS)
    lengths = torch.tensor([len(ids) for ids in TARGETS])
    real = valid(lengths, tgt_in.shape[1])
    both, coming = outer(real[1]), future(tgt_in.shape[1])
    hidden = ~both | coming
    q, k, v = torch.randn(3, tgt_in.shape[1], D_K, generator=torch.Generator().manual_seed(seed))
    scores = q @ k.T / math.sqrt(D_K)
    weights = {other: filled(scores, hidden, float(other)) for other in FILLS}
    ours = scaled_dot_product_attention(q, k, v, ~hidden)[1]
    before, after = scores.softmax(dim=-1), {other: share(weights[other], hidden, real[1]) for other in FILLS}
    numbers = {
        "before": share(before, hidden, real[1]), "typo": after[TYPO], "large": after[LARGE], "infinite": after[INFINITE],
        "difference": (weights[LARGE] - ours)[real[1]].abs().max().item(), "nans": int(weights[INFINITE].isnan().sum()),
    }  # fmt: skip
    return Outcome(
        "nothing" if after[TYPO] > 0.99 * numbers["before"] else "all" if after[TYPO] < 1e-6 else "some",
        numbers,
        (*_steps(tgt_in, lengths, real, both, coming), *_fills(fill, scores, weights, hidden, ours), *_of_the_model(hidden)),
    )


def _steps(tgt_in: Tensor, lengths: Tensor, real: Tensor, both: Tensor, coming: Tensor) -> tuple[Grid, ...]:
    """Shows the steps from lengths to the masked cells of the second sentence."""
    sentence, places, cells = _tokens(tgt_in[1]), number_labels(tgt_in.shape[1]), both.numel()
    caption = {
        "first": lengths[0].item(),
        "second": lengths[1].item(),
        "longest": tgt_in.shape[1],
        "pad": PAD,
        "pads": int((tgt_in == PAD).sum()),
    }
    counts = {"cells": cells, "both": int(both.sum()), "padding": int((~both).sum()), "future": int(coming.sum())}
    counts |= {"twice": int((~both & coming).sum()), "hidden": int((~both | coming).sum())}
    steps = {"outer": both, "complement": ~both, "triangle": coming, "union": ~both | coming}
    return (
        Grid("batch", tgt_in.numpy(), ("1", "2"), places, "plain", "decoder", caption=caption),
        Grid("valid", real.int().numpy(), ("1", "2"), places, "plain", "decoder", caption=caption),
        *(Grid(name, cell.int().numpy(), sentence, sentence, "plain", "decoder", caption=counts) for name, cell in steps.items()),
    )


def _fills(fill: str, scores: Tensor, weights: dict[str, Tensor], hidden: Tensor, ours: Tensor) -> tuple[Grid, ...]:
    """Shows the softmax's inputs and outputs, unhatched: they show the weights of masked cells."""
    sentence = _tokens(pad(TARGETS)[1])
    query = len(TARGETS[1]) - 1  # the last token
    row = torch.stack([scores.softmax(dim=-1)[query], *(weights[other][query] for other in FILLS)])
    nowhere = torch.stack([weights[INFINITE][-1], weights[LARGE][-1], ours[-1]])
    unseen = hidden[query]
    caption = {
        "token": sentence[query], "fill": fill.replace("-", "−", 1), "hidden_cells": int(hidden.sum()), "cells": hidden.numel(),
        "unmasked": row[0][unseen].sum().item(), "large": row[1][unseen].sum().item(), "typo": row[-1][unseen].sum().item(),
        "hidden": weights[fill][query][unseen].sum().item(), "empty": int(weights[fill].isnan().sum()),
        "nans": int(nowhere[0].isnan().sum()), "even": nowhere[1, 0].item(), "ours": nowhere[2].sum().item(),
    }  # fmt: skip
    return (
        Grid("scores", scores.numpy(), sentence, sentence, "signed", "decoder", ~hidden.numpy(), caption=caption),
        Grid("fills", row.numpy(), ("none", *FILLS), sentence, "probability", "decoder", caption=caption),
        Grid("weights", weights[fill].numpy(), sentence, sentence, "probability", "decoder", caption=caption),
        Grid("nowhere", nowhere.numpy(), (INFINITE, LARGE, "ours"), sentence, "probability", "decoder", caption=caption),
    )


def _of_the_model(hidden: Tensor) -> tuple[Grid, ...]:
    """Shows the model's masks of the whole batch; rows are queries, columns are keys."""
    masks, tgt_in = batch(SOURCES, TARGETS), pad(TARGETS)
    places = number_labels(tgt_in.shape[1])
    asking = tuple(f"{number} {token}" for number, ids in enumerate(tgt_in, 1) for token in _tokens(ids))
    memory = np.broadcast_to(masks["memory"], masks["target"].shape)  # the same row for every query
    different = (masks["target"][1] != ~hidden.numpy()).any(axis=1)
    mask_rows = (
        ("source", masks["padding"][:, 0], ("1", "2"), "encoder"),
        ("target", masks["target"].reshape(len(asking), -1), asking, "decoder"),
        ("memory", memory.reshape(len(asking), -1), asking, "cross"),
    )
    grids = []
    for name, mask, rows, hue in mask_rows:
        caption = {"hidden": int((~mask).sum()), "cells": mask.size, "rows": int(different.sum())}
        grids.append(Grid(name, mask.astype(int), rows, places, "plain", hue, mask, caption=caption))
    return tuple(grids)


def _tokens(ids: Tensor) -> tuple[str, ...]:
    return tuple(VOCABULARY[token] for token in ids.tolist())


# --- Right and left padding, and padding_idx: which tokens are computed as if they were alone. ---

WIDTH, SIZE = 8, 8  # d_model, and tokens in the vocabulary
SENTENCE = (4, 5, 6)
NAMES = ("a", "b", "c")
ROUNDING = 1e-5
STEPS = 3  # of gradient descent


def padded(sentence: tuple[int, ...], pads: int, side: str) -> Tensor:
    """Returns one row with this number of PAD: (1, L)."""
    row, padding = list(sentence), [PAD] * pads
    return torch.tensor([row + padding if side == "right" else padding + row])


def counted_from_the_first(tokens: Tensor) -> Tensor:
    """Counts positions from the first token other than PAD: (1, L) -> (1, L). PAD before it has 0."""
    return ((tokens != PAD).cumsum(dim=1) - 1).clamp(min=0)


def counted_from_the_edge(tokens: Tensor) -> Tensor:
    """Counts positions from the left edge of the batch: (1, L) -> (1, L)."""
    return torch.arange(tokens.shape[1])[None]


def attended(embedding: Tensor, tokens: Tensor, places: Tensor, masked: bool = True) -> Tensor:
    """Returns self-attention's outputs for embeddings (V, D) plus sinusoids: (1, L) -> (1, L, D)."""
    x = embedding[tokens] + sinusoids(SIZE * 2, WIDTH)[places]
    return scaled_dot_product_attention(x, x, x, padding_mask(tokens)[:, 0] if masked else None)[0]


def of_the_tokens(embedding: Tensor, pads: int, side: str, count: Callable[[Tensor], Tensor], masked: bool = True) -> Tensor:
    """Returns the outputs of the sentence without its padding: (tokens, D)."""
    tokens = padded(SENTENCE, pads, side)
    return attended(embedding, tokens, count(tokens), masked)[tokens != PAD]


def gradient_of_padding(rows: Tensor, masked: bool, padding_idx: int | None) -> float:
    """Returns the largest gradient in PAD's embedding row for a loss at tokens only."""
    table = nn.Embedding(SIZE, WIDTH, padding_idx=padding_idx, _weight=rows.clone())
    loss_at_tokens(table, masked).backward()
    return table.weight.grad[PAD].abs().max().item()


def loss_at_tokens(table: nn.Embedding, masked: bool) -> Tensor:
    """Returns a loss of attention's outputs at the tokens of a padded sentence."""
    tokens = padded(SENTENCE, 2, "right")
    x = table(tokens)
    out = scaled_dot_product_attention(x, x, x, padding_mask(tokens)[:, 0] if masked else None)[0]
    return out[tokens != PAD].square().sum()


def norms_with_padding_idx(rows: Tensor) -> dict[str, float]:
    """Measures the norms of PAD's row and a token's in a table with padding_idx, before and after a few steps without a mask."""
    table = Embedding(SIZE, WIDTH, padding_idx=PAD)
    with torch.no_grad():
        table.weight.copy_(rows)
        table._fill_padding_idx_with_zero()  # nn.Embedding does so after drawing its numbers
    outputs = {"pad_before": table.weight[PAD].norm().item(), "token_before": table.weight[SENTENCE[0]].norm().item()}
    optimiser = torch.optim.SGD(table.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss_at_tokens(table, masked=False).backward()
        optimiser.step()
    return outputs | {"pad_after": table.weight[PAD].norm().item(), "token_after": table.weight[SENTENCE[0]].norm().item()}


# --- a pair longer than a model can read, cut on one side ---

PAIR = {"source": "er ist mit dem zug nach hause gefahren", "target": "he took the train home"}
ALIGNED = {"he": "er", "took": "gefahren", "the": "dem", "train": "zug", "home": "hause"}
LONGEST = 5  # tokens
SIDES = {"whole": slice(None), "right": slice(LONGEST), "left": slice(-LONGEST, None)}


def cut_pair(part: slice) -> tuple[str, str, str]:
    """Returns source and target cut, and the words of the target whose source word is gone."""
    source, target = (words.split()[part] for words in PAIR.values())
    return " ".join(source), " ".join(target), " ".join(word for word in target if ALIGNED[word] not in source) or "–"


def run_padding_sides(seed: int, pads: int) -> Outcome:
    rows = torch.randn(SIZE, WIDTH, generator=torch.Generator().manual_seed(seed))
    alone = of_the_tokens(rows, 0, "right", counted_from_the_edge)
    get = partial(of_the_tokens, rows, pads)
    ways = {
        "right": get("right", counted_from_the_edge),
        "left_edge": get("left", counted_from_the_edge),
        "left_first": get("left", counted_from_the_first),
        "unmasked": get("right", counted_from_the_edge, masked=False),
    }
    apart = {name: (outputs - alone).abs().amax(dim=-1) for name, outputs in ways.items()}
    numbers = {name: outputs.max().item() for name, outputs in apart.items()}
    right = [name for name in ("right", "left_edge") if numbers[name] < ROUNDING]
    gradients = {(masked, index): gradient_of_padding(rows, masked, index) for index in (None, PAD) for masked in (True, False)}
    caption = {**numbers, "pads": pads, "pad": SPECIAL_TOKENS[PAD], "leaked": gradients[False, None], "kept": gradients[True, None]}
    caption |= {"steps": STEPS, "token": NAMES[0], **norms_with_padding_idx(rows)}
    table = np.array([[gradients[masked, index] for masked in (True, False)] for index in (None, PAD)])
    places = np.concatenate([count(padded(SENTENCE, pads, side)) for side, count in COUNTED.values()])
    return Outcome(
        "both" if len(right) == 2 else right[0] if right else "neither",
        numbers,
        (
            Grid("places", places, tuple(COUNTED), number_labels(places.shape[1]), "plain", mask=_real(pads), caption=caption),
            Grid("apart", np.stack([outputs.numpy() for outputs in apart.values()]), tuple(apart), NAMES, caption=caption),
            Grid("gradients", table, ("no_padding_idx", "padding_idx"), ("masked", "not_masked"), caption=caption),
            TextTable("cut", ("kept", *PAIR, "lost"), tuple((side, *cut_pair(part)) for side, part in SIDES.items())),
        ),
    )


COUNTED = {
    "right": ("right", counted_from_the_edge),
    "left_edge": ("left", counted_from_the_edge),
    "left_first": ("left", counted_from_the_first),
}


def _real(pads: int) -> np.ndarray:
    """Returns True for the tokens in each row of COUNTED."""
    return np.concatenate([(padded(SENTENCE, pads, side) != PAD).numpy() for side, _ in COUNTED.values()])


LABS = (
    Lab(
        "masks", ("all", "some", "nothing"), run_masks,
        (pad, valid, outer, future, filled, padding_mask, causal_mask, target_mask, scaled_dot_product_attention),
        (Control("fill", FILLS, LARGE),), first="scores", expects="nothing", order=20, next=("softmax", "loss"),
    ),
    Lab(
        "padding_sides", ("both", "right", "left_edge", "neither"), run_padding_sides,
        (padded, counted_from_the_edge, counted_from_the_first, attended, gradient_of_padding, norms_with_padding_idx, cut_pair),
        (Control("pads", (1, 2, 4), 2),), first="places", expects="right", order=30, next=("masks", "bug_source"),
    ),
)  # fmt: skip
