"""The arguments of the endpoints: their types, defaults and bounds, from the declarations of the knobs (config.py) and of the cursor
(cursor.py); their words stand under the same names in words/."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from playground.config import KNOBS, Refusal, check, default, limits
from playground.cursor import FIELDS, MAX_TEXT, Number, choices
from playground.knobs import as_text, shortened
from playground.lessons.controlled import SEEDS
from playground.queries.translate import METHODS
from playground.words import ENGLISH, known, say

REQUIRED = inspect.Parameter.empty
LEAST_OWNER = 16  # characters that nobody guesses
MAX_OWNER = 128  # characters of the word that says whose runs may be changed


@dataclass(frozen=True)
class Argument:
    """Of an endpoint. What it may be is said by the `knob` or the `field` of the cursor of that name, by `choices`, or it is text of at
    most so many characters. None stands for "not given" where that is the default."""

    type: Any
    default: Any = REQUIRED
    knob: str = ""
    field: str = ""
    choices: tuple[str, ...] = ()
    most: int = MAX_TEXT

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def check(self, name: str, value: Any) -> Any:
        """`value` as this argument takes it. Raises Refusal."""
        if value is None and self.default is None:
            return None
        if self.knob:
            return check(self.knob, value)
        if self.field:
            return _number(name, FIELDS[self.field], value)
        if self.choices:
            if value not in self.choices:
                raise Refusal("config.not_a_choice", name=name, value=shortened(value), choices=", ".join(self.choices))
            return value
        return _seeds(value) if self.type == list[int] else _text(name, value, self.most)


def _of_knob(name: str) -> Argument:
    """Choices that are words are said by the list of them."""
    kind, knob = type(default(name)), limits(name)
    return Argument(Literal[knob.choices] if knob.choices and kind is str else kind, default(name), knob=name)


def _of_field(name: str) -> Argument:
    """A number that the page's address knows too; "not given" where it has no default there."""
    field = FIELDS[name]
    return Argument(type(field.step), field.value(field.default), field=name)


def _one_of(names: Sequence[str]) -> Argument:
    """The first is the default."""
    return Argument(Literal[tuple(names)], names[0], choices=tuple(names))


ARGUMENTS: dict[str, Argument] = {
    **{name: _of_knob(name) for name in KNOBS},
    "steps": Argument(int, None, knob="steps"),  # not given: as many as the task needs
    "owner": Argument(str, most=MAX_OWNER),
    "label": Argument(str, ""),
    "run": Argument(str, most=64),
    "text": Argument(str),
    "method": _one_of(METHODS),
    **{name: _of_field(name) for name in ("step", "beam", "penalty", "temperature", "top_k", "top_p", "draw", "layer", "head")},
    "prefix": Argument(str, ""),
    "kind": _one_of(choices("part")),
    "name": Argument(str, most=64),
    "seeds": Argument(list[int], [default("seed")]),
}
Arguments = Mapping[str, Argument]


def these(*names: str) -> dict[str, Argument]:
    """Of an endpoint."""
    return {name: ARGUMENTS[name] for name in names}


def checked(arguments: Arguments, values: Sequence[Any]) -> dict[str, Any]:
    """Every value as its argument takes it. Raises Refusal for the first that can't be so."""
    return {name: argument.check(name, value) for (name, argument), value in zip(arguments.items(), values, strict=True)}


def check_owner(owner: str) -> None:
    """Raises Refusal for one that others might guess, or say as well."""
    if len(owner) < LEAST_OWNER:
        raise Refusal("api.no_owner", least=LEAST_OWNER)


def signature(arguments: Arguments, **filled_in: type) -> inspect.Signature:
    """Of a function with these arguments, and some that Gradio fills in."""
    given = [_parameter(name, argument.type, argument.default) for name, argument in arguments.items()]
    return inspect.Signature([*given, *(_parameter(name, kind, None) for name, kind in filled_in.items())], return_annotation=dict)


def _parameter(name: str, kind: Any, value: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind, default=value)


def help_of(name: str) -> str:
    """One line on an argument."""
    key = f"knobs.{name}.help" if name in KNOBS and not known(ENGLISH, f"api.arg_{name}") else f"api.arg_{name}"
    return say(ENGLISH, key)


def described(endpoint: str, arguments: Arguments) -> str:
    """The docstring of an endpoint, as Gradio reads it."""
    lines = [f"    {name}: {help_of(name)}" for name in arguments]
    returns = f"    {say(ENGLISH, f'api.{endpoint}_returns')}"
    return "\n".join([say(ENGLISH, f"api.{endpoint}"), "", "Parameters:", *lines, "Returns:", returns])


def _number(name: str, field: Number, value: Any) -> float:
    text = as_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
    if refusal := field.refusal(name, text):
        raise Refusal(refusal.key, **{**refusal.values, "value": shortened(value)})
    return field.value(text)


def _text(name: str, value: Any, most: int) -> str:
    """Raises Refusal for what is no text, has half characters, or is too long."""
    if not isinstance(value, str) or value != value.encode("utf-8", "replace").decode():
        raise Refusal("api.not_text", name=name)
    if len(value) > most:
        raise Refusal("cursor.too_long", name=name, most=most)
    return value


def _seeds(value: Any) -> list[int]:
    """Different ones, in their order."""
    if not isinstance(value, list) or not 0 < len(value) <= SEEDS:
        raise Refusal("api.not_seeds", most=SEEDS)
    return list(dict.fromkeys(check("seed", seed) for seed in value))
