"""Everything a run's model computes for one sentence, at one step, and the derivation of one of its numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from playground.config import BOS, SPECIAL_TOKENS, Refusal
from playground.decoding import greedy
from playground.features.shared.queries.reader import REFERENCE, Reader, max_output_tokens
from playground.features.shared.queries.results import Piece, pieces_from, pieces_of
from playground.inspection.activations import Stage, record
from playground.inspection.derivation import Derivation, explain
from playground.model.transformer import Transformer
from playground.runs.run import Run

NUMBERS = count()


class Cell(NamedTuple):
    """A number of a stage, counted from 0; `head` only matters where a stage has heads."""

    address: str
    head: int
    row: int
    col: int

    def index(self, stage: Stage) -> tuple[int, ...] | None:
        """Returns the cell's index into the values of the stage; None when it lies outside."""
        place = {"H": (self.head, self.row, self.col)}.get(stage.axes[0], (self.row, self.col))[: len(stage.axes)]
        return place if all(at < size for at, size in zip(place, stage.values.shape, strict=True)) else None


class Stages(dict[str, Stage]):
    """A recording that knows its size in bytes, for eviction from the reader's cache."""

    @property
    def nbytes(self) -> int:
        return sum(stage.values.nbytes for stage in self.values())


@dataclass(frozen=True)
class SentenceActivations:
    """One forward pass of the model of `step`: the decoder reads `fed` and predicts `targets`. `number` is unique to each recording."""

    step: int
    source: tuple[Piece, ...]  # S, EOS last
    fed: tuple[Piece, ...]  # T, BOS first
    targets: tuple[Piece, ...]  # T, EOS last if it was written
    stages: Stages
    number: int = field(default_factory=NUMBERS.__next__)


def activations(
    reader: Reader, run: Run, step: int | None, text: str, reference: bool = False, cell: Cell | None = None
) -> tuple[SentenceActivations, Derivation | None]:
    """Records `text`; the decoder is fed its own greedy output or, with `reference`, the reference (see `Reader.look`).

    Also derives `cell` from the very same parameters; None for a cell that this model doesn't have. Raises Refusal for text that is
    empty or too long.
    """
    if run.experiment.model.alteration.recurrent:
        raise Refusal("course.no_attention")
    text, ids = reader.read(run, text)
    forced = reader.forced_ids(run, text, REFERENCE if reference else None)
    src, tgt = run.tokenizers

    def work(model: Transformer, actual: int) -> SentenceActivations:
        written = forced or greedy(model, [ids], max_output_tokens(run.longest_target, len(ids)))[0].ids
        targets, begin = pieces_from(tgt, written), Piece(SPECIAL_TOKENS[BOS], BOS)
        stages = Stages(record(model, ids, written))
        return SentenceActivations(actual, pieces_of(src, text, end=True), (begin, *targets[:-1]), targets, stages)

    def derive(model: Transformer, recorded: SentenceActivations) -> Derivation | None:
        index = cell.index(recorded.stages[cell.address]) if cell and cell.address in recorded.stages else None
        return explain(model, recorded.stages, cell.address, index) if index else None

    key = ("inside", text, forced)
    return reader.work(run, step, key, work, then=((*key, cell), derive))
