"""The curve of a run: one row per step, one per validation, one per step with diagnostics, one per change of a live knob.

The training worker is the only writer and only appends; readers need no lock. Outputs are compared with their references, token by token.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from playground.config import EOS, KNOBS, MOVED_KNOBS, UNK, Refusal, check, current_name
from playground.data.tokenizers import Tokenizer
from playground.training.bleu import BeamGain

if TYPE_CHECKING:
    from pandas import DataFrame

STEPS = ("step", "loss", "learning_rate", "grad_norm", "tokens_per_second")
VALIDATIONS = ("step", "loss", "token_accuracy", "exact_match", "pairs", "all_pairs")  # `pairs` of `all_pairs` sentences are scored
COUNTS = ("step", "pairs", "all_pairs")  # columns of whole numbers
MAX_ROWS = int(KNOBS["steps"].metadata["knob"].high)
MAX_DIAGNOSTICS, MAX_NUMBERS = 256, 1024  # rows of diagnostics, and numbers in a row: a model of 6 + 6 layers and 8 heads has about 350
ADDRESS = re.compile(r"step|[a-z_0-9.]{1,40}/[a-z_0-9.]{1,40}")
DIGITS = 4  # significant digits stored of a diagnostic number


class Columns:
    """Append-only columns of float64. A row becomes visible to readers once its last column is written."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._columns = {name: array("d") for name in names}

    def __len__(self) -> int:
        return len(self._columns[self.names[-1]])

    def append(self, *row: float) -> None:
        for name, value in zip(self.names, row, strict=True):
            self._columns[name].append(value)

    def column(self, name: str, start: int = 0, stop: int | None = None) -> list[float]:
        return self._columns[name][start : len(self) if stop is None else stop].tolist()

    def rows(self, start: int = 0, stop: int | None = None) -> dict[str, list[float]]:
        """Returns all columns from row `start` to `stop` (all complete rows when None), as lists of equal length."""
        stop = len(self) if stop is None else stop
        return {name: self.column(name, start, stop) for name in self.names}

    def until(self, step: float) -> Columns:
        """Returns a copy of the rows up to this step."""
        copy, rows = Columns(self.names), self.rows()
        for row in zip(*rows.values(), strict=True):
            if row[0] <= step:
                copy.append(*row)
        return copy

    def frame(self) -> DataFrame:
        """Returns all complete rows as a pandas DataFrame."""
        from pandas import DataFrame  # here, since importing it takes a third of a second and few requests need it

        return DataFrame({name: np.array(column, "int64" if name in COUNTS else "float64") for name, column in self.rows().items()})

    def last(self) -> dict[str, float] | None:
        """Returns the newest row, or None when there is none."""
        n = len(self)
        return {name: self._columns[name][n - 1] for name in self.names} if n else None


@dataclass(frozen=True)
class Probe:
    """The model's output for one fixed validation sentence: display tokens, which of them are correct, and whether it ended with EOS."""

    src: tuple[str, ...]
    reference: tuple[str, ...]
    output: tuple[str, ...]
    right: tuple[bool, ...]  # one per output token
    finished: bool  # the output ends with EOS


class History:
    """`steps` (one row per training step), `validations`, `diagnostics` (a row for some steps; None before the first), `events` (step,
    knob, value) for every live change, the newest `probes`, and at the end of own sentences what a `beam` gains."""

    def __init__(self) -> None:
        self.steps = Columns(STEPS)
        self.validations = Columns(VALIDATIONS)
        self.diagnostics: Columns | None = None
        self.events: list[tuple[int, str, Any]] = []
        self.probes: tuple[Probe, ...] = ()
        self.beam: BeamGain | None = None

    def add_diagnostics(self, step: int, numbers: Mapping[str, float]) -> None:
        """Appends a row of training/diagnostics.py. When the set of numbers changes, the earlier rows are dropped."""
        names = ("step", *numbers)
        if self.diagnostics is None or self.diagnostics.names != names:
            self.diagnostics = Columns(names)
        self.diagnostics.append(step, *(float(f"{number:.{DIGITS}g}") for number in numbers.values()))

    def best(self, after: int) -> int | None:
        """Returns the step after `after` with the lowest validation loss, the first of equal ones; None before there is one."""
        table = self.validations
        rows = zip(table.column("loss"), table.column("step"), strict=True)
        return min(((loss, int(step)) for loss, step in rows if step > after and math.isfinite(loss)), default=(0.0, None))[1]

    def until(self, step: int) -> History:
        """Returns a copy of the records up to this step, without later events and without probes."""
        copy = History()
        copy.steps, copy.validations = self.steps.until(step), self.validations.until(step)
        copy.diagnostics = self.diagnostics and self.diagnostics.until(step)
        copy.events = [event for event in self.events if event[0] < step]
        return copy

    def to_json(self) -> dict[str, Any]:
        """Returns everything as plain lists; non-finite numbers become null, since JSON can't express them."""
        tables = {"steps": self.steps, "validations": self.validations} | ({"diagnostics": self.diagnostics} if self.diagnostics else {})
        data: dict[str, Any] = {
            name: {column: [value if math.isfinite(value) else None for value in values] for column, values in table.rows().items()}
            for name, table in tables.items()
        }
        data |= {"events": [list(event) for event in self.events], "probes": [asdict(probe) for probe in self.probes]}
        return data | ({"beam": list(self.beam)} if self.beam else {})

    @classmethod
    def from_json(cls, data: Any) -> History:
        """Restores `to_json` output bit for bit. Raises Refusal("runs.not_a_run") for anything else."""
        history = cls()
        try:
            _fill(history.steps, data["steps"], 2 * MAX_ROWS)
            _fill(history.validations, _with_all_pairs(data["validations"]), 2 * MAX_ROWS)
            diagnostics = data.get("diagnostics", data.get("health"))  # its former name; the oldest runs have none
            if diagnostics is not None:
                names = tuple(diagnostics)
                if len(names) > MAX_NUMBERS or names[0] != "step" or not all(map(ADDRESS.fullmatch, names)):
                    raise ValueError
                history.diagnostics = Columns(names)
                _fill(history.diagnostics, diagnostics, MAX_DIAGNOSTICS)
            for step, name, value in data["events"]:
                knob = current_name(name)
                if knob not in MOVED_KNOBS:
                    raise ValueError
                history.events.append((int(step), knob, check(knob, value)))
            history.probes = tuple(_probe(entry) for entry in data["probes"])
            history.beam = BeamGain.read(data.get("beam"))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError, Refusal) as error:
            raise Refusal("runs.not_a_run", what="history.json") from error
        return history


def _fill(table: Columns, columns: Mapping[str, list[float | None]], most: int) -> None:
    """Appends the rows of a file. Raises ValueError and its like when the columns don't match or there are more than `most` rows."""
    if set(columns) != set(table.names) or max(map(len, columns.values())) > most:
        raise ValueError
    for row in zip(*(columns[name] for name in table.names), strict=True):
        table.append(*(math.nan if value is None else float(value) for value in row))


def _with_all_pairs(validations: dict[str, list]) -> dict[str, list]:
    """Fills in all_pairs for runs saved without it: the most pairs ever scored, since the last validation scored all."""
    pairs = validations["pairs"]
    return {"all_pairs": [max(pairs)] * len(pairs) if pairs else []} | validations


def _probe(entry: dict[str, Any]) -> Probe:
    src, reference, output = (tuple(map(str, entry[side])) for side in ("src", "reference", "output"))
    right = tuple(map(bool, entry["right"]))
    if len(right) != len(output):
        raise ValueError
    return Probe(src, reference, output, right, bool(entry["finished"]))


def decimate(columns: dict[str, list[float]], most: int) -> dict[str, list[float]]:
    """Thins the rows to about `most` without changing the drawn curve: each bucket contributes its lowest and its highest loss.

    The first and the newest row are always included. Fewer than `most` rows are returned unchanged.
    """
    loss = np.array(columns["loss"], dtype=np.float64)
    n = len(loss)
    if n <= most:
        return columns
    stretches = np.array_split(np.nan_to_num(loss, nan=np.inf), max(most // 2, 1))
    starts = np.cumsum([0, *map(len, stretches[:-1])])
    keep = {0, n - 1}
    for start, stretch in zip(starts, stretches, strict=True):
        keep |= {int(start + stretch.argmin()), int(start + stretch.argmax())}
    return {name: [column[i] for i in sorted(keep)] for name, column in columns.items()}


def get_pieces(tokenizer: Tokenizer, ids: Iterable[int]) -> tuple[str, ...]:
    """Returns the display text of each id."""
    return tuple(map(tokenizer.piece, ids))


def tokens_correct(ids: Sequence[int], answers: Iterable[Sequence[int]]) -> tuple[bool, ...]:
    """Returns which output tokens are correct, against the best matching reference (ids without EOS).

    Aligned by minimum edit distance (Levenshtein), so that one token too many or too few doesn't make all later ones wrong. A token before
    which some are missing is wrong: another one belongs there. <unk> is never correct, being unreadable. All are correct only for a
    reference or its prefix.
    """
    judged = (_match_tokens(tuple(ids), (*answer, EOS)) for answer in answers)
    return max(judged, key=sum, default=(False,) * len(ids))


def tokens_in_place(ids: Sequence[int], answers: Iterable[Sequence[int]]) -> tuple[bool, ...]:
    """Compares by position: a token is correct if the reference has it at the same position."""

    def agreement(answer: Sequence[int]) -> tuple[bool, ...]:
        reference = (*answer, EOS)
        return tuple(i < len(reference) and token == reference[i] and token != UNK for i, token in enumerate(ids))

    return max(map(agreement, answers), key=sum, default=(False,) * len(ids))


def _match_tokens(ids: tuple[int, ...], reference: tuple[int, ...]) -> tuple[bool, ...]:
    """Returns which of `ids` match a token of the `reference`, by the shortest alignment that matches earliest."""
    if ids == reference:
        return tuple(token != UNK for token in ids)
    edits = _edit_distances(ids, reference)
    right, at, missing = [], 0, False
    for i, token in enumerate(ids):
        paired = _is_paired(edits, ids, reference, i, at)
        while not paired and at < len(reference) and edits[i][at] == edits[i][at + 1] + 1:
            at, missing = at + 1, True
            paired = _is_paired(edits, ids, reference, i, at)
        right.append(paired and token == reference[at] and token != UNK and not missing)
        at, missing = at + paired, False  # an unpaired token is an insertion
    return tuple(right)


def _is_paired(edits: list[list[int]], ids: tuple[int, ...], reference: tuple[int, ...], i: int, at: int) -> bool:
    """Returns whether a shortest alignment pairs output token `i` with reference token `at`, equal or not."""
    return at < len(reference) and edits[i][at] == edits[i + 1][at + 1] + (ids[i] != reference[at])


def _edit_distances(ids: tuple[int, ...], reference: tuple[int, ...]) -> list[list[int]]:
    """Returns the table [i][j]: the minimum edits from ids[i:] to reference[j:]."""
    edits = [[len(reference) - at for at in range(len(reference) + 1)]]
    for token in reversed(ids):
        after, row = edits[-1], [edits[-1][-1] + 1]
        for at in range(len(reference) - 1, -1, -1):
            row.append(min(after[at + 1] + (token != reference[at]), after[at] + 1, row[-1] + 1))
        edits.append(row[::-1])
    return edits[::-1]
