"""The arguments of the endpoints: types, defaults and bounds from the declarations of knobs (config.py) and of the cursor (cursor.py);
their words have the same names in words/."""

import inspect
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

from playground.config import KNOBS, Refusal, check, default, limits
from playground.cursor import FIELDS, MAX_TEXT, Number, choices
from playground.features.translate.query import METHODS
from playground.knobs import as_text, shortened
from playground.lessons.controlled import SEEDS
from playground.words import ENGLISH, known, say

REQUIRED = inspect.Parameter.empty
MIN_OWNER = 16  # characters of an owner that can't be guessed
MAX_PAIRS = 20_000  # characters of pairs that are read: a body has 32 KB
DECODING = ("method", "beam", "penalty", "temperature", "top_k", "top_p", "draw", "prefix")  # as in DecodingOptions
MAX_OWNER = 128  # characters of the word that owns runs


@dataclass(frozen=True)
class Argument:
    """An endpoint's argument, validated by the `knob` or cursor `field` of that name, by `choices`, or as text of at most `most`
    characters; a file's path has been checked before (see calls.py). A default of None means "not given"."""

    type: Any
    default: Any = REQUIRED
    knob: str = ""
    field: str = ""
    choices: tuple[str, ...] = ()
    most: int = MAX_TEXT

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def is_file(self) -> bool:
        return self.type in (dict, dict | None)  # not Gradio's type, of which its MCP makes an address that the server fetches

    def check(self, name: str, value: Any) -> Any:
        """Validates and converts `value`. Raises Refusal."""
        if value is None and self.default is None:
            return None
        if self.is_file:
            if not isinstance(value, dict):
                raise Refusal("api.not_a_file")
            return value["path"]
        if self.knob:
            return check(self.knob, value)
        if self.field:
            return _check_number(name, FIELDS[self.field], value)
        if self.choices:
            if value not in self.choices:
                raise Refusal("config.not_a_choice", name=name, value=shortened(value), choices=", ".join(self.choices))
            return value
        return _check_seeds(value) if self.type == list[int] else _check_text(name, value, self.most)


def _knob_argument(name: str) -> Argument:
    """Returns a knob's argument; choices of text are a Literal."""
    kind, knob = type(default(name)), limits(name)
    return Argument(Literal[knob.choices] if knob.choices and kind is str else kind, default(name), knob=name)


def _field_argument(name: str) -> Argument:
    """Returns a cursor number's argument; None where it has no default."""
    field = FIELDS[name]
    return Argument(type(field.step), field.value(field.default), field=name)


def _choice_argument(names: Sequence[str]) -> Argument:
    """Returns a choice; the first is the default."""
    return Argument(Literal[tuple(names)], names[0], choices=tuple(names))


ARGUMENTS: dict[str, Argument] = {
    **{name: _knob_argument(name) for name in KNOBS},
    "steps": Argument(int, None, knob="steps"),  # by default as many as the task needs
    "owner": Argument(str, most=MAX_OWNER),
    "label": Argument(str, ""),
    "run": Argument(str, most=64),
    "base": Argument(str, "", most=64),
    "text": Argument(str),
    "pairs": Argument(str, most=MAX_PAIRS),
    "file": Argument(dict),
    **dict.fromkeys(("aligned", "tokenizer_file"), Argument(dict | None, None)),
    "method": _choice_argument(METHODS),
    **{name: _field_argument(name) for name in ("step", "beam", "penalty", "temperature", "top_k", "top_p", "draw", "layer", "head")},
    **dict.fromkeys(("prefix", "must", "must_not"), Argument(str, "")),
    "kind": _choice_argument(choices("part")),
    "name": Argument(str, most=64),
    "seeds": Argument(list[int], [default("seed")]),
}
Arguments = Mapping[str, Argument]


def pick_arguments(*names: str) -> dict[str, Argument]:
    """Returns an endpoint's arguments by name."""
    return {name: ARGUMENTS[name] for name in names}


def list_required(arguments: Arguments) -> list[str]:
    """Returns the names of the arguments that have no default."""
    return [name for name, argument in arguments.items() if argument.required]


def check_names(endpoint: str, arguments: Arguments, names: Set[str]) -> None:
    """Raises Refusal unless `names` are names of the endpoint's arguments, with all required ones among them."""
    if not set(list_required(arguments)) <= names <= arguments.keys():
        raise explain_arguments(endpoint, arguments)


def explain_arguments(endpoint: str, arguments: Arguments) -> Refusal:
    """Explains that what was given are not the endpoint's arguments."""
    return Refusal("api.not_its_arguments", name=endpoint, needed=", ".join(list_required(arguments)) or "–")


def check_arguments(arguments: Arguments, values: Sequence[Any]) -> dict[str, Any]:
    """Validates all values. Raises Refusal for the first invalid one."""
    return {name: argument.check(name, value) for (name, argument), value in zip(arguments.items(), values, strict=True)}


def check_owner(owner: str) -> None:
    """Raises Refusal for an owner that others might guess or choose too."""
    if len(owner) < MIN_OWNER:
        raise Refusal("api.no_owner", least=MIN_OWNER)


def build_signature(arguments: Arguments, **filled_in: type) -> inspect.Signature:
    """Returns the signature of a function with these arguments, and those that Gradio fills in."""
    parameters = [_declare(name, argument.type, argument.default) for name, argument in arguments.items()]
    return inspect.Signature([*parameters, *(_declare(name, kind, None) for name, kind in filled_in.items())], return_annotation=dict)


def _declare(name: str, kind: Any, value: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind, default=value)


def argument_help(name: str) -> str:
    """Returns one line on an argument."""
    key = f"knobs.{name}.help" if name in KNOBS and not known(ENGLISH, f"api.arg_{name}") else f"api.arg_{name}"
    return say(ENGLISH, key)


def build_docstring(endpoint: str, arguments: Arguments) -> str:
    """Returns an endpoint's docstring, as Gradio parses it."""
    lines = [f"    {name}: {argument_help(name)}" for name in arguments]
    returns = f"    {say(ENGLISH, f'api.{endpoint}_returns')}"
    return "\n".join([say(ENGLISH, f"api.{endpoint}"), "", "Parameters:", *lines, "Returns:", returns])


def _check_number(name: str, field: Number, value: Any) -> float:
    text = as_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
    if refusal := field.refusal(name, text):
        raise Refusal(refusal.key, **{**refusal.values, "value": shortened(value)})
    return field.value(text)


def _check_text(name: str, value: Any, most: int) -> str:
    """Returns `value`. Raises Refusal for a non-text, lone surrogates, and a text that is too long."""
    if not isinstance(value, str) or value != value.encode("utf-8", "replace").decode():
        raise Refusal("api.not_text", name=name)
    if len(value) > most:
        raise Refusal("cursor.too_long", name=name, most=most)
    return value


def _check_seeds(value: Any) -> list[int]:
    """Returns the distinct seeds, in order."""
    if not isinstance(value, list) or not 0 < len(value) <= SEEDS:
        raise Refusal("api.not_seeds", most=SEEDS)
    return list(dict.fromkeys(check("seed", seed) for seed in value))
