"""A run as a static folder that a browser opens, from the disk or from any web server: the page with precomputed answers. Here all files of
it: the page itself, its scripts and Plotly, and the answers; plan.py says which requests are precomputed.

The scripts are the page's own. Only its server is replaced (ui/static/frozen_server.js) by one that looks answers up. They are packed into
one file with their common parts stored once: a figure's colours, a head's weights, the source of a function.
"""

import base64
import gzip
import itertools
import posixpath
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from playground.config import Refusal
from playground.cursor import FIELDS
from playground.features.registry import PANELS, PLACES, TABS, check, list_unavailable
from playground.features.shared.queries.activations import activations
from playground.features.shared.queries.reader import Reader
from playground.features.shared.queries.results import references
from playground.features.shared.view import View, examples
from playground.freeze.plan import Choice, Grid, Job, Places, axis, choose_steps, find_unset_fields, plan, size
from playground.runs.limits import Limits
from playground.runs.registry import Runs
from playground.runs.run import Run
from playground.ui.assets import CORE, PLOTLY, STYLE, asset_version, list_assets, list_modules, read_raw_asset
from playground.ui.boot import collect_boot_data, describe_run
from playground.ui.page import build_frozen_page, theme_css

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
LEFT_OUT = ("worksheet", "downloads", "glimpse", "handin")  # blocks that request files from a server
SECONDS, BYTES = 0.045, 650  # of an answer on one core, packed: measured on a shipped run
Progress = tuple[int, int, str]


class Site(NamedTuple):
    """A run among the shipped ones, to which lessons refer, and its reader."""

    runs: Runs
    reader: Reader
    run: Run


@contextmanager
def open_site(folder: Path, name: str) -> Iterator[Site]:
    """Opens the run `name` of a folder of shipped runs; nothing is trained."""
    with ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        runs = Runs(data, folder, replace(Limits.from_environment(), engine="here"))
        stack.callback(runs.close)
        reader = Reader(runs)
        stack.callback(reader.close)
        yield Site(runs, reader, runs.get(name))


class Packed(NamedTuple):
    """A file's content, its number of answers, and the fields that the panel reads."""

    content: bytes
    size: int
    used: set[str]


def freeze(site: Site, choice: Choice, folder: Path, work: Callable[[Sequence[Job]], Iterable[Packed]] | None = None) -> Iterator[Progress]:
    """Writes the folder. Yields after each file (answers done, answers in all, file name). `work` maps `pack_answers` over jobs, by default
    one after the other.

    Raises Refusal for a run with nothing to show, a sentence that it can't read, an invalid address, or a folder with other contents.
    """
    runs, reader, run = site
    if folder.exists() and any(folder.iterdir()) and not any((folder / name).exists() for name in (MARKER, FORMER_MARKER)):
        raise Refusal("page.not_empty", folder=folder)
    if choice.live and not choice.live.startswith(("https://", "http://")):
        raise Refusal("page.bad_live", address=choice.live)
    pairs = _choose_pairs(reader, run, choice)
    planned = plan(run, [source for source, _ in pairs], _places(reader, run, pairs[0][0]), choice.languages)
    if list_unavailable(run):  # these panels explain why they are empty
        planned |= {name: [[axis("lang", choice.languages)]] for name in list_unavailable(run)}
    planned = {name: grids for name, grids in planned.items() if choice.has(name)}
    everything, done, used = sum(size(grid) for grids in planned.values() for grid in grids), 0, {}
    assets = f"asset/{asset_version()}"
    _write_assets(folder / assets)
    hidden = [name for name in TABS if not choice.has(name)]
    places = {place: sorted(names, key=hidden.__contains__) for place, names in PLACES.items()}
    _write(folder / "index.html", build_frozen_page(f"./{assets}", MODULES, choice.live, places, hidden, choice.languages).encode())
    _write(folder / "README.md", README.format(run=run.label or run.name).encode())
    yield 0, everything, "index.html"
    jobs = [
        Job(name, at, grid, place, frozenset(planned))
        for name, grids in planned.items() for at, grid in enumerate(grids) for place in range(len(grid[0].values))
    ]  # fmt: skip
    for job, packed in zip(jobs, (work or partial(map, partial(pack_answers, site)))(jobs), strict=True):
        used.setdefault((job.name, job.at), set()).update(packed.used)
        done += packed.size
        yield done, everything, _write_answers(folder, f"answers/{job.name}-{job.at}-{job.place}", packed.content)
    panels = {name: [_describe(grid, used[name, at]) for at, grid in enumerate(grids)] for name, grids in planned.items()}
    pages = {lang: _page(runs, reader, run, lang, pairs) for lang in choice.languages}
    defaults = {name: field.default for name, field in FIELDS.items()} | {"text": pairs[0][0]}
    known = {"run": run.id, "panels": panels, "defaults": defaults, "live": _live(runs, run), "page": pages}
    yield done, everything, _write_answers(folder, MARKER.removesuffix(".js"), gzip.compress(orjson.dumps(known, option=OPTIONS), mtime=0))


def _choose_pairs(reader: Reader, run: Run, choice: Choice) -> list[tuple[str, str]]:
    """Returns the sentences and their right answers, "" where none is known. Raises Refusal."""
    if choice.sentences:
        texts = dict.fromkeys(reader.read(run, text)[0] for text in choice.sentences)
        return [(text, (references(run, text) or ("",))[0]) for text in texts]
    pairs = examples(reader, run)[: choice.count]
    if not pairs:
        raise Refusal("page.not_ready")
    return pairs


def _places(reader: Reader, run: Run, text: str) -> Places:
    look = reader.look(run, None, text)
    stages = () if "map" in list_unavailable(run) else tuple(activations(reader, run, None, text)[0].stages)
    return Places(text, stages, len(look.targets), len(look.source))


def _describe(grid: Grid, used: set[str]) -> dict[str, Any]:
    """Returns what the page needs to find an answer in a grid."""
    refused, pins = find_unset_fields(grid, used)
    return {"axes": [{"fields": each.fields, "values": each.values} for each in grid], "refused": refused, "pins": pins}


def pack_answers(site: Site, job: Job) -> Packed:
    pack, used = Pack(), set()
    for places in itertools.product([job.place], *(range(len(each.values)) for each in job.grid[1:])):
        request = {"run": site.run.id}
        for each, at in zip(job.grid, places, strict=True):
            request |= dict(zip(each.fields, each.values[at], strict=True))
        pack.add(",".join(map(str, places[1:])), _answer(View(site.runs, site.reader, request), job.name, used, job.panels))
    return Packed(pack.content(), pack.size, used)


_opened = ExitStack()  # of a process that packs for another
_sites: list[Site] = []


def open_site_here(folder: Path, name: str) -> None:
    """Prepares a process for `pack_here`."""
    _sites.append(_opened.enter_context(open_site(folder, name)))


def pack_here(job: Job) -> Packed:
    return pack_answers(_sites[0], job)


def _answer(view: View, name: str, used: set[str], frozen: Set[str]) -> dict[str, Any]:
    answer: dict[str, Any] = {"more": True}
    try:
        check(name, view)
        while answer.pop("more", False):  # long computations continue
            answer = PANELS[name](view)
    except Refusal as refusal:
        return {"error": refusal.say(view.language), "key": refusal.key}
    used |= view.used
    return {**answer, "uses": sorted(view.used), **({"blocks": _without_server(answer["blocks"], frozen)} if "blocks" in answer else {})}


def _without_server(blocks: list[dict], frozen: Set[str]) -> list[dict]:
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


README = """---
title: "Transformer Playground: {run}"
emoji: 🔭
colorFrom: indigo
colorTo: green
sdk: static
app_file: index.html
license: apache-2.0
---

The run *{run}* of a Transformer Playground, frozen: open `index.html` in a browser, or serve this folder with any web server.
"""  # `space --static` uploads it with the folder


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

