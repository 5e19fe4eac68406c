"""Inside a step of ours, seen from outside: how long its parts take, and its kinds of operations."""

from __future__ import annotations

import re
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from unittest.mock import patch

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.profiler import ProfilerActivity, profile, record_function

from playground.training.loop import Training

PARTS = ("batch", "forward", "backward", "optimiser", "rest")  # forward with the loss; rest: clipping, copies, counting
Span = tuple[str, float, float]  # what, from, to

OPTIMISER = "optimiser"
KINDS = ("products", "attention", "elementwise", "copies", OPTIMISER, "dispatch")
# What is left of an operation's name decides; the first that matches. Linear layers multiply by mm and addmm, attention by bmm.
NAMES = (
    ("products", r"(add)?mm(_.*)?|_addmm_activation|mkldnn_.*"),
    ("attention", r"(badd)?bmm|_softmax.*|_scaled_dot_product.*|_(flash|efficient).*attention.*"),
    ("copies", r"(_?to_)?copy_?|_foreach_copy_|clone|cat|stack|gather|scatter.*|index.*|_index.*|embedding.*|nonzero.*|fill_|zero_"),
    ("dispatch", r"view|_unsafe_view|reshape|transpose|t|permute|expand|.*slice.*|select.*|unbind|unfold|.*unflatten.*|.*flatten.*"),
    ("dispatch", r"detach|as_strided|alias|.*squeeze|empty.*|new_.*|resize_|linear|matmul|einsum|dropout|result_type|item|_local_scalar.*"),
    ("dispatch", r"to|contiguous|lift_fresh|split.*|chunk|narrow|cross_entropy.*|layer_norm|softmax|log_softmax|scaled_dot.*|is_nonzero"),
)


def parts(training: Training, steps: Iterator, count: int) -> dict[str, float]:
    """Seconds of each of PARTS in a step: medians over so many steps."""
    found = []
    with watched(training) as spans:
        for _ in range(count):
            spans.clear()
            started = time.perf_counter()
            next(steps)
            found.append(split([*spans], started, time.perf_counter()))
    return {name: statistics.median(one[name] for one in found) for name in PARTS}


def split(spans: Sequence[Span], started: float, ended: float) -> dict[str, float]:
    """The time of one step by PARTS; they add up to it. Where parts overlap (work on two cores), each has its share of that time. What
    comes before all others is the batch, what lies between them is the rest."""
    spans = [("batch", started, min((begun for _, begun, _ in spans), default=ended)), *spans]
    edges = sorted({started, ended, *(edge for _, *edges in spans for edge in edges)})
    found = dict.fromkeys(PARTS, 0.0)
    for begun, over in pairwise(edges):
        at_work = [name for name, first, last in spans if first <= begun and over <= last] or ["rest"]
        for name in at_work:
            found[name] += (over - begun) / len(at_work)
    return found


@contextmanager
def watched(training: Training) -> Iterator[list[Span]]:
    """The spans of forward, backward and optimiser, of any thread, as long as the block lasts. A forward pass begins when a module is
    called, and ends when the same thread asks for gradients: the loss belongs to it."""
    spans: list[Span] = []
    begun = threading.local()

    def forward(*_: object) -> None:
        if getattr(begun, "at", None) is None:
            begun.at = time.perf_counter()

    def around(name: str, act: Callable) -> Callable:
        def measured(*values: object, **named: object) -> object:
            started = time.perf_counter()
            if name == "backward" and getattr(begun, "at", None) is not None:
                spans.append(("forward", begun.at, started))
                begun.at = None
            try:
                return act(*values, **named)
            finally:
                spans.append((name, started, time.perf_counter()))

        return measured

    with ExitStack() as stack:
        stack.callback(register_module_forward_pre_hook(forward).remove)
        for name in ("backward", "grad"):
            stack.enter_context(patch.object(torch.autograd, name, around("backward", getattr(torch.autograd, name))))
        stack.enter_context(patch.object(training.optimiser, "step", around("optimiser", training.optimiser.step)))
        yield spans


def kinds(training: Training, steps: Iterator, count: int, seconds: float) -> dict[str, float]:
    """Seconds of each of KINDS in a step that takes so many when nobody profiles it, as means over `count` of them. Dispatch is what the
    operations themselves don't account for: Python, the way to them, and shapes without work."""
    optimise = record_function(OPTIMISER)(training.optimiser.step)
    with patch.object(training.optimiser, "step", optimise), profile(activities=[ProfilerActivity.CPU]) as seen:
        for _ in range(count):
            next(steps)
    spent: Counter[str] = Counter()
    for event in seen.events():
        spent[kind(event.name, _in_optimiser(event))] += event.self_cpu_time_total / 1e6 / count
    found = {name: spent[name] for name in KINDS[:-1]}
    return found | {"dispatch": max(seconds - sum(found.values()), 0.0)}


def kind(name: str, in_optimiser: bool = False) -> str:
    """One of KINDS for an operation's name as the profiler has it. What is in no list is elementwise: sums, norms, activations."""
    if in_optimiser:
        return OPTIMISER
    if not name.startswith("aten::"):
        return "dispatch"
    bare = name.removeprefix("aten::")
    return next((kind for kind, names in NAMES if re.fullmatch(names, bare)), "elementwise")


def _in_optimiser(event: object) -> bool:
    while event is not None:
        if event.name == OPTIMISER:
            return True
        event = event.cpu_parent
    return False
