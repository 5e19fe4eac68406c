"""Lexical constraints: phrases that an output must contain, and phrases that it must not contain.

A hypothesis with an unlikely word in it is worse than all those without it, so an ordinary beam prunes it at once. Grid beam search
(Hokamp & Liu 2017) therefore has a beam for each number of constraint tokens met, called banks here as by Post & Vilar (2018): a hypothesis
competes only with those that have met as many. Their rule for a phrase that breaks off is used too: its tokens no longer count.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from torch import Tensor

from playground.config import EOS

Phrase = tuple[int, ...]


@dataclass(frozen=True)
class Constraints:
    """Phrases of at least one token. A sentence ends only when it contains all of `must`; a token that completes one of `must_not` has the
    probability 0. A phrase of `must` before one of the tokens `continuing` doesn't count: it is the beginning of a longer word."""

    must: tuple[Phrase, ...] = ()
    must_not: tuple[Phrase, ...] = ()
    continuing: frozenset[int] = frozenset()

    @property
    def tokens(self) -> int:
        """The number of tokens that must come: all banks but the first."""
        return sum(map(len, self.must))

    def count_met(self, ids: Sequence[int]) -> int:
        """Returns the bank of a hypothesis: the tokens of all phrases it contains, and of the one that its end has begun."""
        unmet = self.find_unmet(ids)
        return self.tokens - sum(map(len, unmet)) + max((count_begun(ids, phrase) for phrase in unmet), default=0)

    def find_unmet(self, ids: Sequence[int]) -> list[Phrase]:
        following = (*ids, EOS)  # of a phrase: a token that would continue its last word makes it another word
        return [phrase for phrase in self.must if all(following[end] in self.continuing for end in find_ends(ids, phrase))]

    def find_forbidden(self, ids: Sequence[int]) -> set[int]:
        """Returns the tokens that can't follow: EOS before all of `must` is met, and those that complete one of `must_not`."""
        forbidden = {EOS} if self.find_unmet(ids) else set()
        for length in range(min(len(ids), self._longest) + 1):
            forbidden |= self._completing.get(tuple(ids[len(ids) - length :]), set())
        return forbidden

    @cached_property
    def _completing(self) -> dict[Phrase, set[int]]:
        """The last tokens of `must_not`, by the tokens before them."""
        completing = defaultdict(set)
        for *begun, last in self.must_not:
            completing[tuple(begun)].add(last)
        return dict(completing)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._completing), default=0)

    def rank(self, logprobs: Tensor, written: Tensor, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ranks the tokens that may extend each of N hypotheses: the `width` likeliest ones, and the next one of each phrase that is
        missing, however unlikely. Log probabilities (N, V), BOS and tokens (N, 1 + T) -> the row of the hypothesis, the token and its log
        probability of each, (C,)."""
        width = min(width, logprobs.shape[1])
        if not self.must and not self.must_not:
            values, tokens = (ranked.cpu().numpy().ravel() for ranked in logprobs.topk(width))
            return np.arange(len(logprobs)).repeat(width), tokens, values
        following, logprobs = [], logprobs.clone()
        for at, (row, ids) in enumerate(zip(logprobs, written[:, 1:].tolist(), strict=True)):
            row[[*self.find_forbidden(ids)]] = -inf
            tokens = row.topk(width).indices.tolist()
            tokens += {phrase[count_begun(ids, phrase)] for phrase in self.find_unmet(ids)}.difference(tokens)
            following += [(at, token, value) for value, token in zip(row[tokens].tolist(), tokens, strict=True) if value > -inf]
        rows, tokens, values = np.array(following).reshape(-1, 3).T
        return rows.astype(int), tokens.astype(int), values


FREE = Constraints()


def find_ends(ids: Sequence[int], phrase: Phrase) -> list[int]:
    """Returns the places after each occurrence of a phrase."""
    return [end for end in range(len(phrase), len(ids) + 1) if tuple(ids[end - len(phrase) : end]) == phrase]


def count_begun(ids: Sequence[int], phrase: Phrase) -> int:
    """Returns with how many tokens of a phrase, but not all, a hypothesis ends."""
    return max(begun for begun in range(len(phrase)) if tuple(ids[len(ids) - begun :]) == phrase[:begun])
