"""Tokens: byte-pair encoding, and from tokens to vectors and back."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import SPECIAL_TOKENS
from playground.data.tokenizers import train_tokenizer
from playground.lessons.lab import Control, Grid, Lab, Lines, Outcome, TextTable
from playground.model.parts import Embedding, Linear

# --- Byte-pair encoding by hand (section 5.1; Sennrich et al. 2016): count pairs, merge the most frequent one, begin again. ---

TEXTS = {
    "suffixes": ("low low low low low lower lower newest newest newest newest newest newest widest widest widest",),
    "animals": ("the red fox sees the red hen", "the red hen fled", "ten red hens then"),
    "chinese": ("我喜欢你 我不喜欢他", "你喜欢我 他不喜欢我", "她喜欢茶 她不喜欢咖啡"),
}
NEW = {"suffixes": "lowest", "animals": "reds", "chinese": "他喜欢你"}  # a word absent from the text
BEGIN = "▁"  # SentencePiece's mark of a word's beginning
MERGES = (2, 5, 9)

Words = dict[tuple[str, ...], int]  # pieces of each word -> count


def words_of(sentences: tuple[str, ...]) -> Words:
    """Splits every word into characters."""
    return {tuple(word): count for word, count in Counter(BEGIN + word for text in sentences for word in text.split()).items()}


def count_pairs(words: Words) -> Counter[tuple[str, str]]:
    """Counts adjacent pairs of pieces within words."""
    pairs: Counter[tuple[str, str]] = Counter()
    for pieces, count in words.items():
        for pair in pairwise(pieces):
            pairs[pair] += count
    return pairs


def merged(pieces: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    """Merges every occurrence of a pair in a word, from left to right."""
    pieces_so_far, place = [], 0
    while place < len(pieces):
        width = 2 if pieces[place : place + 2] == pair else 1
        pieces_so_far.append("".join(pieces[place : place + width]))
        place += width
    return tuple(pieces_so_far)


def learn(sentences: tuple[str, ...], most: int) -> list[tuple[tuple[str, str], int]]:
    """Learns the merges in order, each with its pair's count. Ties go to the shorter pair, then the alphabetically first, as in
    SentencePiece."""
    words, merges = words_of(sentences), []
    while len(merges) < most and (pairs := count_pairs(words)):
        pair = min(pairs, key=lambda p: (-pairs[p], len(p[0] + p[1]), p[0] + p[1]))
        merges.append((pair, pairs[pair]))
        words = {merged(pieces, pair): count for pieces, count in words.items()}
    return merges


def encode(word: str, merges: list[tuple[tuple[str, str], int]]) -> list[tuple[str, ...]]:
    """Returns the segmentations of a word after 0, 1, 2 … merges, only those that differ."""
    stages = [tuple(BEGIN + word)]
    for pair, _ in merges:
        pieces = merged(stages[-1], pair)
        if pieces != stages[-1]:
            stages.append(pieces)
    return stages


def by_sentencepiece(sentences: tuple[str, ...], new: str, merges: int) -> tuple[list[str], list[str]]:
    """Returns SentencePiece's merges in order for a vocabulary of that size, and its segmentation of the new word."""
    characters = {character for word in words_of(sentences) for character in word}
    tokenizer = train_tokenizer("bpe", sentences, len(SPECIAL_TOKENS) + len(characters) + merges)
    pieces = [tokenizer.piece(token) for token in range(len(SPECIAL_TOKENS), tokenizer.size)]
    return [piece for piece in pieces if len(piece) > 1], [piece for piece, _ in tokenizer.pieces(new)]


def run_bpe(seed: int, text: str, merges: int) -> Outcome:
    sentences, new = TEXTS[text], NEW[text]
    learnt = learn(sentences, merges)
    theirs, cut = by_sentencepiece(sentences, new, merges)
    stages = encode(new, learnt)
    words = words_of(sentences)
    lengths = [sum(len(pieces) * count for pieces, count in words.items())]
    for pair, _ in learnt:
        words = {merged(pieces, pair): count for pieces, count in words.items()}
        lengths.append(sum(len(pieces) * count for pieces, count in words.items()))
    same = theirs == ["".join(pair) for pair, _ in learnt] and cut == list(stages[-1])
    numbers = {"pieces": len(stages[-1]), "characters": len(stages[0]), "merges": len(learnt), "same": int(same)}
    caption = {**numbers, "new": new, "theirs": " ".join(cut), "before": lengths[0], "after": lengths[-1]}
    rows = tuple(
        (str(rank), f"{pair[0]} + {pair[1]}", str(count), "".join(pair), theirs[rank - 1] if rank <= len(theirs) else "–")
        for rank, (pair, count) in enumerate(learnt, 1)
    )
    return Outcome(
        "pieces" if len(stages[-1]) > 1 and len(stages[-1]) < len(stages[0]) else "whole" if len(stages[-1]) == 1 else "letters",
        numbers,
        (
            TextTable("merges", ("rank", "pair", "count", "piece", "sentencepiece"), rows, caption=caption),
            TextTable("stages", ("stage", "cut"), tuple((str(n), " ".join(stage)) for n, stage in enumerate(stages)), caption=caption),
            Lines("lengths", np.arange(len(lengths)), {"pieces": np.array(lengths)}, caption=caption),
        ),
    )


# --- From tokens to vectors and back (section 3.4): an embedding is a matrix product, and so is the generator. ---

VOCABULARY = ("<pad>", "<bos>", "<eos>", "cat", "sat", "down")
SENTENCE = (3, 4, 5)  # cat sat down
NEXT = (4, 5, 2)  # the target of each: sat down <eos>
D = 4
TIMES = (0, 1, 2, 3)  # applications of a function before cross-entropy


def one_hot(tokens: Tensor) -> Tensor:
    """(L,) -> (L, V): a 1 in the token's own column, 0 elsewhere."""
    return F.one_hot(tokens, len(VOCABULARY)).double()


def log_softmax(logits: Tensor) -> Tensor:
    """(L, V) -> (L, V): the logarithm of the softmax, s_i - log sum_j exp(s_j). Avoids log 0."""
    return logits - logits.logsumexp(dim=-1, keepdim=True)


def repeated(function: str, logits: Tensor, times: int) -> Tensor:
    """Returns logits (L, V) after repeated log-softmax or softmax."""
    for _ in range(times):
        logits = log_softmax(logits) if function == "log_softmax" else logits.softmax(dim=-1)
    return logits


def loss(logits: Tensor, right: Tensor) -> float:
    """Returns cross-entropy of (L, V), (L,): the mean negative log-probability of the right token. Applies log-softmax itself."""
    return -log_softmax(logits)[torch.arange(len(right)), right].mean().item()


@torch.no_grad()
def run_vocabulary(seed: int) -> Outcome:
    generator = torch.Generator().manual_seed(seed)
    embedding, generating = Embedding(len(VOCABULARY), D).double(), Linear(D, len(VOCABULARY)).double()
    for parameter in (*embedding.parameters(), *generating.parameters()):
        nn.init.normal_(parameter, generator=generator)
    tokens, right = torch.tensor(SENTENCE), torch.tensor(NEXT)

    looked_up, product = embedding(tokens), one_hot(tokens) @ embedding.weight
    logits = generating(looked_up)  # the model has its layers in between
    logs = log_softmax(logits)
    losses = {name: np.array([loss(repeated(name, logits, times), right) for times in TIMES]) for name in ("log_softmax", "softmax")}

    numbers = {
        "once": losses["log_softmax"][0].item(), "twice": losses["log_softmax"][1].item(), "softmax": losses["softmax"][1].item(),
        "least": loss(one_hot(right), right),  # probabilities 1 and 0 used as logits
    }  # fmt: skip
    caption = {
        **numbers, "times": TIMES[-1], "last": losses["softmax"][-1].item(), "uniform": math.log(len(VOCABULARY)),
        "size": len(VOCABULARY), "d_model": D, "difference": (product - looked_up).abs().max().item(),
        "token": VOCABULARY[SENTENCE[0]], "next": VOCABULARY[NEXT[0]], "logit": logits[0, NEXT[0]].item(),
        "log": logs[0, NEXT[0]].item(), "probability": logs[0, NEXT[0]].exp().item(),
        "by_torch": (logs - logits.log_softmax(dim=-1)).abs().max().item(),
    }  # fmt: skip
    rows, dims = tuple(VOCABULARY[token] for token in SENTENCE), tuple(f"d{number}" for number in range(D))
    return Outcome(
        "same" if abs(numbers["twice"] - numbers["once"]) < 1e-9 else "higher" if numbers["twice"] > numbers["once"] else "lower",
        numbers,
        (
            Grid("one_hot", one_hot(tokens).numpy(), rows, VOCABULARY, "plain", caption=caption),
            Grid("table", embedding.weight.numpy(), VOCABULARY, dims, caption=caption),
            Grid("embedded", product.numpy(), rows, dims, caption=caption),
            Grid("logits", logits.numpy(), rows, VOCABULARY, caption=caption),
            Grid("logs", logs.numpy(), rows, VOCABULARY, caption=caption),
            Grid("probabilities", logs.exp().numpy(), rows, VOCABULARY, "probability", caption=caption),
            Lines("losses", np.array(TIMES), losses, caption=caption),
        ),
    )


LABS = (
    Lab(
        "bpe", ("unk", "letters", "pieces", "whole"), run_bpe, (words_of, count_pairs, merged, learn, encode),
        (Control("text", tuple(TEXTS), "suffixes"), Control("merges", MERGES, 5)), first="lengths", expects="pieces", order=110,
        next=("vocabulary", "shared"), is_drawn=False,
    ),
    Lab(
        "vocabulary", ("lower", "same", "higher"), run_vocabulary, (one_hot, log_softmax, repeated, loss), first="losses", expects="same",
        order=100, next=("positions", "loss"),
    ),
)  # fmt: skip
