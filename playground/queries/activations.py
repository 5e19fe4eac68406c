"""Everything a run's model computes for one sentence, at one step, and how one number of it came to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from playground.config import BOS, SPECIAL_TOKENS, Refusal
from playground.decoding import greedy
from playground.inspection.activations import Stage, record
from playground.inspection.derivation import Derivation, explain
from playground.model.transformer import Transformer
from playground.queries.reader import REFERENCE, Reader, most_written
from playground.queries.results import Piece, pieces_from, pieces_of
from playground.runs.run import Run

NUMBERS = count()


class Cell(NamedTuple):
    """A number of a stage, counted from 0; `head` only matters where a stage has heads."""

    address: str
    head: int
    row: int
    col: int

    def index(self, stage: Stage) -> tuple[int, ...] | None:
        """Its place in the values of the stage; None when it lies outside."""
        place = {"H": (self.head, self.row, self.col)}.get(stage.axes[0], (self.row, self.col))[: len(stage.axes)]
        return place if all(at < size for at, size in zip(place, stage.values.shape, strict=True)) else None


class Stages(dict[str, Stage]):
    """A recording that knows its size, so that the reader's memory can let go of it in time."""

    @property
    def nbytes(self) -> int:
        return sum(stage.values.nbytes for stage in self.values())


@dataclass(frozen=True)
class SentenceActivations:
    """One pass through the model of `step`: the decoder reads `fed`, is asked for `asked`. No other recording has its `number`."""

    step: int
    source: tuple[Piece, ...]  # S, EOS last
    fed: tuple[Piece, ...]  # T, BOS first
    asked: tuple[Piece, ...]  # T, EOS last when it came
    stages: Stages
    number: int = field(default_factory=NUMBERS.__next__)


def activations(
    reader: Reader, run: Run, step: int | None, text: str, reference: bool = False, cell: Cell | None = None
) -> tuple[SentenceActivations, Derivation | None]:
    """Records `text`; the decoder is fed its own greedy output or, when `reference`, what a look at the reference is (see `Reader.look`).

    The derivation of `cell` comes with it, from the very same parameters; of one that this model doesn't have, there is none. Raises
    Refusal for text that is empty or too long.
    """
    if run.experiment.model.alteration.recurrent:
        raise Refusal("course.no_attention")
    text, ids = reader.read(run, text)
    fed = reader.fed(run, text, REFERENCE if reference else None)
    src, tgt = run.tokenizers

    def work(model: Transformer, actual: int) -> SentenceActivations:
        written = fed or greedy(model, [ids], most_written(run.longest_target, len(ids)))[0].ids
        asked, begin = pieces_from(tgt, written), Piece(SPECIAL_TOKENS[BOS], BOS)
        return SentenceActivations(actual, pieces_of(src, text, end=True), (begin, *asked[:-1]), asked, Stages(record(model, ids, written)))

    def derive(model: Transformer, found: SentenceActivations) -> Derivation | None:
        index = cell.index(found.stages[cell.address]) if cell and cell.address in found.stages else None
        return explain(model, found.stages, cell.address, index) if index else None

    key = ("inside", text, fed)
    return reader.work(run, step, key, work, then=((*key, cell), derive))
