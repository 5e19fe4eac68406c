"""Writes all files of a frozen page: the page itself, its scripts and Plotly, and the answers.

Answers are packed into one file with their common parts stored once: a figure's colours, a head's weights, the source of a function.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from playground.config import Refusal
from playground.cursor import FIELDS
from playground.features.registry import PANELS, check, list_unavailable
from playground.features.shared.queries.activations import activations
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import View, examples
from playground.freeze.plan import Grid, Places, axis, choose_steps, find_unset_fields, plan, size
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import CORE, PLOTLY, STYLE, asset_version, list_assets, list_modules, read_raw_asset
from playground.ui.boot import collect_boot_data, describe_run
from playground.ui.page import build_frozen_page, theme_css
from playground.words import LANGUAGES

LEAST = 96  # bytes of JSON from which a reference pays
OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


class Pack:
    """{"shared": [values], "answers": {key: answer}}; in both {"$": n} stands for the n-th shared value."""

    def __init__(self) -> None:
        self._shared: list[Any] = []
        self._known: dict[bytes, int] = {}
        self._answers: dict[str, Any] = {}

    @property
    def size(self) -> int:
        """The number of answers."""
        return len(self._answers)

    def add(self, key: str, answer: Any) -> None:
        self._answers[key] = self._reference(orjson.loads(orjson.dumps(answer, option=OPTIONS)))

    def content(self) -> bytes:
        """Returns the file: gzipped JSON, deterministic."""
        return gzip.compress(orjson.dumps({"shared": self._shared, "answers": self._answers}), mtime=0)

    def _reference(self, value: Any) -> Any:
        """Replaces the larger parts of a value by references; known parts aren't searched again."""
        if not isinstance(value, dict | list):
            return value
        text = orjson.dumps(value)
        if len(text) < LEAST:
            return value
        if text not in self._known:
            if isinstance(value, dict):
                value = {name: self._reference(part) for name, part in value.items()}
            elif b"{" in text:  # a list of numbers, however deep, is shared whole: a reference to each row would be longer than the rows
                value = [self._reference(part) for part in value]
            self._shared.append(value)
            self._known[text] = len(self._shared) - 1
        return {"$": self._known[text]}


MARKER, FORMER_MARKER = "frozen.js", "frozen.json"  # the page's first script and its former name: they mark a frozen folder
LEFT_OUT = ("worksheet", "downloads")  # blocks that request files from a server
Progress = tuple[int, int, str]


def freeze(runs: Runs, reader: Reader, run: Run, count: int, folder: Path, live: str = "") -> Iterator[Progress]:
    """Writes the folder. Yields after each file (answers done, answers in all, file name). `live` is the address of a playground with a
    server, for features that need one.

    Raises Refusal for a run with nothing to show, an invalid address, or a folder with other contents.
    """
    if folder.exists() and any(folder.iterdir()) and not any((folder / name).exists() for name in (MARKER, FORMER_MARKER)):
        raise Refusal("page.not_empty", folder=folder)
    if live and not live.startswith(("https://", "http://")):
        raise Refusal("page.bad_live", address=live)
    pairs = examples(reader, run)[:count]
    if not pairs:
        raise Refusal("page.not_ready")
    planned = plan(run, [source for source, _ in pairs], _places(reader, run, pairs[0][0]))
    if list_unavailable(run):  # these panels explain why they are empty
        planned |= {name: [[axis("lang", LANGUAGES)]] for name in list_unavailable(run)}
    everything, done, panels = sum(size(grid) for grids in planned.values() for grid in grids), 0, {}
    assets = f"asset/{asset_version()}"
    _write_assets(folder / assets)
    _write(folder / "index.html", build_frozen_page(f"./{assets}", MODULES, live).encode())
    yield 0, everything, "index.html"
    for name, grids in planned.items():
        panels[name] = []
        for at, grid in enumerate(grids):
            used: set[str] = set()
            for number, pack in enumerate(_packs(runs, reader, run, name, grid, used, set(planned))):
                file = _write_answers(folder, f"answers/{name}-{at}-{number}", pack.content())
                done += pack.size
                yield done, everything, file
            panels[name].append(_describe(grid, used))
    pages = {lang: _page(runs, reader, run, lang, pairs) for lang in LANGUAGES}
    defaults = {name: field.default for name, field in FIELDS.items()} | {"text": pairs[0][0]}
    known = {"run": run.id, "panels": panels, "defaults": defaults, "live": _live(runs, run), "page": pages}
    yield done, everything, _write_answers(folder, MARKER.removesuffix(".js"), gzip.compress(orjson.dumps(known, option=OPTIONS), mtime=0))


def _places(reader: Reader, run: Run, text: str) -> Places:
    look = reader.look(run, None, text)
    stages = () if "map" in list_unavailable(run) else tuple(activations(reader, run, None, text)[0].stages)
    return Places(text, stages, len(look.targets), len(look.source))


def _describe(grid: Grid, used: set[str]) -> dict[str, Any]:
    """Returns what the page needs to find an answer in a grid."""
    refused, pins = find_unset_fields(grid, used)
    return {"axes": [{"fields": each.fields, "values": each.values} for each in grid], "refused": refused, "pins": pins}


def _packs(runs: Runs, reader: Reader, run: Run, name: str, grid: Grid, used: set[str], frozen: set[str]) -> Iterator[Pack]:
    """Yields the packs of a grid. Fields that the panel reads are added to `used`; `frozen` are the panels with answers."""
    for place in range(len(grid[0].values)):
        pack = Pack()
        for places in itertools.product([place], *(range(len(each.values)) for each in grid[1:])):
            request = {"run": run.id}
            for each, at in zip(grid, places, strict=True):
                request |= dict(zip(each.fields, each.values[at], strict=True))
            pack.add(",".join(map(str, places[1:])), _answer(View(runs, reader, request), name, used, frozen))
        yield pack


def _answer(view: View, name: str, used: set[str], frozen: set[str]) -> dict[str, Any]:
    answer: dict[str, Any] = {"more": True}
    try:
        check(name, view)
        while answer.pop("more", False):  # long computations continue
            answer = PANELS[name](view)
    except Refusal as refusal:
        return {"error": refusal.say(view.language), "key": refusal.key}
    used |= view.used
    answer.pop("telling", None)  # an example sentence, which may not be among the frozen ones
    return {**answer, "uses": sorted(view.used), **({"blocks": _without_server(answer["blocks"], frozen)} if "blocks" in answer else {})}


def _without_server(blocks: list[dict], frozen: set[str]) -> list[dict]:
    """Drops blocks that need panels beyond the `frozen` ones or a server's files."""
    remaining = []
    for block in blocks:
        if block["kind"] in LEFT_OUT or block.get("act") in ("take", "tune") or (block["kind"] == "later" and block["panel"] not in frozen):
            continue
        if "blocks" in block:
            block = {**block, "blocks": _without_server(block["blocks"], frozen)}
        if block.get("saved"):
            block = {**block, "saved": {**block["saved"], "arrays": None}}
        remaining.append(block)
    return remaining


def _page(runs: Runs, reader: Reader, run: Run, lang: str, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Returns what the page reads once, in one language: as if this were the only run."""
    request = {"lang": lang, "run": run.id}
    state = collect_boot_data(runs, request, "") | {"first": run.id, "last": "", "ignored": [], "notice": "", "host": ""}
    card = describe_run(runs, reader, run.id, "", request) | {"examples": pairs, "mine": False, "shipped": True, "unreadable": []}
    return {"boot": state, "card": card, "runs": {"mine": [], "other": [], "shipped": [{"id": run.id, "title": card["title"]}]}}


def _live(runs: Runs, run: Run) -> dict[str, Any]:
    """Returns the run's stream update, with only the frozen steps selectable."""
    update, _ = runs.update(run, 0)
    steps = choose_steps(run)
    return orjson.loads(update) | {"replay": steps, "parameter_steps": steps}


def _write_assets(folder: Path) -> None:
    for name in list_assets():
        if name == PLOTLY or (name.endswith(".css") and name != STYLE):
            _write(folder / name, read_raw_asset(name))
    _write(folder / MODULES, modules())
    _write(folder / "theme.css", theme_css().encode())


def _write_answers(folder: Path, name: str, packed: bytes) -> str:
    """Writes the script that registers packed answers under a name."""
    script = b"(globalThis.playgroundAnswers ??= {})[%b] = \"%b\";\n" % (orjson.dumps(name), base64.b64encode(packed))
    _write(folder / f"{name}.js", script)
    return f"{name}.js"


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


# --- scripts: classic ones, as a browser that opens the page from the disk may load nothing else ---

MODULES, FIRST, SERVER, FROZEN_SERVER = (f"{CORE}{name}.js" for name in ("frozen_modules", "frozen", "server", "frozen_server"))
IMPORT = re.compile(r'\b(from|import) "(\.[^"]*)"')


def modules() -> bytes:
    """Returns the script with all modules of the page; the frozen server replaces the real one."""
    texts = {name: _module(FROZEN_SERVER if name == SERVER else name) for name in (FIRST, *list_modules())}
    return b"globalThis.playgroundModules = %b;\n%b" % (orjson.dumps(texts), read_raw_asset(MODULES))


def _module(name: str) -> str:
    folder = posixpath.dirname(name)
    text = IMPORT.sub(lambda match: f'{match[1]} "page/{posixpath.normpath(f"{folder}/{match[2]}")}"', read_raw_asset(name).decode())
    return text.replace("import.meta.url", "globalThis.playgroundAssets")

