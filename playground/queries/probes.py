"""The completions of the probe sentences at any step of the replay, as the page shows the newest ones."""

from __future__ import annotations

from playground.config import EOS
from playground.queries import references
from playground.runs.history import Probe
from playground.runs.run import Run
from playground.runs.tokens import get_pieces, tokens_correct


def probes_at(run: Run, step: int) -> tuple[int, tuple[Probe, ...]]:
    """(the step of the picture, its probes): the last picture at or before `step`; none in an empty replay."""
    frame = run.replay.frame(step)
    if frame is None or run.tokenizers is None:
        return step, ()
    src, tgt = run.tokenizers
    found = []
    for (source, target), completion in zip(run.replay.plan.probes, frame.completions, strict=True):
        right = tokens_correct(completion.ids, map(tgt.encode, references.references(run, source) or (target,)))
        pieces = (get_pieces(src, src.encode(source)), get_pieces(tgt, tgt.encode(target)), get_pieces(tgt, completion.ids))
        found.append(Probe(*pieces, right, completion.ids[-1] == EOS))
    return frame.step, tuple(found)


def first_right(run: Run) -> int | None:
    """The first step of the replay at which a probe was wholly right, its end included; None when none ever was."""
    get_pieces = ((step, probes_at(run, step)[1]) for step in run.replay.steps)
    return next((step for step, probes in get_pieces if any(probe.finished and all(probe.right) for probe in probes)), None)
