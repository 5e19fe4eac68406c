"""All files of a frozen page: the page itself, its scripts and Plotly, and the answers."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from playground.config import Refusal
from playground.cursor import FIELDS
from playground.freeze.grids import Grid, axis, outside, size
from playground.freeze.packing import OPTIONS, Pack
from playground.freeze.plan import Places, plan, steps_of
from playground.freeze.scripts import MODULES, answers, modules
from playground.queries.activations import activations
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import PLOTLY, asset_names, asset_version, raw_asset
from playground.ui.boot import boot, run_card
from playground.ui.panels import PANELS, check, unavailable
from playground.ui.shell import page, theme_css
from playground.ui.view import View, examples
from playground.words import LANGUAGES

KNOWN, FORMERLY = "frozen.js", "frozen.json"  # what the page reads first of all, and by which a frozen folder is known
LEFT_OUT = ("worksheet", "downloads")  # blocks that ask a server for files
Progress = tuple[int, int, str]


def freeze(runs: Runs, reader: Reader, run: Run, count: int, folder: Path, live: str = "") -> Iterator[Progress]:
    """Writes the folder. Says after each file how many answers are there, of how many, and what was written. `live` is the address of a
    playground with a server, for whatever needs one.

    Raises Refusal for a run that has nothing to show, an address that can't be opened, or a folder that has something else in it.
    """
    if folder.exists() and any(folder.iterdir()) and not any((folder / name).exists() for name in (KNOWN, FORMERLY)):
        raise Refusal("page.not_empty", folder=folder)
    if live and not live.startswith(("https://", "http://")):
        raise Refusal("page.bad_live", address=live)
    pairs = examples(reader, run)[:count]
    if not pairs:
        raise Refusal("page.not_ready")
    planned = plan(run, [source for source, _ in pairs], _places(reader, run, pairs[0][0]))
    if unavailable(run):  # then these panels say why they show nothing
        planned |= {name: [[axis("lang", LANGUAGES)]] for name in unavailable(run)}
    everything, done, panels = sum(size(grid) for grids in planned.values() for grid in grids), 0, {}
    assets = f"asset/{asset_version()}"
    _write_assets(folder / assets)
    _write(folder / "index.html", page(f"./{assets}", MODULES, live).encode())
    yield 0, everything, "index.html"
    for name, grids in planned.items():
        panels[name] = []
        for at, grid in enumerate(grids):
            used: set[str] = set()
            for number, pack in enumerate(_packs(runs, reader, run, name, grid, used, set(planned))):
                file = _write_answers(folder, f"answers/{name}-{at}-{number}", pack.content())
                done += pack.size
                yield done, everything, file
            panels[name].append(_told(grid, used))
    pages = {lang: _page(runs, reader, run, lang, pairs) for lang in LANGUAGES}
    defaults = {name: field.default for name, field in FIELDS.items()} | {"text": pairs[0][0]}
    known = {"run": run.id, "panels": panels, "defaults": defaults, "live": _live(runs, run), "page": pages}
    yield done, everything, _write_answers(folder, KNOWN.removesuffix(".js"), gzip.compress(orjson.dumps(known, option=OPTIONS), mtime=0))


def _places(reader: Reader, run: Run, text: str) -> Places:
    look = reader.look(run, None, text)
    stages = () if "map" in unavailable(run) else tuple(activations(reader, run, None, text)[0].stages)
    return Places(text, stages, len(look.targets), len(look.source))


def _told(grid: Grid, used: set[str]) -> dict[str, Any]:
    """What the page has to know of a grid to find an answer in it."""
    refused, pins = outside(grid, used)
    return {"axes": [{"fields": one.fields, "values": one.values} for one in grid], "refused": refused, "pins": pins}


def _packs(runs: Runs, reader: Reader, run: Run, name: str, grid: Grid, used: set[str], frozen: set[str]) -> Iterator[Pack]:
    """The files of a grid. `used` learns which fields the panel reads; `frozen` are the panels that have answers."""
    for place in range(len(grid[0].values)):
        pack = Pack()
        for places in itertools.product([place], *(range(len(one.values)) for one in grid[1:])):
            asked = {"run": run.id}
            for one, at in zip(grid, places, strict=True):
                asked |= dict(zip(one.fields, one.values[at], strict=True))
            pack.add(",".join(map(str, places[1:])), _answer(View(runs, reader, asked), name, used, frozen))
        yield pack


def _answer(view: View, name: str, used: set[str], frozen: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"more": True}
    try:
        check(name, view)
        while found.pop("more", False):  # a longer work
            found = PANELS[name](view)
    except Refusal as refusal:
        return {"error": refusal.say(view.language), "key": refusal.key}
    used |= view.used
    found.pop("telling", None)  # a sentence that the page would go to, and that may not be among these
    return {**found, "uses": sorted(view.used), **({"blocks": _without_server(found["blocks"], frozen)} if "blocks" in found else {})}


def _without_server(blocks: list[dict], frozen: set[str]) -> list[dict]:
    """Blocks without those that ask for more than the `frozen` panels, and without files that only a server makes."""
    kept = []
    for block in blocks:
        if block["kind"] in LEFT_OUT or block.get("act") == "take" or (block["kind"] == "later" and block["panel"] not in frozen):
            continue
        if "blocks" in block:
            block = {**block, "blocks": _without_server(block["blocks"], frozen)}
        if block.get("saved"):
            block = {**block, "saved": {**block["saved"], "arrays": None}}
        kept.append(block)
    return kept


def _page(runs: Runs, reader: Reader, run: Run, lang: str, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """What the page reads once, in one language: as if this were the only run there is."""
    asked = {"lang": lang, "run": run.id}
    told = boot(runs, asked, "") | {"first": run.id, "last": "", "ignored": [], "notice": "", "host": ""}
    card = run_card(runs, reader, run.id, "", asked) | {"examples": pairs, "mine": False, "shipped": True, "unreadable": []}
    return {"boot": told, "card": card, "runs": {"mine": [], "other": [], "shipped": [{"id": run.id, "title": card["title"]}]}}


def _live(runs: Runs, run: Run) -> dict[str, Any]:
    """All that the stream of the run says, of which only the frozen steps can be looked at."""
    update, _ = runs.update(run, 0)
    steps = steps_of(run)
    return orjson.loads(update) | {"replay": steps, "parameter_steps": steps}


def _write_assets(folder: Path) -> None:
    for name in asset_names():
        if not name.endswith(".js") or name == PLOTLY:
            _write(folder / name, raw_asset(name))
    _write(folder / MODULES, modules())
    _write(folder / "theme.css", theme_css().encode())


def _write_answers(folder: Path, name: str, packed: bytes) -> str:
    _write(folder / f"{name}.js", answers(name, packed))
    return f"{name}.js"


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
