"""Questions on decoding: what is fed, what is output, and how one of several tokens or outputs is chosen."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from playground.config import Refusal
from playground.lessons.checks.posed import Check, Posed, Seen, short, whole
from playground.queries.translate import DecodingOptions, translate

BEAM = 4
LEAST = 1e-30  # probabilities below are no numbers that anybody can work with


def fed_token(seen: Seen) -> Posed:
    """What the decoder is fed at the step that outputs a token. Wrong: that token, its neighbours, what stands in the source."""
    fed, asked = ([piece.text for piece in pieces] for pieces in (seen.look.fed, seen.look.targets))
    row = seen.chance.randrange(len(fed))
    near = [asked[row], *(asked[at] for at in (row + 1, row - 2) if 0 <= at < len(asked)), seen.look.source[0].text, *asked, *fed]
    to = {"tab": "teacher_forcing", "q": str(row)}
    return seen.text_of(fed[row], near, to, token=asked[row], step=row + 1)


def decoder_steps(seen: Seen) -> Posed:
    """How often the decoder runs to output this. Wrong: once as in training, without the end, for each source token."""
    size = len(seen.look.targets)
    wrong = [1, size - 1, len(seen.look.source), 2 * size, size + 2, size + 1]
    tokens = " ".join(piece.text for piece in seen.look.targets)
    return seen.number(size, [one for one in wrong if one], {"tab": "teacher_forcing"}, whole, tokens=tokens)


def second_likeliest(seen: Seen) -> Posed:
    """Wrong: the likeliest, and those that follow."""
    row = seen.chance.randrange(len(seen.look.likely))
    tokens = [one.text for one in seen.look.likely[row]]
    if len(tokens) < 3:
        raise Refusal("checks.nothing_to_choose")
    second = seen.look.likely[row][1]
    said = {"query": seen.row_name(row), "p": short(second.probability)}
    return seen.text_of(tokens[1], [tokens[0], *tokens[2:]], {"tab": "teacher_forcing", "q": str(row)}, **said)


def log_sum(seen: Seen) -> Posed:
    """Of a whole output. Wrong: the mean, the smallest term, the sign lost, a logarithm to the base 10."""
    terms = np.log(np.maximum(seen.look.probabilities, LEAST))
    total = float(terms.sum())
    wrong = [total / len(terms), float(terms.min()), total / log(10), -total, total * 2, total / 2]
    sentence = float(np.exp(total))
    return seen.number(total, wrong, {"tab": "teacher_forcing"}, short, terms=", ".join(map(short, terms.tolist())), p=short(sentence))


def temperature(seen: Seen) -> Posed:
    """How many times as likely the first token is at temperature 2. Wrong: as before, squared, halved."""
    row = seen.chance.randrange(len(seen.look.likely))
    first, second, *_ = seen.look.likely[row]
    if second.probability < LEAST:
        raise Refusal("checks.nothing_to_choose")
    times = first.probability / second.probability
    wrong = [times, times**2, times / 2, 2 * times, sqrt(times) / 2]
    to = {"tab": "translate", "method": "sample", "temperature": "2"}
    said = {"query": seen.row_name(row), "first": first.text, "second": second.text, "times": short(times)}
    return seen.number(sqrt(times), wrong, to, short, **said)


def beam_best(seen: Seen) -> Posed:
    """Which output a beam ranks first. Wrong: the others that it kept."""
    found = translate(seen.reader, seen.run, seen.step, seen.text, DecodingOptions(method="beam", width=BEAM)).candidates
    texts = list(dict.fromkeys(one.text for one in found if one.text))
    if len(texts) < 2:
        raise Refusal("checks.nothing_to_choose")
    to = {"tab": "translate", "method": "beam", "beam": str(BEAM)}
    second = next(one.score for one in found if one.text == texts[1])
    return seen.text_of(texts[0], texts[1:], to, score=short(found[0].score), second=short(second), width=BEAM)


FED_TOKEN = Check("fed_token", fed_token)
DECODER_STEPS = Check("decoder_steps", decoder_steps)
SECOND_LIKELIEST = Check("second_likeliest", second_likeliest)
LOG_SUM = Check("log_sum", log_sum)
TEMPERATURE = Check("temperature", temperature)
BEAM_BEST = Check("beam_best", beam_best)
