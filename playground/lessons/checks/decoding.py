"""Questions on decoding: inputs, outputs, and the choice among tokens or outputs."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from playground.config import Refusal
from playground.lessons.checks.posed import CheckContext, Posed, short, whole
from playground.queries.translate import DecodingOptions, translate

BEAM = 4
LEAST = 1e-30  # smaller probabilities are impractical to compute with


def fed_token(context: CheckContext) -> Posed:
    """The decoder's input at the step that outputs a token. Wrong: that token, its neighbours, source tokens."""
    look = context.look
    fed, outputs = ([piece.text for piece in pieces] for pieces in (look.fed, look.targets))
    row = context.chance.randrange(len(fed))
    near = [outputs[row], *(outputs[at] for at in (row + 1, row - 2) if 0 <= at < len(outputs)), look.source[0].text, *outputs, *fed]
    to = {"tab": "teacher_forcing", "q": str(row)}
    return context.text_of(fed[row], near, to, token=outputs[row], step=row + 1)


def decoder_steps(context: CheckContext) -> Posed:
    """The number of decoder passes for this output. Wrong: one as in training, without EOS, one per source token."""
    size = len(context.look.targets)
    wrong = [1, size - 1, len(context.look.source), 2 * size, size + 2, size + 1]
    tokens = " ".join(piece.text for piece in context.look.targets)
    return context.number(size, [count for count in wrong if count], {"tab": "teacher_forcing"}, whole, tokens=tokens)


def second_likeliest(context: CheckContext) -> Posed:
    """The second likeliest token. Wrong: the likeliest, and the following ones."""
    row = context.chance.randrange(len(context.look.likely))
    tokens = [candidate.text for candidate in context.look.likely[row]]
    if len(tokens) < 3:
        raise Refusal("checks.nothing_to_choose")
    second = context.look.likely[row][1]
    values = {"query": context.row_name(row), "p": short(second.probability)}
    return context.text_of(tokens[1], [tokens[0], *tokens[2:]], {"tab": "teacher_forcing", "q": str(row)}, **values)


def log_sum(context: CheckContext) -> Posed:
    """The log-probability of a whole output. Wrong: the mean, the smallest term, the sign lost, a logarithm to base 10."""
    terms = np.log(np.maximum(context.look.probabilities, LEAST))
    total = float(terms.sum())
    wrong = [total / len(terms), float(terms.min()), total / log(10), -total, total * 2, total / 2]
    sentence = float(np.exp(total))
    return context.number(total, wrong, {"tab": "teacher_forcing"}, short, terms=", ".join(map(short, terms.tolist())), p=short(sentence))


def temperature(context: CheckContext) -> Posed:
    """The ratio of two probabilities at temperature 2. Wrong: unchanged, squared, halved."""
    row = context.chance.randrange(len(context.look.likely))
    first, second, *_ = context.look.likely[row]
    if second.probability < LEAST:
        raise Refusal("checks.nothing_to_choose")
    times = first.probability / second.probability
    wrong = [times, times**2, times / 2, 2 * times, sqrt(times) / 2]
    to = {"tab": "translate", "method": "sample", "temperature": "2"}
    values = {"query": context.row_name(row), "first": first.text, "second": second.text, "times": short(times)}
    return context.number(sqrt(times), wrong, to, short, **values)


def beam_best(context: CheckContext) -> Posed:
    """The output that beam search ranks first. Wrong: its other hypotheses."""
    candidates = translate(context.reader, context.run, context.step, context.text, DecodingOptions(method="beam", width=BEAM)).candidates
    texts = list(dict.fromkeys(candidate.text for candidate in candidates if candidate.text))
    if len(texts) < 2:
        raise Refusal("checks.nothing_to_choose")
    to = {"tab": "translate", "method": "beam", "beam": str(BEAM)}
    second = next(candidate.score for candidate in candidates if candidate.text == texts[1])
    return context.text_of(texts[0], texts[1:], to, score=short(candidates[0].score), second=short(second), width=BEAM)
