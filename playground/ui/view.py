"""A view: the (run, step, sentence) and the cursor that one request asks about, read from its parameters and never trusted."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from playground.config import Refusal
from playground.cursor import FIELDS, choices
from playground.figures.presented import BESIDE, fit_to_page
from playground.figures.tokens import StepName, visible
from playground.figures.tokens import steps as decoder_steps
from playground.queries.activations import SentenceActivations
from playground.queries.reader import REFERENCE, Piece, Reader, SentenceTrace
from playground.queries.references import references
from playground.reading.text import normalise
from playground.rooms.registry import Rooms
from playground.runs.registry import Runs
from playground.runs.replay import ROUNDING
from playground.runs.run import Run
from playground.words import ENGLISH, LANGUAGES, entries, say

EXAMPLES = 20
WIDTH, LEAST_WIDTH, MOST_WIDTH = 720, 280, 1600  # px of a page that doesn't say how wide it is, and the bounds of one that does
NARROW = 700  # px: on less, columns stand one below the other (see static/style.css)
LARGE = 0.52  # of the width: the wide column of a row "large-small"
GAP = 20  # px that a column leaves free beside it
HEIGHT, AROUND, LEAST_HEIGHT = 900, 380, 240  # px: of a window that doesn't say, what stands round a grid in it, the least of a grid
PRESENTED = 1.5  # how many times larger a presenter's page is (see static/present.js)
PRESENTED_FRAME, PRESENTED_NAMES = 120, 110  # px of the window that the frame takes then; of the page, that the names of columns may take


class Screen:
    """Who looks: in which language, on a dark page or a light one, how wide, in a window how high."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self.parameters = parameters
        self.language = language(parameters)
        self.dark = parameters.get("dark") == "1"
        self.width = min(max(self._pixels("width", WIDTH), LEAST_WIDTH), MOST_WIDTH)
        self.presented = parameters.get("present") == "1"  # one picture has the whole page
        height = self._pixels("height", HEIGHT)
        self.page = self.width, int((height - PRESENTED_FRAME) / PRESENTED)  # px: all that a presented picture has
        if self.presented:
            self.width -= int(BESIDE * self.width)
        room = self.page[1] - PRESENTED_NAMES if self.presented else height - AROUND
        self.tallest = max(room, LEAST_HEIGHT)  # of a grid that is to be seen whole

    def _pixels(self, name: str, otherwise: int) -> int:
        text = self.parameters.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise

    def say(self, key: str, **values: object) -> str:
        return say(self.language, key, **values)

    def room(self, share: float | None = None, gap: int = GAP) -> int:
        """Pixels across: of the page, of one of `share` columns with a `gap` beside it, or of that part of the page if it is below 1. A
        presented picture has all of it."""
        if share is None or self.width < NARROW or self.presented:
            return self.width
        return int(self.width * share) if share < 1 else self.width // int(share) - gap

    def below(self, pixels: int) -> int:
        """As tall as a grid may be that has so much more around it than others; a presented picture stands alone."""
        return self.tallest if self.presented else max(self.tallest - pixels, LEAST_HEIGHT)

    def draw(self, figure: Callable[..., dict], *data: Any, share: float | None = None, gap: int = GAP, **options: Any) -> dict:
        """The picture that `figure` makes of `data`, for this screen: as wide as its room (see `room`) and no higher than its window, dark
        or light, in the page's language. An option that is given, such as a `width`, is taken as it is."""
        screen = {"width": self.room(share, gap), "tallest": self.tallest, "dark": self.dark, "labels": self.labels}
        wanted = inspect.signature(figure).parameters
        drawn = figure(*data, **{name: value for name, value in screen.items() if name in wanted} | options)
        return fit_to_page(drawn, *self.page) if self.presented and "layout" in drawn else drawn  # the curves are several, and no grid

    @cached_property
    def labels(self) -> dict[str, str]:
        """The words of the figures in this language, by their short names."""
        return dict(figure_words(self.language))


class View(Screen):
    """What a panel is drawn from. Raises Refusal (on creation) when the run is unknown.

    A field of the cursor is read by `field`, `choice` or `number`, as playground/cursor.py declares it. `used` are the fields that were
    read: what is drawn from the view depends on these and no others.
    """

    def __init__(self, runs: Runs, reader: Reader, parameters: Mapping[str, str], token: str = "", rooms: Rooms | None = None) -> None:
        super().__init__(parameters)
        self.runs, self.open_reader, self.rooms = runs, reader, rooms
        self.token = token  # the visitor's own: says which runs are theirs
        self.run = runs.get(parameters.get("run", ""))
        self.used: set[str] = set()
        self.awaits = parameters.get("awaits", "")  # "open" or "closed" while the answer on screen waits for a whole class

    @property
    def reader(self) -> Reader:
        """Looks inside the run. Raises Refusal for whoever may not see what it learns from: `open_reader` is for what shows none of it."""
        self.require_readable(self.run)
        return self.open_reader

    def require_readable(self, run: Run) -> None:
        """Raises Refusal for a run of somebody's own sentences who has not shared them with whoever looks."""
        if not run.may_be_read_by(self.token):
            raise Refusal("runs.sentences_private")

    def said(self, name: str) -> str:
        """What stands in a field, as it is."""
        self.used.add(name)
        return self.parameters.get(name, "")

    def field(self, name: str) -> str:
        """What a field of text says."""
        return FIELDS[name].read(self.said(name))

    def choice(self, name: str, among: Sequence[str] | None = None) -> str:
        """What a field of a few choices says. `among` are those that this run offers, or the list that another part has of them."""
        return FIELDS[name].read(self.said(name), choices(name) if among is None else among)

    def number(self, name: str, most: float | None = None) -> Any:
        """What a field of numbers says, brought into its bounds and under what is the `most` here; None while none is chosen."""
        return FIELDS[name].read(self.said(name), most)

    @cached_property
    def step(self) -> int | None:
        """The step asked for; None means now."""
        return self.number("step")

    @cached_property
    def text(self) -> str:
        """The sentence asked about: what was typed, or the run's first example."""
        return self.field("text") or self.examples()[0][0]

    def examples(self) -> list[tuple[str, str]]:
        found = examples(self.reader, self.run)
        if not found:
            raise Refusal("page.not_ready")
        return found

    @cached_property
    def look(self) -> SentenceTrace:
        """Everything inside the sentence at the step asked for; the decoder is fed the reference, or its own output when that is asked."""
        return self.reader.look(self.run, self.step, self.text, REFERENCE if self.reference else None)

    @cached_property
    def reference(self) -> bool:
        """Whether the decoder is fed the reference: a panel without that choice may set it."""
        return self.choice("target") == REFERENCE

    @cached_property
    def part(self) -> str:
        return self.choice("part")

    @property
    def attends(self) -> bool:
        """Whether there are heads to look at: a recurrent model has none."""
        return not self.run.experiment.model.alteration.recurrent

    @property
    def weights(self):
        """The attention of the part asked for: (layers, H, Q, K)."""
        return getattr(self.look, self.part)

    def head(self, layers: int, heads: int) -> tuple[int, int] | None:
        """(layer, head) of the cursor, counted from 0 and brought into what this model has; None while none is chosen."""
        layer, head = self.number("layer", layers), self.number("head", heads)
        return (layer - 1, head - 1) if layer and head else None

    def held(self, part: str, layers: int, heads: int) -> tuple[int, int] | None:
        """(layer, head) of `part` that the page already shows of this run, counted from 0; None while it shows none that this model has."""
        found = re.fullmatch(rf"{part}\.(\d{{1,2}})\.(\d{{1,2}})", self.parameters.get("held", ""), re.ASCII)
        layer, head = map(int, found.groups()) if found else (0, 0)
        return (layer - 1, head - 1) if 1 <= layer <= layers and 1 <= head <= heads else None

    def pinned(self, rows: int, columns: int) -> tuple[int, int] | None:
        """The pinned cell (row, column), when it lies inside."""
        return self.inside("q", "k", (rows, columns))

    def inside(self, row: str, column: str, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """The cell that two fields name, when both are chosen and it lies inside of `shape`."""
        at = self.number(row), self.number(column)
        return at if None not in at and at[0] < shape[0] and at[1] < shape[1] else None

    def row(self, rows: int) -> int | None:
        """The row that is asked about, when one is chosen and lies inside."""
        q = self.number("q")
        return q if q is not None and q < rows else None

    @property
    def fed_note(self) -> str:
        """A sentence when the decoder is fed something else than the reference: what somebody chose, or because none is known."""
        if not self.reference:
            return self.say("page.fed_output")
        return self.say("page.fed_newest") if references(self.run, normalise(self.text)) is None else ""

    def step_note(self, actual: int) -> str:
        """A sentence when the parameters are from another step than the one asked for; empty otherwise."""
        return "" if self.step is None or actual == self.step else self.say("page.nearest_step", wanted=self.step, actual=actual)

    def rounding_note(self, actual: int) -> str:
        """A sentence when the parameters of this step were kept rounded; empty otherwise."""
        rounded = self.step is not None and actual in self.run.replay.kept
        return self.say("page.rounded", most=f"{ROUNDING:g}") if rounded else ""


def examples(reader: Reader, run: Run) -> list[tuple[str, str]]:
    """Held-out sentences to look at. The replay's probes come first, a long one before the others: of them every frame has a picture. They
    are the same from the moment a run is made, for everybody."""
    probes = reader.probes(run)
    first = probes[-2:-1] + [pair for pair in probes if pair not in probes[-2:-1]]
    return first + [pair for pair in reader.examples(run, "heldout", EXAMPLES) if pair not in probes]


def unreadable(reader: Reader, run: Run, place: Mapping[str, str]) -> list[str]:
    """Which fields of a cursor that was carried to `run` it can't follow: a sentence with tokens that it doesn't know, a head that it
    hasn't got."""
    model, text, lost = run.experiment.model, FIELDS["text"].read(place.get("text", "")), []
    if text and not reader.can_read(run, text):
        lost.append("text")
    part = FIELDS["part"].read(place.get("part", ""), choices("part"))
    layers = model.encoder_layers if part == "encoder" else model.decoder_layers
    layer, head = (FIELDS[name].read(place.get(name, "")) for name in ("layer", "head"))
    return [*lost, "layer", "head"] if (layer or 0) > layers or (head or 0) > model.n_heads else lost


@cache
def figure_words(language: str) -> dict[str, str]:
    return {name.removeprefix("figures."): text for name, text in entries(language).items() if name.startswith("figures.")}


def language(parameters: Mapping[str, str]) -> str:
    """The language that a request asks for; English when it asks for none of ours."""
    asked = parameters.get("lang", "")
    return asked if asked in LANGUAGES else ENGLISH


def texts(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.text for piece in pieces]


def steps(found: SentenceTrace | SentenceActivations) -> list[StepName]:
    """What the decoder's rows are called: each token that is fed, and the one that comes after it."""
    return decoder_steps(texts(found.fed), texts(found.targets))


def tokens(pieces: tuple[Piece, ...], right: tuple[bool, ...] | None = None, probabilities: tuple[float, ...] | None = None) -> list[dict]:
    """Pieces as the page shows them: text, id, whether the model knows it, whether it is right, how likely it was."""
    shown = []
    for at, piece in enumerate(pieces):
        token = {"text": visible(piece.text), "id": piece.id, "known": piece.known}
        if right is not None and at < len(right):
            token["right"] = right[at]
        if probabilities is not None and at < len(probabilities):
            token["p"] = float(probabilities[at])
        shown.append(token)
    return shown
