"""All files of a frozen page: the page itself, its scripts and Plotly, and the answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from playground.config import Refusal
from playground.cursor import FIELDS
from playground.freeze.packing import OPTIONS, Pack
from playground.freeze.plan import Axis, plan, refused, steps_of
from playground.queries.reader import Reader
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import asset_names, asset_version, raw_asset
from playground.ui.boot import boot, run_card
from playground.ui.panels import BY_FORMULA, PANELS, TABS
from playground.ui.shell import page, theme_css
from playground.ui.titles import title, variant_name
from playground.ui.view import View, examples
from playground.words import LANGUAGES

LEFT_OUT = ("worksheet", "downloads", "later")  # blocks that ask a server for more
Progress = tuple[int, int, str]


def freeze(runs: Runs, reader: Reader, run: Run, count: int, folder: Path) -> Iterator[Progress]:
    """Writes the folder. Says after each file how many answers are there, of how many, and what was written.

    Raises Refusal for a run that has nothing to show, or a folder that has something else in it.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / "frozen.json").exists():
        raise Refusal("page.not_empty", folder=folder)
    pairs = examples(reader, run)[:count]
    if not pairs:
        raise Refusal("page.not_ready")
    planned = {name: axes for name, axes in plan(run, [source for source, _ in pairs]).items() if name not in BY_FORMULA or _by_paper(run)}
    everything, done, panels = sum(map(_size, planned.values())), 0, {}
    assets = f"asset/{asset_version()}"
    _write_assets(folder / assets)
    tabs = tuple(name for name in TABS if name in planned)
    _write(folder / "index.html", page(f"./{assets}", tabs).encode())
    yield 0, everything, "index.html"
    for name, axes in planned.items():
        used: set[str] = set()
        for file, pack in _packs(runs, reader, run, name, axes, used):
            _write(folder / "answers" / file, pack.content())
            done += pack.size
            yield done, everything, f"answers/{file}"
        outside = refused(axes, used)
        panels[name] = {
            "axes": [{"fields": one.fields, "values": one.values} for one in axes],
            "refused": outside,
            "defaults": {field: FIELDS[field].default for field in [*outside, *(f for one in axes for f in one.fields)] if field in FIELDS},
        }
    pages = {lang: _page(runs, reader, run, lang, pairs) for lang in LANGUAGES}
    known = {"run": run.id, "panels": panels, "live": _live(runs, run), "page": pages}
    _write(folder / "frozen.json", orjson.dumps(known, option=OPTIONS))
    yield done, everything, "frozen.json"


def _by_paper(run: Run) -> bool:
    return not variant_name(run, "en")


def _size(axes: Sequence[Axis]) -> int:
    size = 1
    for one in axes:
        size *= len(one.values)
    return size


def _packs(runs: Runs, reader: Reader, run: Run, name: str, axes: Sequence[Axis], used: set[str]) -> Iterator[tuple[str, Pack]]:
    """A file for each sentence, if the panel is about one. `used` learns which fields the panel reads."""
    texts = next((one for one in axes if one.fields == ("text",)), None)
    others = [one for one in axes if one is not texts]
    for at, (text,) in enumerate(texts.values) if texts else [(None, ("",))]:
        pack = Pack()
        for places in itertools.product(*(range(len(one.values)) for one in others)):
            asked = {"run": run.id, "text": text}
            for one, place in zip(others, places, strict=True):
                asked |= dict(zip(one.fields, one.values[place], strict=True))
            pack.add(",".join(map(str, places)), _answer(View(runs, reader, asked), name, used))
        yield f"{name}.pack" if at is None else f"{name}-{at}.pack", pack


def _answer(view: View, name: str, used: set[str]) -> dict[str, Any]:
    try:
        found = PANELS[name](view)
    except Refusal as refusal:
        return {"error": refusal.say(view.language), "key": refusal.key}
    used |= view.used
    found.pop("telling", None)  # a sentence that the page would go to, and that may not be among these
    return {**found, "uses": sorted(view.used), **({"blocks": _without_server(found["blocks"])} if "blocks" in found else {})}


def _without_server(blocks: list[dict]) -> list[dict]:
    """Blocks without those that ask for more, and without files that only a server makes."""
    kept = []
    for block in blocks:
        if block["kind"] in LEFT_OUT:
            continue
        if "blocks" in block:
            block = {**block, "blocks": _without_server(block["blocks"])}
        if block.get("saved"):
            block = {**block, "saved": {**block["saved"], "arrays": None}}
        kept.append(block)
    return kept


def _page(runs: Runs, reader: Reader, run: Run, lang: str, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """What the page reads once, in one language: as if this were the only run there is."""
    asked = {"lang": lang, "run": run.id}
    told = boot(runs, asked, "") | {"first": run.id, "last": "", "ignored": [], "notice": "", "host": ""}
    card = run_card(runs, reader, run.id, "", asked) | {"examples": pairs, "mine": False, "shipped": True, "unreadable": []}
    return {"boot": told, "card": card, "runs": {"mine": [], "shipped": [{"id": run.id, "title": title(run, lang)}]}}


def _live(runs: Runs, run: Run) -> dict[str, Any]:
    """All that the stream of the run says, of which only the frozen steps can be looked at."""
    update, _ = runs.update(run, 0)
    steps = steps_of(run)
    return orjson.loads(update) | {"replay": steps, "parameter_steps": steps}


def _write_assets(folder: Path) -> None:
    for name in asset_names():
        _write(folder / name, raw_asset("frozen_server.js" if name == "server.js" else name))
    _write(folder / "theme.css", theme_css().encode())


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
