"""Everything a run's model computes for one sentence, at one step, and the derivation of one of its numbers."""

from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import NamedTuple

import numpy as np

from playground import cursor
from playground.config import BOS, SPECIAL_TOKENS, Refusal
from playground.decoding import greedy, limit_output, trace
from playground.features.shared.queries import results
from playground.features.shared.queries.reader import REFERENCE, Reader, traced_parts
from playground.features.shared.queries.results import Piece, SentenceTrace, pieces_from, pieces_of
from playground.inspection.activations import Stage, record
from playground.inspection.derivation import Derivation, explain
from playground.inspection.edits import Difference, TensorEdit, apply, check, compare, edit_parameters, name_tensors, parse
from playground.model.transformer import Transformer
from playground.runs.corpora import build_model
from playground.runs.replay import Parameters
from playground.runs.run import Run
from playground.runs.starter import Change

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

    def work(model: Transformer, actual: int) -> SentenceActivations:
        written = forced or greedy(model, [ids], limit_output(run.longest_target, len(ids)))[0].ids
        return _record_sentence(run, model, actual, text, ids, written)

    def derive(model: Transformer, recorded: SentenceActivations) -> Derivation | None:
        index = cell.index(recorded.stages[cell.address]) if cell and cell.address in recorded.stages else None
        return explain(model, recorded.stages, cell.address, index) if index else None

    key = ("inside", text, forced)
    return reader.work(run, step, key, work, then=((*key, cell), derive))


@dataclass(frozen=True)
class EditedActivations:
    """One sentence before and after numbers are typed over: the decoder is fed the same tokens. `originals` are the first numbers that each
    edit replaces, `outputs` the greedy ones before and after."""

    before: SentenceActivations
    after: SentenceActivations
    differences: dict[str, Difference]
    originals: tuple[float, ...]
    outputs: tuple[SentenceTrace, SentenceTrace]


def edited_activations(
    reader: Reader, run: Run, step: int | None, text: str, reference: bool, cell: Cell | None, edits: tuple[TensorEdit, ...]
) -> tuple[EditedActivations, Derivation | None]:
    """Records `text` before and after `edits`, and derives `cell` from the edited parameters; None for a cell that was typed over. Raises
    Refusal as `activations` does, and for an edit of another model or sentence, or one that makes numbers overflow."""
    if not run.experiment.model.alteration.is_built_of_layers:
        raise Refusal("edits.paper_only")
    text, ids = reader.read(run, text)
    forced, right = reader.forced_ids(run, text, REFERENCE if reference else None), results.references(run, text)
    edit = cache(lambda model: apply(model, edits))  # for output and derivation; the recording makes a copy that is watched

    def work(model: Transformer, actual: int) -> EditedActivations:
        def write(changed: Transformer) -> SentenceTrace:
            written = greedy(changed, [ids], limit_output(run.longest_target, len(ids)))[0].ids
            return reader.build_trace(run, text, right, written, *traced_parts(trace(changed, ids, written)), actual)

        output = write(model)
        written = forced or tuple(piece.id for piece in output.targets)
        before = _record_sentence(run, model, actual, text, ids, written)
        check(model, {address: stage.values.shape for address, stage in before.stages.items()}, edits)
        after = _record_sentence(run, model, actual, text, ids, written, edits)
        if not np.isfinite(after.stages["logits"].values).all():
            raise Refusal("edits.not_finite")
        values = [{address: stage.values for address, stage in each.stages.items()} for each in (before, after)]
        tensors = name_tensors(model) | values[0]
        originals = tuple(float(tensors[each.name][each.index or (0,) * tensors[each.name].ndim]) for each in edits)
        return EditedActivations(before, after, compare(*values), originals, (output, write(edit(model))))

    def derive(model: Transformer, edited: EditedActivations) -> Derivation | None:
        stages = edited.after.stages
        index = cell.index(stages[cell.address]) if cell and cell.address in stages else None
        typed = index and any(each.covers(cell.address, index) for each in edits)
        return explain(edit(model), stages, cell.address, index) if index and not typed else None

    key = ("edited", text, forced, edits)
    return reader.work(run, step, key, work, then=((*key, cell), derive))


def plan_change(text: str) -> Change | None:
    """Returns what a fork does to its parameters: the edits of `text`, the cursor's field; None without any. Raises Refusal."""
    cursor.check("edits", text)
    edits = parse(text)

    def change(run: Run, step: int, parameters: Parameters) -> tuple[Parameters, int]:
        if not run.experiment.model.alteration.is_built_of_layers:
            raise Refusal("edits.paper_only")
        return edit_parameters(build_model(run, step, parameters), edits), len(edits)

    return change if edits else None


def _record_sentence(
    run: Run, model: Transformer, step: int, text: str, ids: list[int], written: tuple[int, ...], edits: tuple[TensorEdit, ...] = ()
) -> SentenceActivations:
    src, tgt = run.tokenizers
    targets, begin = pieces_from(tgt, written), Piece(SPECIAL_TOKENS[BOS], BOS)
    stages = Stages(record(model, ids, written, edits))
    return SentenceActivations(step, pieces_of(src, text, end=True), (begin, *targets[:-1]), targets, stages)
