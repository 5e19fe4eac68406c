"""Numbers typed over: the model's own code computes all that depends on them.

An edit of a parameter gives a private copy of the model another tensor; an edit of a stage (see activations.py) is a hook on that copy, or
replaces a result inside of its attention. The model itself, which is shared, isn't changed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from playground.config import Refusal
from playground.model.attention import MultiHeadAttention, head_widths
from playground.model.copies import shared_copy
from playground.model.transformer import Transformer
from playground.variants.decoder_only import DecoderOnly, read_in_one_pass

MAX_VALUE = 1e6
# The operations of scaled_dot_product_attention in their order, and the stage that each computes.
INSIDE = (("matmul", "scores"), ("div", "scaled"), ("add", "masked"), ("mul", "weights"), ("matmul", "mixed"))
INPUT, OUTPUT = "input", "output"
# Stage -> the module that has it as its input or its output; {at} is the stage's address without its name, {layer} the part before that.
MODULES = {
    "embedding": ("{at}_embedding", OUTPUT), "scaled": ("{at}_positions", INPUT), "positions": ("{at}_positions", OUTPUT),
    "q": ("{at}.W_q", OUTPUT), "k": ("{at}.W_k", OUTPUT), "v": ("{at}.W_v", OUTPUT), "q_turned": ("{at}.rotary", OUTPUT),
    "k_turned": ("{at}.rotary", OUTPUT), "concat": ("{at}.W_o", INPUT), "W_o": ("{at}.W_o", OUTPUT), "hidden": ("{at}.W_1", OUTPUT),
    "activated": ("{at}.W_2", INPUT), "W_2": ("{at}.W_2", OUTPUT), "residual": ("{layer}.residual", OUTPUT),
    "joined": ("layers.0", INPUT),
}  # fmt: skip
FIXED = ("ids", "probabilities")  # stages that no other is computed from, or that are the sentence itself
Meet = Callable[[str, Tensor], Tensor]


class TensorEdit(NamedTuple):
    """New values of one tensor: from `index` on along its last axis, or with a `seed` all of a parameter, drawn anew.

    `name` is that of a parameter ("encoder.0.feed_forward.W_1.weight") or the address of a stage ("memory"), `index` counts from 0. Text:
    "memory:2,5=0.5,-1", "projection.weight=r7".
    """

    name: str
    index: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    seed: int | None = None

    def __str__(self) -> str:
        if self.seed is not None:
            return f"{self.name}=r{self.seed}"
        return f"{self.name}:{','.join(map(str, self.index))}={','.join(f'{value:.9g}' for value in self.values)}"

    def covers(self, name: str, index: tuple[int, ...]) -> bool:
        """Tests whether the edit sets this very cell."""
        return self.name == name and self.index[:-1] == index[:-1] and index[-1] - self.index[-1] in range(len(self.values))

    def write(self, x: Tensor) -> Tensor:
        """Returns a copy of `x` (..., of the axes of `index`) with the new values. A sentence that is being written may have no such row
        yet: then it is `x` itself."""
        if self.seed is not None:
            generator = torch.Generator().manual_seed(self.seed)
            return (torch.randn(x.shape, generator=generator).to(x) * x.std(correction=0) + x.mean()).detach()
        if any(at >= size for at, size in zip(self.index, x.shape[-len(self.index) :], strict=True)):
            return x
        *place, first = self.index
        x = x.detach().clone()
        row = x[(..., *place, slice(first, first + len(self.values)))]
        row[...] = torch.tensor(self.values[: row.shape[-1]]).to(x)
        return x


def parse(text: str) -> tuple[TensorEdit, ...]:
    """Parses edits joined by ";", as the cursor's field of that name declares them. Raises Refusal for a number that is too large."""
    edits = []
    for place, _, written in (each.partition("=") for each in filter(None, text.split(";"))):
        name, _, index = place.partition(":")
        values = () if written.startswith("r") else tuple(map(float, written.split(",")))
        if any(abs(value) > MAX_VALUE for value in values):
            raise Refusal("edits.no_number")
        edits.append(TensorEdit(name, tuple(map(int, filter(None, index.split(",")))), values, None if values else int(written[1:])))
    return tuple(edits)


def name_tensors(model: Transformer) -> dict[str, Tensor]:
    """Returns every parameter and every fixed table by its name; one that is shared has several."""
    return dict(model.named_parameters(remove_duplicate=False)) | dict(model.named_buffers(remove_duplicate=False))


def check(model: Transformer, shapes: Mapping[str, Sequence[int]], edits: Iterable[TensorEdit]) -> None:
    """Raises Refusal for an edit of a tensor that neither the model nor the sentence has, or of a cell outside it. `shapes` are those of
    the stages by their addresses."""
    tensors = name_tensors(model)
    for edit in edits:
        if edit.name.rpartition(".")[2] in FIXED:
            raise Refusal("edits.fixed")
        shape = tensors[edit.name].shape if edit.name in tensors else shapes.get(edit.name, ())
        last = (*edit.index[:-1], edit.index[-1] + len(edit.values) - 1) if edit.values else ()
        is_inside = len(last) == len(shape) > 0 and all(at < size for at, size in zip(last, shape, strict=True))
        if not (is_inside if edit.seed is None else edit.name in tensors):
            raise Refusal("edits.elsewhere", edit=str(edit))


def select_learned(model: Transformer, edits: Iterable[TensorEdit]) -> tuple[TensorEdit, ...]:
    """Selects the edits of parameters: without those of fixed tables and of stages, which belong to a sentence."""
    names = dict(model.named_parameters(remove_duplicate=False))
    return tuple(edit for edit in edits if edit.name in names)


def edit_parameters(model: Transformer, edits: Sequence[TensorEdit]) -> dict[str, Tensor]:
    """Returns the edited parameters by name. Raises Refusal for an edit of anything else."""
    for edit in set(edits).difference(select_learned(model, edits)):
        raise Refusal("edits.elsewhere", edit=str(edit))
    check(model, {}, edits)
    return dict(apply(model, edits).named_parameters())


def apply(model: Transformer, edits: Sequence[TensorEdit], watch: Callable[[str, Tensor], object] | None = None) -> Transformer:
    """Returns an edited model that shares all other tensors with `model`; without edits `model` itself. `watch` is called with the address
    and the tensor of each stage inside of its attention."""
    if not edits and watch is None:
        return model
    tensors, fresh, inside = name_tensors(model), {}, {}
    of_parameters = [edit for edit in edits if edit.name in tensors]
    for edit in of_parameters:
        old = tensors[edit.name]
        new = edit.write(fresh.get(id(old), old))
        fresh[id(old)] = nn.Parameter(new, requires_grad=False) if isinstance(old, nn.Parameter) else new
    copy = shared_copy(model, model.generator, fresh)
    if isinstance(copy, DecoderOnly) and len(of_parameters) < len(edits):
        read_in_one_pass(copy)
    for edit in edits:
        if edit in of_parameters:
            continue
        copy.cacheable = False  # rows are counted from the sentence's beginning
        at, _, name = edit.name.rpartition(".")
        if edit.name == "memory":
            copy.apply_memory_mode = _edit_result(copy.apply_memory_mode, edit)
        elif "." in at and name in (stage for _, stage in INSIDE):
            inside.setdefault(edit.name, []).append(edit)
        else:
            _register(copy, edit, at, name)

    def meet(address: str, x: Tensor) -> Tensor:
        for edit in inside.get(address, ()):
            x = edit.write(x)
        if watch:
            watch(address, x)
        return x

    for name, module in copy.named_modules() if inside or watch else ():
        if isinstance(module, MultiHeadAttention):
            module.attend_heads = _attend_met(module.attend_heads, name, meet)
    return copy


def norm_module(address: str) -> str:
    """Returns the model's name of the norm of this stage: "encoder.norm" -> "encoder_norm", "decoder.0.feed_forward.norm" ->
    "decoder.0.norm_3"."""
    stack, *layer, _ = address.split(".")
    if not layer:
        return f"{stack}_norm"
    number, sublayer = layer
    last = 3 if stack == "decoder" else 2
    order = {"self_attention": 1, "cross_attention": 2, "feed_forward": last}
    return f"{stack}.{number}.norm_{order[sublayer]}"


def _register(copy: Transformer, edit: TensorEdit, at: str, name: str) -> None:
    """Registers the hook of a stage that is the input or the output of a module."""
    if name in ("output", "logits"):
        return _register_target(copy, edit, name)
    layer, calls, call = at.rpartition(".")[0], 1, 0
    pattern, side = (norm_module(edit.name), OUTPUT) if name == "norm" else MODULES[name]
    if name == "residual":  # one module for all sublayers of a layer
        calls, call = 3 if at.startswith("decoder") else 2, int(norm_module(edit.name)[-1]) - 1
    elif name.endswith("_turned"):  # first the queries, then the keys
        calls, call = 2, int(name[0] == "k")
    elif name in ("q", "k", "v"):  # all heads side by side
        head, row, column = edit.index
        edit = edit._replace(index=(row, head * head_widths(copy.config)[name == "v"] + column))
    elif name in ("scaled", "positions") and copy.src_positions is copy.tgt_positions:  # first the source, then the target
        calls, call = 2, int(at == "tgt")
    module, turns = copy.get_submodule(pattern.format(at=at, layer=layer)), count()

    def edit_input(module: nn.Module, inputs: tuple) -> tuple:
        return (edit.write(inputs[0]) if next(turns) % calls == call else inputs[0]), *inputs[1:]

    def edit_output(module: nn.Module, inputs: tuple, output: Tensor) -> Tensor | None:
        return edit.write(output) if next(turns) % calls == call else None

    if side == INPUT:
        module.register_forward_pre_hook(edit_input)
    else:
        module.register_forward_hook(edit_output)


def _register_target(copy: Transformer, edit: TensorEdit, name: str) -> None:
    """Registers the hook of the last states or the logits. Before them come the rows of the source in a decoder-only model; and while a
    sentence is written, only the newest logits are computed."""
    source, length, (row, column) = 0, 0, edit.index

    def count_source(module: nn.Module, inputs: tuple, output: Tensor) -> None:
        nonlocal source
        source = output.shape[-2]

    def edit_states(module: nn.Module, inputs: tuple, output: Tensor) -> Tensor | None:
        nonlocal length
        length = output.shape[-2] - source
        return edit._replace(index=(source + row, column)).write(output) if name == "output" else None

    def edit_logits(module: nn.Module, inputs: tuple, output: Tensor) -> Tensor:
        newest = row - (length - output.shape[-2])
        return edit._replace(index=(newest, column)).write(output) if newest >= 0 else output

    if isinstance(copy, DecoderOnly):
        copy.src_embedding.register_forward_hook(count_source)
    copy.decoder_norm.register_forward_hook(edit_states)
    if name == "logits":
        copy.projection.register_forward_hook(edit_logits)


def _edit_result(function: Callable[..., Tensor], edit: TensorEdit) -> Callable[..., Tensor]:
    return lambda *inputs: edit.write(function(*inputs))


class _Inside(TorchFunctionMode):
    """Passes each result inside of scaled_dot_product_attention to `meet` by the name of its stage, and goes on with the returned one."""

    def __init__(self, meet: Meet) -> None:
        super().__init__()
        self.meet, self.left = meet, list(INSIDE)

    def __torch_function__(self, func: Callable, types: object, args: tuple = (), kwargs: dict | None = None) -> object:
        result = func(*args, **(kwargs or {}))
        if self.left and func.__name__.strip("_").removeprefix("true") == self.left[0][0]:
            return self.meet(self.left.pop(0)[1], result)
        return result


def _attend_met(attend: Callable, at: str, meet: Meet) -> Callable:
    """Returns `attend_heads` of the attention `at`, each result inside of which `meet` may replace."""

    def attend_heads(*inputs: Tensor | None) -> tuple[Tensor, Tensor]:
        with _Inside(lambda name, x: meet(f"{at}.{name}", x)):
            return attend(*inputs)

    return attend_heads


class Difference(NamedTuple):
    """The number of cells of a stage that an edit changes, and the one that changes most: its place, its old and its new value."""

    cells: int
    index: tuple[int, ...]
    before: float
    after: float


def compare(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> dict[str, Difference]:
    """Returns the difference of each stage that changed, by its address; both have the same stages and shapes."""
    differences = {}
    for address, old in before.items():
        change = np.abs(after[address].astype(np.float64) - old)
        if cells := int(np.count_nonzero(change)):
            index = tuple(map(int, np.unravel_index(int(change.argmax()), change.shape)))
            differences[address] = Difference(cells, index, float(old[index]), float(after[address][index]))
    return differences
