"""Interleaved text: one file in which a line of the source is followed by the line of the target.

Nothing in such a file says so but its lines: their labels, the blank lines between pairs, the scripts or the spelling of two languages
in turn. Without one of these it is not recognised, for a line too many would shift all that follow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from math import log

from playground.reading.formats.columns import is_language
from playground.reading.formats.keyed import unquoted
from playground.reading.formats.language_id import line_language, line_script
from playground.reading.formats.limits import SAMPLE
from playground.reading.formats.names import direction, role
from playground.reading.formats.records import too_long
from playground.reading.formats.table import Row, Source, Table

_LABEL = re.compile(r"\s*(?:[-*•] )?(?:([^\W\d_][\w-]{0,14}) ?([:：>\t])|[\[(<]([^\W\d_][\w-]{0,14})[\])>])")
_RULE = re.compile(r"[-=*_~#\s]*")
_MAX_LABELS = 6
_MIN_LINES = 20  # from which two languages can be told apart
_RIGHT = 0.8  # of the lines, left out one by one, fall on their own side; in one language less than half
_MAX_LOG_ODDS = 8.0  # log of the odds that a line's spelling may say
_SLIP = 10.0  # log of the odds that no line is missing or too many
_KNOWN = 1.0  # log of the odds from which on something is known of a line
_MAX_LINE_CHARACTERS = 100  # that say what language it is in


def read_labelled(sources: Sequence[Source]) -> Table | None:
    """One file with a label before each line: `EN: hello`, then `DE: hallo`. A pair is what stands from one first label to the next."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    filled = [line for line in lines[:SAMPLE] if not _RULE.fullmatch(line)]
    counts = Counter(label for label in map(_label, filled) if label)
    labels = [label for label, count in counts.items() if count > 1 and count * 10 >= len(filled)]
    if not 1 < len(labels) <= _MAX_LABELS or sum(counts[label] for label in labels) * 10 < len(filled) * 9:
        return None
    if _are_cells([line for line in filled if _label(line) in labels], labels):
        return None
    names = tuple(labels)
    rows = _unquoted(list(_labelled_rows(lines, names)))
    return Table("labelled", rows, names, pair=direction(names) if len(names) == 2 else None)


def _unquoted(rows: list[Row]) -> list[Row]:
    """The rows without the quotation marks around their cells where all are so, as in YAML."""
    inside = {cell: unquoted(cell.strip()) for row in rows if not row.fault for cell in row.cells if cell.strip()}
    if not inside or None in inside.values():
        return rows
    return [row if row.fault else row._replace(cells=[inside.get(cell, cell) for cell in row.cells]) for row in rows]


def _label(line: str) -> str:
    """What a line begins with as its label, or ""; before a tab, which cells have behind them too, only a language or a role is one."""
    found = _LABEL.match(line)
    if not found or (found[2] == "\t" and not role(found[1]) and not is_language(found[1].casefold())):
        return ""
    return found[1] or found[3]


def _are_cells(lines: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether labelled lines are rows of a table: behind the label is a tab or three bars, or a separator and one of the labels again."""
    behind = [line[_LABEL.match(line).end() :] for line in lines]
    if 2 * sum("\t" in text or "|||" in text for text in behind) > len(lines):
        return True
    again = "|".join(map(re.escape, labels))
    repeated = re.compile(rf"[,;]\s*(?:(?:{again}) ?[:：]|[\[(<](?:{again})[\])>])")
    return 10 * sum(repeated.search(text) is not None for text in behind) >= 9 * len(lines)


def _labelled_rows(lines: Sequence[str], labels: tuple[str, ...]) -> Iterator[Row]:
    """One row a record, which ends where a label comes that it already has, or one that goes before; one alone is unpaired."""
    cells: dict[str, str] = {}
    begin = last = 0
    for number, line in enumerate(lines, 1):
        label = _label(line)
        if label not in labels:
            if not _RULE.fullmatch(line):
                yield Row(number, [line], "unpaired")
            continue
        if cells and labels.index(label) <= last:
            yield _record(begin, number - begin, cells, labels)
            cells = {}
        begin = begin if cells else number
        last = labels.index(label)
        cells[label] = line[_LABEL.match(line).end() :]
    if cells:
        yield _record(begin, len(lines) + 1 - begin, cells, labels)


def _record(begin: int, height: int, cells: dict[str, str], labels: tuple[str, ...]) -> Row:
    fault = "unpaired" if len(cells) == 1 else too_long(*cells.values())
    return Row(begin, [cells.get(label, "") for label in labels], fault, height)


def read_interleaved(sources: Sequence[Source]) -> Table | None:
    """One file of pairs with blank lines between them, or of lines in two languages that take turns."""
    if len(sources) != 1:
        return None
    lines = sources[0].lines
    blocks = list(_blocks(lines))
    if len(blocks) > 1 and sum(len(block) == 2 for block in blocks) * 10 >= len(blocks) * 9:
        return Table("interleaved", [_pair(lines, block) if len(block) == 2 else _orphan(lines, block) for block in blocks], by_order=True)
    filled = [place for block in blocks for place in block]
    if sum(len(block) == 1 for block in blocks) * 10 >= len(blocks) * 9:  # a blank line after every line says nothing
        blocks = [filled]
    for sides in (partial(_by_kind, _script), partial(_by_kind, _language), _by_letters):
        languages = dict(zip(filled, sides([lines[place] for place in filled]), strict=False))
        rows = [row for block in blocks for row in _turns(lines, block, languages)] if languages else []
        if rows and sum(not row.fault for row in rows) * 20 >= len(filled) * 9:
            return Table("interleaved", rows, by_order=sides is _by_letters)
    return None


def _blocks(lines: Sequence[str]) -> Iterator[Sequence[int]]:
    """The places (from 0) of lines with no blank line between them."""
    begin = 0
    for place, line in enumerate([*lines, ""]):
        if not line.strip():
            if begin < place:
                yield range(begin, place)
            begin = place + 1


def _pair(lines: Sequence[str], places: Sequence[int]) -> Row:
    cells = [lines[place] for place in places]
    return Row(places[0] + 1, cells, too_long(*cells), places[1] - places[0] + 1)


def _orphan(lines: Sequence[str], places: Sequence[int]) -> Row:
    return Row(places[0] + 1, [lines[places[0]]], "unpaired", len(places))


def _turns(lines: Sequence[str], block: Sequence[int], languages: dict[int, int]) -> Iterator[Row]:
    """Pairs of a line in the first language (0) and one in the second (1)."""
    at = 0
    while at < len(block):
        pair = [languages[place] for place in block[at : at + 2]] == [0, 1]
        yield _pair(lines, block[at : at + 2]) if pair else _orphan(lines, block[at : at + 1])
        at += 2 if pair else 1


def _by_kind(kind_of: Callable[[str], tuple[str, float]], lines: Sequence[str]) -> list[int]:
    """0 for lines of the kind that every second line from the first on is, 1 for those of the other; [] if there are no two such kinds.

    `kind_of` says what a line is and how much that may be relied on (the log of the odds). Each kind must be a quarter of the lines;
    nine of ten that are one of the two must be where they are expected.
    """
    kinds = list(map(kind_of, lines[:SAMPLE]))
    common = Counter(kind for kind, _ in kinds if kind).most_common(2)
    if len(common) < 2 or common[1][1] < max(2, len(kinds) / 4):
        return []
    kinds += map(kind_of, lines[SAMPLE:])
    one, two = common[0][0], common[1][0]
    found = _smooth([odds * ((kind == one) - (kind == two)) for kind, odds in kinds])
    said = Counter((side, kind) for side, (kind, _) in zip(found, kinds, strict=False) if kind in (one, two))
    right = max(said[0, one] + said[1, two], said[0, two] + said[1, one])
    return found if 10 * right >= 9 * said.total() else []


def _language(line: str) -> tuple[str, float]:
    return line_language(line), 4.5


def _script(line: str) -> tuple[str, float]:
    """The script of a line; that of few letters may be a name's."""
    script, letters = line_script(line)
    return script, 6.0 if script == "JAPANESE" else min(6.0, 1.5 * letters)


def _by_letters(lines: Sequence[str]) -> list[int]:
    """0 for lines in the language of the first line, 1 for the others; [] if they can't be told apart.

    Naive Bayes over groups of three letters, learnt from every second line at the beginning of the file. That there are two languages
    is believed if lines left out of what is learnt mostly fall on their own side; in one language about half of them do.
    """
    if len(lines) < _MIN_LINES:
        return []
    sample = [tuple(dict.fromkeys(_groups(line))) for line in lines[:SAMPLE]]
    sides = [Counter(group for groups in set(sample[parity::2]) for group in groups) for parity in (0, 1)]  # what is repeated counts once
    scores = []
    for place, groups in enumerate(sample):
        own, other = sides[place % 2], sides[1 - place % 2]
        score = sum(log((own[group] - 0.5) / (other[group] + 0.5)) for group in groups)
        scores.append(-score if place % 2 else score)
    if sum((score > 0) != place % 2 for place, score in enumerate(scores)) < _RIGHT * len(sample):
        return []
    weights = {group: log((sides[0][group] + 0.5) / (sides[1][group] + 0.5)) for group in sides[0] | sides[1]}
    return _smooth(scores + [sum(map(weights.get, _groups(line), repeat(0.0))) for line in lines[SAMPLE:]])


def _groups(line: str) -> Iterator[tuple[str, str, str]]:
    text = f" {line[:_MAX_LINE_CHARACTERS].casefold()} "
    return zip(text, text[1:], text[2:], strict=False)


def _smooth(scores: Sequence[float]) -> list[int]:
    """The most likely turns: 0 for the language that the first line is in, 1 for the other, -1 for lines beside a gap that may be either.

    Scores are the log of the odds for one of the languages. Viterbi's algorithm with two states, for even lines in it and for odd ones.
    [] where it stays open which language begins: the number of lines is odd, and nothing is known of the first.
    """
    best, came = (0.0, 0.0), []
    for place, score in enumerate(scores):
        gain = max(-_MAX_LOG_ODDS, min(_MAX_LOG_ODDS, score)) * (-1 if place % 2 else 1)
        came.append((0 if best[0] >= best[1] - _SLIP else 1, 1 if best[1] >= best[0] - _SLIP else 0))
        best = (max(best[0], best[1] - _SLIP) + gain, max(best[1], best[0] - _SLIP) - gain)
    state, turns = int(best[1] > best[0]), []
    for place in reversed(range(len(scores))):
        turns.append((place + state) % 2)
        state = came[place][state]
    turns.reverse()
    fits = [-score if turn else score for turn, score in zip(turns, scores, strict=True)]
    if len(scores) % 2 and abs(fits[0]) < _KNOWN:
        return []
    first = turns[0] if len(scores) % 2 == 0 or fits[0] > 0 else 1 - turns[0]  # an odd one at the beginning has lost its partner
    unsure = _beside_gaps(turns, [fit < _KNOWN for fit in fits])
    return [-1 if place in unsure else (turn + first) % 2 for place, turn in enumerate(turns)]


def _beside_gaps(turns: Sequence[int], vague: Sequence[bool]) -> set[int]:
    """The places of lines about which little is known, from each gap to the next line that is clear."""
    found: set[int] = set()
    for gap in (place for place in range(1, len(turns)) if turns[place] == turns[place - 1]):
        for step, place in ((1, gap), (-1, gap - 1)):
            while 0 <= place < len(turns) and vague[place] and place not in found:
                found.add(place)
                place += step
    return found
