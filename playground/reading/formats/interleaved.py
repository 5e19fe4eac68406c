"""Interleaved text: one file in which each source line is followed by its target line.

The evidence is in the lines only: labels, blank lines between pairs, alternating scripts or spellings of two languages. Without any the
file is refused, since one extra line would shift all that follow.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from math import log

from playground.reading.formats import SAMPLE, Confidence, Row, Source, Table, find_fault, reads
from playground.reading.formats.column_names import find_direction, find_role
from playground.reading.formats.languages import detect_line_language, find_line_script, is_language
from playground.reading.text import unquote

_LABEL = re.compile(r"\s*(?:[-*•] )?(?:([^\W\d_][\w-]{0,14}) ?([:：>\t])|[\[(<]([^\W\d_][\w-]{0,14})[\])>])")
_BLANK_OR_RULE = re.compile(r"[-=*_~#\s]*")
_MAX_LABELS = 6
_MIN_LINES = 20  # needed to tell two languages apart
_MIN_ACCURACY = 0.8  # accuracy of leave-one-out classification; a single language scores below a half
_MAX_LOG_ODDS = 8.0  # clips the log odds from a line's spelling
_GAP_PENALTY = 10.0  # log odds against a missing or extra line
_MIN_LOG_ODDS = 1.0  # log odds from which a line counts as classified
_MAX_LINE_CHARACTERS = 100  # examined for the language


@reads(Confidence.LAYOUT)
def read_labelled(source: Source) -> Table | None:
    """Reads labelled lines: `EN: hello`, then `DE: hallo`. A pair runs from one first label to the next."""
    sample = [_split_label(line) for line in source.lines[:SAMPLE] if not _BLANK_OR_RULE.fullmatch(line)]
    counts = Counter(label for label, _ in sample if label)
    labels = tuple(label for label, count in counts.items() if count > 1 and count * 10 >= len(sample))
    texts = [text for label, text in sample if label in labels]
    if not 1 < len(labels) <= _MAX_LABELS or len(texts) * 10 < len(sample) * 9 or _are_cells(texts, labels):
        return None
    rows = list(_labelled_rows(source.lines, labels))
    inside = {cell: unquote(cell.strip()) for row in rows if not row.fault for cell in row.cells if cell.strip()}
    if inside and None not in inside.values():  # all texts are in quotation marks, as in YAML
        rows = [row if row.fault else row._replace(cells=[inside.get(cell, cell) for cell in row.cells]) for row in rows]
    return Table("labelled", rows, labels, pair=find_direction(labels) if len(labels) == 2 else None)


def _split_label(line: str) -> tuple[str, str]:
    """Returns the label of a line, or "", and the text after it; before a tab, which cells have too, only a language or a role is one."""
    match = _LABEL.match(line)
    if not match or (match[2] == "\t" and not find_role(match[1]) and not is_language(match[1].casefold())):
        return "", line
    return match[1] or match[3], line[match.end() :]


def _are_cells(texts: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether labelled lines are rows of a table: after the label comes a tab, three bars, or a separator and another label."""
    if 2 * sum("\t" in text or "|||" in text for text in texts) > len(texts):
        return True
    any_label = "|".join(map(re.escape, labels))
    repeated = re.compile(rf"[,;]\s*(?:(?:{any_label}) ?[:：]|[\[(<](?:{any_label})[\])>])")
    return 10 * sum(repeated.search(text) is not None for text in texts) >= 9 * len(texts)


def _labelled_rows(lines: Sequence[str], labels: tuple[str, ...]) -> Iterator[Row]:
    """Yields one row per record, which ends at a repeated or earlier label; a single label is unpaired."""
    cells: dict[str, str] = {}
    begin = 0
    for number, line in enumerate([*lines, ""], 1):  # a first label after the end closes the last record
        label, text = (labels[0], "") if number > len(lines) else _split_label(line)
        if label in labels:
            if cells and labels.index(label) <= labels.index(next(reversed(cells))):
                fault = "unpaired" if len(cells) == 1 else find_fault(*cells.values())
                yield Row(begin, [cells.get(known, "") for known in labels], fault, number - begin)
                cells = {}
            begin = begin if cells else number
            cells[label] = text
        elif not _BLANK_OR_RULE.fullmatch(line):
            yield Row(number, [line], "unpaired")


@reads(Confidence.ORDER)
def read_interleaved(source: Source) -> Table | None:
    """Reads pairs separated by blank lines, or lines alternating between two languages."""
    lines = source.lines
    blocks = list(_iterate_blocks(lines))
    if len(blocks) > 1 and sum(len(block) == 2 for block in blocks) * 10 >= len(blocks) * 9:
        rows = [(_make_pair if len(block) == 2 else _make_orphan)(lines, block) for block in blocks]
        return Table("interleaved", rows, by_order=True)
    filled = [place for block in blocks for place in block]
    if sum(len(block) == 1 for block in blocks) * 10 >= len(blocks) * 9:  # a blank line after every line is no evidence
        blocks = [filled]
    by_language = partial(_split_by_kind, lambda line: (detect_line_language(line), 4.5))
    for sides in (partial(_split_by_kind, _detect_script), by_language, _split_by_trigrams):
        languages = dict(zip(filled, sides([lines[place] for place in filled]), strict=False))
        rows = [row for block in blocks for row in _pair_lines(lines, block, languages)] if languages else []
        if rows and sum(not row.fault for row in rows) * 20 >= len(filled) * 9:
            return Table("interleaved", rows, by_order=sides is _split_by_trigrams)
    return None


def _iterate_blocks(lines: Sequence[str]) -> Iterator[Sequence[int]]:
    """Yields the indices (from 0) of lines without a blank line between them."""
    begin = 0
    for place, line in enumerate([*lines, ""]):
        if not line.strip():
            if begin < place:
                yield range(begin, place)
            begin = place + 1


def _make_pair(lines: Sequence[str], places: Sequence[int]) -> Row:
    cells = [lines[place] for place in places]
    return Row(places[0] + 1, cells, find_fault(*cells), places[1] - places[0] + 1)


def _make_orphan(lines: Sequence[str], places: Sequence[int]) -> Row:
    return Row(places[0] + 1, [lines[places[0]]], "unpaired", len(places))


def _pair_lines(lines: Sequence[str], block: Sequence[int], languages: dict[int, int]) -> Iterator[Row]:
    """Yields pairs of a line in the first language (0) and one in the second (1)."""
    start = 0
    while start < len(block):
        pair = [languages[place] for place in block[start : start + 2]] == [0, 1]
        yield _make_pair(lines, block[start : start + 2]) if pair else _make_orphan(lines, block[start : start + 1])
        start += 2 if pair else 1


def _split_by_kind(kind_of: Callable[[str], tuple[str, float]], lines: Sequence[str]) -> list[int]:
    """Returns 0 for lines of the first line's kind, 1 for those of the other; [] without two alternating kinds.

    `kind_of` returns the kind of a line and its log odds. Each kind must have a quarter of the lines; nine of ten lines of both must be
    where they are expected.
    """
    kinds = list(map(kind_of, lines[:SAMPLE]))
    common = Counter(kind for kind, _ in kinds if kind).most_common(2)
    if len(common) < 2 or common[1][1] < max(2, len(kinds) / 4):
        return []
    kinds += map(kind_of, lines[SAMPLE:])
    first_kind, second_kind = common[0][0], common[1][0]
    sides = _decode_turns([odds * ((kind == first_kind) - (kind == second_kind)) for kind, odds in kinds])
    counts = Counter((side, kind) for side, (kind, _) in zip(sides, kinds, strict=False) if kind in (first_kind, second_kind))
    matches = max(counts[0, first_kind] + counts[1, second_kind], counts[0, second_kind] + counts[1, first_kind])
    return sides if 10 * matches >= 9 * counts.total() else []


def _detect_script(line: str) -> tuple[str, float]:
    """Returns the script of a line; few letters may be a name's, and weigh less."""
    script, letters = find_line_script(line)
    return script, 6.0 if script == "JAPANESE" else min(6.0, 1.5 * letters)


def _split_by_trigrams(lines: Sequence[str]) -> list[int]:
    """Returns 0 for lines in the first line's language, 1 for the other; [] if they are not separable.

    Naive Bayes over letter trigrams, trained on alternate lines of the sample. Two languages are assumed if left-out lines mostly fall on
    their own side; in a single language about half do.
    """
    if len(lines) < _MIN_LINES:
        return []
    sample = [tuple(dict.fromkeys(_iterate_trigrams(line))) for line in lines[:SAMPLE]]
    sides = [Counter(group for groups in set(sample[parity::2]) for group in groups) for parity in (0, 1)]  # repeated lines count once
    scores = []
    for place, groups in enumerate(sample):
        own, other = sides[place % 2], sides[1 - place % 2]
        score = sum(log((own[group] - 0.5) / (other[group] + 0.5)) for group in groups)
        scores.append(-score if place % 2 else score)
    if sum((score > 0) != place % 2 for place, score in enumerate(scores)) < _MIN_ACCURACY * len(sample):
        return []
    weights = {group: log((sides[0][group] + 0.5) / (sides[1][group] + 0.5)) for group in sides[0] | sides[1]}
    return _decode_turns(scores + [sum(map(weights.get, _iterate_trigrams(line), repeat(0.0))) for line in lines[SAMPLE:]])


def _iterate_trigrams(line: str) -> Iterator[tuple[str, str, str]]:
    text = f" {line[:_MAX_LINE_CHARACTERS].casefold()} "
    return zip(text, text[1:], text[2:], strict=False)


def _decode_turns(scores: Sequence[float]) -> list[int]:
    """Decodes the most likely turns with Viterbi: 0 for the first line's language, 1 for the other, -1 for unsure lines beside a gap.

    Scores are log odds for one of the languages; the two states are even lines in it, or odd ones. [] where the beginning is open: the
    number of lines is odd, and the first is unclassified.
    """
    best, back_pointers = (0.0, 0.0), []
    for place, score in enumerate(scores):
        gain = max(-_MAX_LOG_ODDS, min(_MAX_LOG_ODDS, score)) * (-1 if place % 2 else 1)
        back_pointers.append((0 if best[0] >= best[1] - _GAP_PENALTY else 1, 1 if best[1] >= best[0] - _GAP_PENALTY else 0))
        best = (max(best[0], best[1] - _GAP_PENALTY) + gain, max(best[1], best[0] - _GAP_PENALTY) - gain)
    state, turns = int(best[1] > best[0]), []
    for place in reversed(range(len(scores))):
        turns.append((place + state) % 2)
        state = back_pointers[place][state]
    turns.reverse()
    fits = [-score if turn else score for turn, score in zip(turns, scores, strict=True)]
    if len(scores) % 2 and abs(fits[0]) < _MIN_LOG_ODDS:
        return []
    first = turns[0] if len(scores) % 2 == 0 or fits[0] > 0 else 1 - turns[0]  # an odd line at the beginning has lost its partner
    unsure = _find_unsure(turns, [fit < _MIN_LOG_ODDS for fit in fits])
    return [-1 if place in unsure else (turn + first) % 2 for place, turn in enumerate(turns)]


def _find_unsure(turns: Sequence[int], is_vague: Sequence[bool]) -> set[int]:
    """Returns the indices of unclassified lines from each gap to the next classified one."""
    places: set[int] = set()
    for gap in (place for place in range(1, len(turns)) if turns[place] == turns[place - 1]):
        for step, place in ((1, gap), (-1, gap - 1)):
            while 0 <= place < len(turns) and is_vague[place] and place not in places:
                places.add(place)
                place += step
    return places
