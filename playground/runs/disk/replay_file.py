"""The numbers of a run as safetensors files, validated against the model: its parameters; and its replay, with replay.json, the index.

A file's header is checked before its size is allocated.
"""

import json
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import safetensors.torch
import torch

from playground.config import MAX_POSITIONS, ModelConfig, Refusal
from playground.model.costs import parameter_count
from playground.runs.disk.files import parse_json, to_json
from playground.runs.replay import MAX_FRAMES, TOP_TOKENS, Completion, Frame, Replay, ReplayPlan
from playground.runs.rounded import RoundedParameters, pack_rounded, round_parameters, rounded_shapes, shapes_of, unpack_rounded
from playground.variants import build, variant_of

MAX_HEADER_BYTES = 4_000_000
TYPES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
Shapes = Mapping[str, tuple[str, tuple[int, ...]]]  # name -> (safetensors type, shape)
BEST = "best/"  # before the names of the parameters of the best step
STACKS = ("encoder", "decoder", "cross")
Shape = tuple[int, ...]


def to_safetensors(tensors: Mapping[str, torch.Tensor | np.ndarray], note: str | None = None) -> bytes:
    """Packs the tensors as a safetensors file, with `note` in its header."""
    contiguous = {name: (torch.from_numpy(t) if isinstance(t, np.ndarray) else t).contiguous() for name, t in tensors.items()}
    return safetensors.torch.save(contiguous, {"note": note} if note is not None else None)


def header(data: bytes, file_name: str) -> tuple[dict[str, tuple[str, tuple[int, ...]]], str]:
    """Returns ({name: (type, shape)}, note) of a safetensors file, validated to describe exactly the bytes that follow. Raises Refusal."""
    try:
        length = int.from_bytes(data[:8], "little")
        if len(data) < 8 or not 2 <= length <= min(MAX_HEADER_BYTES, len(data) - 8):
            raise ValueError
        entries = json.loads(data[8 : 8 + length])
        note = entries.pop("__metadata__", {}).get("note", "")
        shapes, spans = {}, []
        for name, entry in entries.items():
            size, shape = TYPES[entry["dtype"]], entry["shape"]
            if not all(type(n) is int and 0 <= n < 2**40 for n in shape) or len(shape) > 8:
                raise ValueError
            for n in shape:
                size *= n
            start, stop = entry["data_offsets"]
            if stop - start != size:
                raise ValueError
            shapes[name] = (entry["dtype"], tuple(shape))
            spans.append((start, stop))
        ends = [0, *(stop for _, stop in sorted(spans))]
        if [start for start, _ in sorted(spans)] != ends[:-1] or ends[-1] != len(data) - 8 - length or not isinstance(note, str):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refusal("runs.not_a_run", what=file_name) from error
    return shapes, note


def read_safetensors(data: bytes, expected: Shapes | None, file_name: str, finite: bool = True) -> dict[str, torch.Tensor]:
    """Reads a safetensors file's tensors, all `finite`, with exactly the `expected` names, types and shapes. Raises Refusal."""
    shapes, _ = header(data, file_name)
    if expected is not None and shapes != dict(expected):
        raise Refusal("runs.not_a_run", what=file_name)
    try:
        tensors = safetensors.torch.load(data)
    except Exception as error:  # any parser error: not a file of ours
        raise Refusal("runs.not_a_run", what=file_name) from error
    if finite and not all(bool(torch.isfinite(t).all()) for t in tensors.values() if t.is_floating_point()):
        raise Refusal("runs.not_a_run", what=file_name)
    return tensors


def pack_replay(replay: Replay) -> dict[str, bytes]:
    """Returns {"replay.json", "replay.safetensors"}, without the last parameters, which are the run's weights."""
    frames, plan = replay.frames, replay.plan
    completions = [completion for frame in frames for completion in frame.completions]
    tensors: dict[str, Any] = {}
    if completions:
        for name in ("probabilities", "top_ids", "top_probabilities"):
            tensors[name] = np.concatenate([getattr(completion, name) for completion in completions])
    for probe, has_attention in enumerate(plan.attention if frames else ()):
        for stack in STACKS if has_attention else ():
            tensors[f"{stack}.{probe}"] = np.concatenate([getattr(frame.completions[probe], stack).ravel() for frame in frames])
    tensors |= pack_rounded(list(replay.parameters_by_step.values()))
    step, best = replay.best or (None, {})
    tensors |= {f"{BEST}{name}": tensor for name, tensor in best.items()}
    index = {
        "probes": plan.probes, "lengths": plan.lengths, "attention": plan.attention, "steps": plan.steps,
        "parameter_steps": plan.parameter_steps, "kept": list(replay.parameters_by_step), "rounded": True,
        "frames": [[frame.step, [completion.ids for completion in frame.completions]] for frame in frames],
        "best": step,
    }  # fmt: skip
    return {"replay.json": to_json(index), "replay.safetensors": to_safetensors(tensors)}


def unpack_replay(index_data: bytes, numbers: bytes, model: ModelConfig, vocabulary: int, parameters: Mapping[str, Shape]) -> Replay:
    """Restores `pack_replay` output for a model with these `parameters` (name -> shape). Raises Refusal("runs.not_a_run")."""
    try:
        plan = parse_json(index_data, "replay.json")
        rounded, best = plan.get("rounded") is True, _whole(plan.get("best") or 0)
        replay, steps, frames = _read_plan(plan, vocabulary)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Refusal("runs.not_a_run", what="replay.json") from error
    pictures = _expected(replay, frames, model, min(TOP_TOKENS, vocabulary))
    expected = pictures | _expected_parameters(steps, parameters, rounded)
    expected |= {f"{BEST}{name}": ("F32", shape) for name, shape in parameters.items()} if best else {}
    tensors = read_safetensors(numbers, expected, "replay.safetensors")
    replay.best = (best, {name: tensors[f"{BEST}{name}"] for name in parameters}) if best else None
    arrays = {name: tensors[name].numpy() for name in pictures}
    replay.frames = tuple(_frames(replay.plan, frames, model, arrays))
    if rounded:
        replay.parameters_by_step = dict(zip(steps, unpack_rounded(len(steps), tensors, list(parameters)), strict=True))
        return replay
    before: RoundedParameters | None = None
    for step in steps:
        exact = {name: tensors[f"parameters.{step}.{name}"] for name in parameters}
        replay.parameters_by_step[step] = before = round_parameters(exact, before)
    return replay


def _read_plan(index: Any, vocabulary: int) -> tuple[Replay, list[int], list[tuple[int, list[tuple[int, ...]]]]]:
    """Returns the replay without its numbers, the steps with parameters, and (step, ids of each probe) per frame. Raises ValueError and its
    like."""
    plan = ReplayPlan(
        probes=tuple((str(src), str(tgt)) for src, tgt in index["probes"]),
        lengths=tuple((_whole(s, MAX_POSITIONS), _whole(t, MAX_POSITIONS)) for s, t in index["lengths"]),
        attention=tuple(map(bool, index["attention"])),
        steps=tuple(map(_whole, index["steps"])),
        parameter_steps=tuple(map(_whole, index["parameter_steps"])),
    )
    frames = [(_whole(step), [tuple(_whole(i, vocabulary - 1) for i in ids) for ids in probes]) for step, probes in index["frames"]]
    parameter_steps = [_whole(step) for step in index["kept"]]
    n = len(plan.probes)
    ordered = all(sorted(set(steps)) == list(steps) for steps in (plan.steps, parameter_steps, [step for step, _ in frames]))
    fitting = all(len(p) == n and all(0 < len(ids) <= most for ids, (_, most) in zip(p, plan.lengths, strict=True)) for _, p in frames)
    if not (ordered and fitting and n == len(plan.lengths) == len(plan.attention) and n <= 16 and len(frames) <= MAX_FRAMES + 1):
        raise ValueError
    if not set(parameter_steps) <= set(plan.parameter_steps):
        raise ValueError
    return Replay(plan), parameter_steps, frames


def _whole(value: Any, most: int = 2**31) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(value)
    return value


def _shapes(model: ModelConfig, s: int, t: int) -> tuple[Shape, Shape, Shape]:
    """Returns the shapes of one completion's three attention stacks."""
    encoder, decoder, h = model.attention_layers("encoder"), model.attention_layers("decoder"), model.n_heads
    return (encoder, h, s, s), (decoder, h, t, t), (decoder, h, t, s)


def _expected(replay: Replay, frames: list, model: ModelConfig, top: int) -> dict[str, tuple[str, Shape]]:
    """Returns the tensors of the frames."""
    expected: dict[str, tuple[str, Shape]] = {}
    tokens = sum(len(ids) for _, probes in frames for ids in probes)
    if tokens:
        expected |= {"probabilities": ("F16", (tokens,)), "top_ids": ("I32", (tokens, top)), "top_probabilities": ("F16", (tokens, top))}
    for probe, ((source, _), has_attention) in enumerate(zip(replay.plan.lengths, replay.plan.attention, strict=True)):
        for stack, name in enumerate(STACKS if has_attention and frames else ()):
            cells = sum(int(np.prod(_shapes(model, source, len(probes[probe]))[stack])) for _, probes in frames)
            expected[f"{name}.{probe}"] = ("F16", (cells,))
    return expected


def _expected_parameters(steps: list[int], parameters: Mapping[str, Shape], rounded: bool) -> dict[str, tuple[str, Shape]]:
    """Returns the tensors of the parameters; unrounded for runs of an older format."""
    if rounded:
        return rounded_shapes(len(steps), parameters)
    return {f"parameters.{step}.{name}": ("F32", shape) for step in steps for name, shape in parameters.items()}


def _frames(plan: ReplayPlan, frames: list, model: ModelConfig, arrays: Mapping[str, np.ndarray]) -> Iterator[Frame]:
    token, places = 0, dict.fromkeys(arrays, 0)
    for step, probes in frames:
        completions = []
        for probe, ids in enumerate(probes):
            rows = slice(token, token := token + len(ids))
            pictures = []
            if plan.attention[probe]:
                for stack, shape in zip(STACKS, _shapes(model, plan.lengths[probe][0], len(ids)), strict=True):
                    name = f"{stack}.{probe}"
                    start = places[name]
                    places[name] = start + int(np.prod(shape))
                    pictures.append(arrays[name][start : places[name]].reshape(shape))
            numbers = (arrays[name][rows] for name in ("probabilities", "top_ids", "top_probabilities"))
            completions.append(Completion(ids, *numbers, *pictures))
        yield Frame(step, tuple(completions))


@lru_cache(maxsize=64)
def parameter_shapes(model: ModelConfig, src_vocab: int, tgt_vocab: int) -> dict[str, Shape]:
    """Returns name -> shape of every parameter of this model."""
    return shapes_of(dict(build(model, src_vocab, tgt_vocab).named_parameters()))


def read_parameters(data: bytes, model: ModelConfig, src_vocab: int, tgt_vocab: int, name: str) -> dict[str, torch.Tensor]:
    """Reads the parameters from the file `name`. Compares their number with the formula before building a model of that size. Raises
    Refusal("runs.not_a_run") for another model's."""
    shapes, _ = header(data, name)
    numbers = sum(math.prod(shape) for _, shape in shapes.values())
    if numbers != parameter_count(model, src_vocab, tgt_vocab) + variant_of(model).extra_parameters(model):
        raise Refusal("runs.not_a_run", what=name)
    expected = {name: ("F32", shape) for name, shape in parameter_shapes(model, src_vocab, tgt_vocab).items()}
    return read_safetensors(data, expected, name)
