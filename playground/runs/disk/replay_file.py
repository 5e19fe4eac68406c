"""The numbers of a run as files, validated against the model: its parameters; and its replay, as replay.json, the index, and
replay.safetensors."""

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from playground.config import MAX_POSITIONS, ModelConfig, Refusal
from playground.model.costs import parameter_count
from playground.runs.disk.files import header, parse_json, read_safetensors, to_json, to_safetensors
from playground.runs.replay import MAX_FRAMES, TOP_TOKENS, Completion, Frame, Replay, ReplayPlan
from playground.runs.rounded import RoundedParameters, pack_rounded, round_parameters, rounded_shapes, shapes_of, unpack_rounded
from playground.variants import build, variant_of

BEST = "best/"  # before the names of the parameters of the best step
STACKS = ("encoder", "decoder", "cross")
Shape = tuple[int, ...]


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
