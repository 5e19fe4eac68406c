"""The completions of the probe sentences at any step of the replay."""

from __future__ import annotations

from playground.config import EOS
from playground.features.shared.queries import results
from playground.runs.history import Probe
from playground.runs.run import Run
from playground.runs.tokens import get_pieces, tokens_correct


def read_probes(run: Run, step: int) -> tuple[int, tuple[Probe, ...]]:
    """Returns (step, probes) of the last frame at or before `step`; no probes from an empty replay."""
    frame = run.replay.frame(step)
    if frame is None or run.tokenizers is None:
        return step, ()
    src, tgt = run.tokenizers
    probes = []
    for (source, target), completion in zip(run.replay.plan.probes, frame.completions, strict=True):
        right = tokens_correct(completion.ids, map(tgt.encode, results.references(run, source) or (target,)))
        pieces = (get_pieces(src, src.encode(source)), get_pieces(tgt, tgt.encode(target)), get_pieces(tgt, completion.ids))
        probes.append(Probe(*pieces, right, completion.ids[-1] == EOS))
    return frame.step, tuple(probes)


def find_first_right(run: Run) -> int | None:
    """Returns the first step of the replay at which a probe was right as a whole, EOS included; None without one."""
    frames = ((step, read_probes(run, step)[1]) for step in run.replay.steps)
    return next((step for step, probes in frames if any(probe.finished and all(probe.right) for probe in probes)), None)
