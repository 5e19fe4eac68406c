"""A view: the run, step, sentence and cursor of one request, validated from its parameters; and how it formats measured numbers."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from playground.config import Refusal
from playground.cursor import FIELDS, choices
from playground.features.shared import blocks
from playground.features.shared.figures.cells import BESIDE, fit_to_page
from playground.features.shared.figures.theme import Style
from playground.features.shared.figures.tokens import StepName, steps as decoder_steps, visible
from playground.features.shared.queries.activations import EditedActivations, SentenceActivations, activations
from playground.features.shared.queries.reader import REFERENCE, Piece, Reader, SentenceTrace
from playground.features.shared.queries.results import references
from playground.features.shared.queries.validation import Evaluated
from playground.reading.text import normalise
from playground.rooms.registry import Rooms
from playground.runs.registry import Runs
from playground.runs.replay import ROUNDING
from playground.runs.run import Run
from playground.words import ENGLISH, OFFERED, entries, percentage, say

EXAMPLES = 20
WIDTH, MIN_WIDTH, MAX_WIDTH = 720, 280, 2200  # px: the default page width, and its bounds
NARROW = 700  # px: on narrower pages columns stack (see static/style.css)
LARGE = 0.52  # fraction of the width: the wide column of a row "large-small"
GAP = 20  # px beside a column
HEIGHT, GRID_MARGIN, MIN_HEIGHT = 900, 380, 240  # px: the default window height, the space around a grid, a grid's minimum
STAGE_BESIDE, STAGE_NARROW = 232, 900  # px beside the large picture of a row "stage"; of a page on which the row is stacked
STAGE_AROUND, NARROW_STAGE_AROUND = 152, 332  # px of the window above and below that picture: frame and caption; on a telephone places too
STAGE_NAMES, STAGE_RATIO = 150, 1.25  # px of its rows' names; most times as wide as high beside them
PRESENTED = 1.5  # scale of a presenter's page (see static/present.js)
PRESENTED_FRAME, PRESENTED_NAMES = 120, 110  # px: of the window for the frame then; of the page for column names


class Screen:
    """The visitor's display: language, dark or light, page width and window height."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self.parameters = parameters
        self.language = language(parameters)
        self.dark = parameters.get("dark") == "1"
        self.width = min(max(self._pixels("width", WIDTH), MIN_WIDTH), MAX_WIDTH)
        self.presented = parameters.get("present") == "1"  # one picture fills the page
        height = self._pixels("height", HEIGHT)
        self.page = self.width, int((height - PRESENTED_FRAME) / PRESENTED)  # px of a presented picture
        if self.presented:
            self.width -= int(BESIDE * self.width)
        room = self.page[1] - PRESENTED_NAMES if self.presented else height - GRID_MARGIN
        self.tallest = max(room, MIN_HEIGHT)  # px of a grid that is fully visible
        self.stage = self._measure_stage(height)

    def _pixels(self, name: str, otherwise: int) -> int:
        text = self.parameters.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise

    def _measure_stage(self, height: int) -> dict[str, int]:
        """Returns width and, as `stage`, height of the figure that a tab is about (.pg-row.stage of style.css); nothing when presented."""
        if self.presented:
            return {}
        high = max(height - (NARROW_STAGE_AROUND if self.width < NARROW else STAGE_AROUND), MIN_HEIGHT)
        if self.width < STAGE_NARROW:
            return {"width": self.width, "stage": high}
        return {"width": int(min(self.width - STAGE_BESIDE, STAGE_NAMES + STAGE_RATIO * high)), "stage": high}

    def stage_below(self, pixels: int) -> dict[str, int]:
        """Returns `stage` with so many pixels more above it."""
        return self.stage and self.stage | {"stage": max(self.remaining_height(pixels), MIN_HEIGHT)}

    def remaining_height(self, pixels: int) -> int:
        """Returns the pixels of the window's height left for a figure with so many around it besides a stage's; 0 when presented."""
        return max(self.stage.get("stage", 0) - pixels, 0)

    def say(self, key: str, **values: object) -> str:
        return say(self.language, key, **values)

    def room(self, share: float | None = None, gap: int = GAP) -> int:
        """Returns a width in pixels: the page's, one of `share` columns with a `gap` beside it, or that fraction of the page if it is below
        1. A presented picture takes all of it."""
        if share is None or self.width < NARROW or self.presented:
            return self.width
        return int(self.width * share) if share < 1 else self.width // int(share) - gap

    def below(self, pixels: int) -> int:
        """Returns the maximum height of a grid with `pixels` more around it than usual; a presented picture stands alone."""
        return self.tallest if self.presented else max(self.tallest - pixels, MIN_HEIGHT)

    def draw(self, figure: Callable[..., dict], *data: Any, share: float | None = None, gap: int = GAP, **options: Any) -> dict:
        """Draws a figure as wide as its room (see `room`), no higher than the window, dark or light, in the page's language. `width`,
        `tallest`, `stage` and `labels` among the `options` take precedence."""
        screen = {"width": self.room(share, gap), "tallest": self.tallest, "labels": self.labels, "stage": 0}
        style = Style(dark=self.dark, **{name: options.pop(name, value) for name, value in screen.items()})
        picture = figure(*data, style=style, **options)
        return fit_to_page(picture, *self.page) if self.presented and "layout" in picture else picture  # curves are several figures

    @cached_property
    def labels(self) -> dict[str, str]:
        """The figures' words in this language, by short name."""
        return dict(figure_words(self.language))


class View(Screen):
    """The input of a panel. Raises Refusal (on creation) for an unknown run. `field`, `choice` and `number` read a field of the cursor, as
    playground/cursor.py declares it. `used` collects the fields that were read: the drawing depends on these only."""

    def __init__(self, runs: Runs, reader: Reader, parameters: Mapping[str, str], token: str = "", rooms: Rooms | None = None) -> None:
        super().__init__(parameters)
        self.runs, self.open_reader, self.rooms = runs, reader, rooms
        self.token = token  # the visitor's: says which runs are theirs
        self.run = runs.get(parameters.get("run", ""))
        self.used: set[str] = set()
        self.edited: EditedActivations | None = None  # of numbers that are typed over, in a panel that follows them
        self.awaits = parameters.get("awaits", "")  # "open", "closed" or "fixed" while the answer on screen waits for a class

    @property
    def reader(self) -> Reader:
        """The reader of the run. Raises Refusal for visitors who may not read its sentences; `open_reader` is for panels that show none."""
        self.require_readable(self.run)
        return self.open_reader

    def require_readable(self, run: Run) -> None:
        """Raises Refusal for a run of private sentences that are not shared with this visitor."""
        if not run.may_be_read_by(self.token):
            raise Refusal("runs.sentences_private")

    def read_raw(self, name: str) -> str:
        """Reads a field's raw text."""
        self.used.add(name)
        return self.parameters.get(name, "")

    def field(self, name: str) -> str:
        """Reads a text field."""
        return FIELDS[name].read(self.read_raw(name))

    def choice(self, name: str, among: Sequence[str] | None = None) -> str:
        """Reads a field with a few choices: `among` lists those of this run, or of another module."""
        return FIELDS[name].read(self.read_raw(name), choices(name) if among is None else among)

    def number(self, name: str, most: float | None = None) -> Any:
        """Reads a number, clamped to its bounds and to `most`; None without a choice."""
        return FIELDS[name].read(self.read_raw(name), most)

    def offer(self, id: str, field: str, key: str, among: Sequence[str] | None = None, value: str | None = None) -> blocks.Block:
        """Builds the choice of a field's value: `among` some, or all that it declares, named by the words `key` and each by `key`_value.
        `value` is the chosen one, by default the cursor's."""
        options = [{"value": each, "label": self.say(f"{key}_{each}")} for each in (choices(field) if among is None else among)]
        return blocks.choice(id, field, self.say(key), options, self.choice(field) if value is None else value)

    def offer_feed(self) -> blocks.Block:
        """Builds the choice of the decoder's input: its own output only, for a sentence without a known reference."""
        return self.offer("feed", "target", "page.feed", *([] if self.has_reference else (["output"], "output")))

    @cached_property
    def step(self) -> int | None:
        """The requested step; None means now."""
        return self.number("step")

    @cached_property
    def text(self) -> str:
        """The requested sentence: typed, or the run's first example."""
        return self.field("text") or self.examples()[0][0]

    def examples(self) -> list[tuple[str, str]]:
        pairs = examples(self.reader, self.run)
        if not pairs:
            raise Refusal("page.not_ready")
        return pairs

    @cached_property
    def look(self) -> SentenceTrace:
        """All activations of the sentence at the requested step; the decoder is fed the reference, or on request its own output."""
        return self.reader.look(self.run, self.step, self.text, REFERENCE if self.reference else None)

    @property
    def activations(self) -> SentenceActivations:
        """Every stage of the sentence, with the edits that the panel follows."""
        return self.edited.after if self.edited else activations(self.reader, self.run, self.step, self.text, self.reference)[0]

    @cached_property
    def reference(self) -> bool:
        """Whether the decoder is fed the reference: a panel without that choice may set it."""
        return self.choice("target") == REFERENCE

    @cached_property
    def part(self) -> str:
        return self.choice("part")

    @property
    def attends(self) -> bool:
        """Whether the model has attention heads: a recurrent one has none."""
        return not self.run.experiment.model.alteration.recurrent

    @property
    def weights(self):
        """The attention of the requested part: (layers, H, Q, K)."""
        return getattr(self.look, self.part)

    def head(self, layers: int, heads: int) -> tuple[int, int] | None:
        """Returns the cursor's (layer, head), counted from 0 and clamped to this model; None without a choice."""
        layer, head = self.number("layer", layers), self.number("head", heads)
        return (layer - 1, head - 1) if layer and head else None

    def shown_head(self, part: str, layers: int, heads: int) -> tuple[int, int] | None:
        """Returns the (layer, head) of `part` that the page already shows of this run, counted from 0; None if this model has no such head.
        """
        head_match = re.fullmatch(rf"{part}\.(\d{{1,2}})\.(\d{{1,2}})", self.parameters.get("held", ""), re.ASCII)
        layer, head = map(int, head_match.groups()) if head_match else (0, 0)
        return (layer - 1, head - 1) if 1 <= layer <= layers and 1 <= head <= heads else None

    def pinned(self, rows: int, columns: int) -> tuple[int, int] | None:
        """Returns the pinned cell (row, column), if it lies inside."""
        return self.inside("q", "k", (rows, columns))

    def inside(self, row: str, column: str, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """Returns the cell named by two fields, if both are chosen and it lies inside `shape`."""
        at = self.number(row), self.number(column)
        return at if None not in at and at[0] < shape[0] and at[1] < shape[1] else None

    def row(self, rows: int) -> int | None:
        """Returns the chosen row, if it lies inside."""
        q = self.number("q")
        return q if q is not None and q < rows else None

    @property
    def fed_note(self) -> str:
        """A sentence if the decoder is not fed the reference: by choice, or since none is known."""
        if not self.reference:
            return self.say("page.fed_output")
        return "" if self.has_reference else self.say("page.fed_newest")

    @cached_property
    def has_reference(self) -> bool:
        return references(self.run, normalise(self.text)) is not None

    def step_note(self, actual: int) -> str:
        """Returns a sentence if the parameters are of another step than requested, else ""."""
        return "" if self.step is None or actual == self.step else self.say("page.nearest_step", wanted=self.step, actual=actual)

    def rounding_note(self, actual: int) -> str:
        """Returns a sentence if the parameters of this step were stored rounded, else ""."""
        rounded = self.step is not None and actual in self.run.replay.parameters_by_step
        return self.say("page.rounded", most=f"{ROUNDING:g}") if rounded else ""


def examples(reader: Reader, run: Run) -> list[tuple[str, str]]:
    """Returns held-out sentences to look at. The replay's probes, of which every frame has a picture, come first, a long one leading. They
    are fixed from a run's creation, and the same for all visitors."""
    probes = reader.probes(run)
    first = probes[-2:-1] + [pair for pair in probes if pair not in probes[-2:-1]]
    return first + [pair for pair in reader.examples(run, "heldout", EXAMPLES) if pair not in probes]


@cache
def figure_words(language: str) -> dict[str, str]:
    return {name.removeprefix("figures."): text for name, text in entries(language).items() if name.startswith("figures.")}


def language(parameters: Mapping[str, str]) -> str:
    """Returns the language that a request names; English for an unknown one."""
    requested = parameters.get("lang", "")
    return requested if requested in OFFERED else ENGLISH


def texts(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.text for piece in pieces]


def steps(trace: SentenceTrace | SentenceActivations) -> list[StepName]:
    """Names the decoder's rows: each fed token and its next token."""
    return decoder_steps(texts(trace.fed), texts(trace.targets))


def tokens(pieces: tuple[Piece, ...], right: tuple[bool, ...] | None = None, probabilities: tuple[float, ...] | None = None) -> list[dict]:
    """Formats pieces for the page: text, id, whether the model knows it, whether it is right, its probability."""
    page_tokens = []
    for at, piece in enumerate(pieces):
        token = {"text": visible(piece.text), "id": piece.id, "known": piece.known}
        if right is not None and at < len(right):
            token["right"] = right[at]
        if probabilities is not None and at < len(probabilities):
            token["p"] = float(probabilities[at])
        page_tokens.append(token)
    return page_tokens


def percent(share: float, digits: int = 1) -> str:
    return f"{percentage(share, digits)}\N{NO-BREAK SPACE}%"


def measured(screen: Screen, value: str, pairs: int, every: int) -> str:
    """Formats a number measured on `pairs` of `every` sentences."""
    return value if pairs == every else screen.say("page.sample", value=value, pairs=f"{pairs:,}", all=f"{every:,}")


def format_share(screen: Screen, evaluated: Evaluated, name: str, format: Callable[[float], str] = percent) -> str:
    """Formats a fraction of an evaluation by its name, such as "exact_match"."""
    return measured(screen, format(getattr(evaluated.validation, name)), evaluated.validation.pairs, evaluated.of)
