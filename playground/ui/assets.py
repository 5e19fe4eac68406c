"""The page's static files: scripts and styles from anywhere below playground/, and Plotly, compressed once and cached by browsers for ever.

Each file is named by its path below playground/, so that relative imports between scripts mean the same in a frozen page, in Node and to
the type checker. Scripts outside ui/static belong to one feature: FEATURES imports them all. A page with a server gets all scripts as one
file and all styles as one: on a line of 300 ms their eighty requests took four seconds.

Plotly is shrunk to the trace types that the page's figures use: less than a third is left to download and parse. The file holds about 1200
CommonJS modules, one statement each (`var name=W((exports,module)=>{…});`), which run at the first call of `name()`; between them are ES
modules, called alike. The last module registers all trace types. With a shorter list there, most modules are unreachable, and are dropped
(tree shaking).
"""

import gzip
import hashlib
import posixpath
import re
from functools import cache
from pathlib import Path

import brotli
import plotly

PREFIX = "/gradio_api/playground"  # of all our routes: the prefix that a Space's proxy forwards
ROOT = Path(__file__).parents[1]
CORE = "ui/static/"  # scripts and styles that belong to no feature
STATIC = ROOT / CORE
MAIN, FEATURES, PLOTLY = f"{CORE}main.js", f"{CORE}features.js", "plotly.js"
SCRIPT, STYLE = f"{CORE}page.js", f"{CORE}page.css"  # all modules, and all styles
TYPES = {".js": "text/javascript", ".css": "text/css"}
# Styles of no feature; those of features come after the first. Order matters: a later file overrides an earlier one.
STYLES = (
    *("style", "frame", "dock", "first_line", "inside", "upload", "downloads", "keyboard", "present", "room", "plain", "space_frame"),
    *("narrow", "contrast"),
)
COMPRESSED = {"br": lambda body: brotli.compress(body, quality=9), "gzip": lambda body: gzip.compress(body, 6)}  # the smaller one first
# Patches where Plotly has no setting: a true minus in cells and hover texts; the colour of numbers on light cells, whose contrast on our
# scales is at worst 2.5 in #444 and 4.9 in #111; and ids of gradients, hatchings and clips without the page's address, which changes with
# the cursor and would break them.
PATCHES = {
    b'.minus===void 0?"-":': '.minus===void 0?"−":'.encode(),
    b',minus:"-"}': ',minus:"−"}'.encode(),
    b'.defaultLine="#444"': b'.defaultLine="#111"',
    b'._baseUrl=r.size()&&r.attr("href")?window.location.href.split("#")[0]:""': b'._baseUrl=""',
}


@cache
def list_assets() -> tuple[str, ...]:
    """Returns the names of all files of the page."""
    files = (file.relative_to(ROOT).as_posix() for suffix in TYPES for file in ROOT.rglob(f"*{suffix}"))
    return PLOTLY, SCRIPT, STYLE, *sorted(files)


def list_modules() -> list[str]:
    """Returns the names of the modules that main.js imports, directly or not, and of itself."""
    apart = (f"{CORE}first", f"{CORE}frozen", PLOTLY, SCRIPT)  # they run before the page, only in a frozen one, or at the first figure
    return [name for name in list_assets() if name.endswith(".js") and not name.startswith(apart)]


def list_styles() -> list[str]:
    """Returns the names of the page's styles, in their order."""
    first, *rest = (f"{CORE}{name}.css" for name in STYLES)
    return [first, *(name for name in list_assets() if name.endswith(".css") and not name.startswith(CORE)), *rest]


IMPORT = re.compile(r'^(import|export) (?:\{ (.*) \} from )?"(\..*)";(?: *//.*)?$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+|\{.*\})", re.MULTILINE)
PLAIN = r"\1 \2"
COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:(?!\*/)[\s\S])*\*/)\n", re.MULTILINE)


def bundle_modules() -> str:
    """Returns main.js with all modules before it, in the order in which a browser runs them: each is a function that returns its exports.
    It takes what our own scripts are: no cycle, imports by name on one line each, and no export that changes."""
    order: list[str] = []
    texts: list[str] = []

    def add(name: str) -> int:
        if name not in order:
            text = IMPORT.sub(lambda match: take(name, *match.groups()), COMMENT.sub("", read_raw_asset(name).decode()))
            if name != MAIN:  # whose exports are those of the file
                names = re.sub(r"\w+: ", "", ", ".join(match[2].strip("{ }") for match in EXPORT.finditer(text)))
                text = f"const $m{len(order)} = (() => {{\n{EXPORT.sub(PLAIN, text)}return {{ {names} }};\n}})();\n"
            order.append(name)
            texts.append(text)
        return order.index(name)

    def take(importer: str, kind: str, names: str | None, path: str) -> str:
        number = add(posixpath.normpath(posixpath.join(posixpath.dirname(importer), path)))
        export = "export " if kind == "export" else ""
        return f"{export}const {{ {names.replace(' as ', ': ')} }} = $m{number};" if names else ""

    add(MAIN)
    return "".join(texts)


def read_raw_asset(name: str) -> bytes:
    """Returns a file of the page. Raises KeyError for an unknown name."""
    if name not in list_assets():
        raise KeyError(name)
    if name == FEATURES:
        return "".join(f'import "../../{module}";\n' for module in list_modules() if not module.startswith(CORE)).encode()
    if name == SCRIPT:
        return bundle_modules().encode()
    if name == STYLE:
        return "".join(f"{read_raw_asset(style).decode()}\n" for style in list_styles()).encode()
    if name != PLOTLY:
        return (ROOT / name).read_bytes()
    body = shake_tree((Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(encoding="utf-8")).encode()
    for theirs, ours in PATCHES.items():
        body = body.replace(theirs, ours)
    return body


@cache
def read_asset(name: str, coding: str = "gzip") -> tuple[bytes, str]:
    """Returns a file of the page, compressed in a coding of COMPRESSED and cached, and its type. Raises KeyError for an unknown name."""
    return COMPRESSED[coding](read_raw_asset(name)), TYPES[Path(name).suffix]


def choose_coding(accepted: str) -> str:
    """Chooses the best coding of COMPRESSED for an Accept-Encoding header; every browser understands gzip."""
    accepted_codings = {word.split(";")[0].strip() for word in accepted.split(",")}
    return next((name for name in COMPRESSED if name in accepted_codings), "gzip")


@cache
def asset_version() -> str:
    """Returns a hash of all files of the page. As a part of the path it lets browsers cache for ever, and keeps a file from importing one
    of another version."""
    digest = hashlib.sha256(f"{plotly.__version__} {PATCHES} {TRACES}".encode())
    for name in list_assets()[3:]:
        digest.update(name.encode() + (ROOT / name).read_bytes())
    return digest.hexdigest()[:12]


def asset_path(name: str) -> str:
    """Returns a file's address relative to the page, valid behind a proxy and inside a Space's frame."""
    return f".{PREFIX}/asset/{asset_version()}/{name}"


TRACES = ("scatter", "bar", "heatmap")  # trace types of our figures; the first is always in Plotly's core
MODULE = re.compile(r"var ([\w$]+)=W\((?:\([\w$,]*\)|[\w$]+)=>\{")
ES_MODULE = re.compile(r"\b([\w$]+)=Ea\(")  # runs an ES module
REGISTERED = re.compile(r"\.register\(\[((?:[\w$]+\(\),?)+)\]\);[\w$]+\.exports=[\w$]+\}\);return ")
NEXT = re.compile(r"\.exports=([\w$]+)\(\)\}|\(([\w$]+)\(\),")  # the module that a module re-exports
CALL = re.compile(r"(?<![\w$.])([\w$]+)\(\)")
BRACKET = re.compile(r"[{}()]")


def shake_tree(source: str) -> str:
    """Returns Plotly's file with the traces of TRACES only; unchanged if its build has another structure."""
    registered = REGISTERED.search(source)
    if not registered:
        return source
    parts = _split_modules(source)
    traces = [name for name in CALL.findall(registered[1]) if _trace_type(parts, name) in TRACES]
    first, *_, last = parts
    parts = {name: text.replace(registered[1], ",".join(f"{name}()" for name in traces)) for name, text in parts.items()}
    owners = {called: name for name, text in parts.items() for called in (name, *ES_MODULE.findall(text)) if called[0] != " "}
    included, pending = {first, last}, [parts[first], parts[last]]
    while pending:
        for name in {owners[called] for called in CALL.findall(pending.pop()) if called in owners} - included:
            included.add(name)
            pending.append(parts[name])
    return "".join(text for name, text in parts.items() if name in included)


def _split_modules(source: str) -> dict[str, str]:
    """Splits the file in order: each module by name, and the text after it by " " and its name."""
    starts = [*MODULE.finditer(source)]
    parts = {" ": source[: starts[0].start()]}
    ends = [*(start.start() for start in starts[1:]), len(source)]
    for start, end in zip(starts, ends, strict=True):
        between = _find_end(source, start.start(), end)
        parts[start[1]], parts[f" {start[1]}"] = source[start.start() : between], source[between:end]
    return parts


def _find_end(source: str, start: int, stop: int) -> int:
    """Returns the end of the statement at `start`, where its brackets are balanced; `stop` where brackets in strings hide it: the text up
    to there then counts as part of it."""
    depth = 0
    for bracket in BRACKET.finditer(source, start, stop):
        depth += 1 if bracket[0] in "({" else -1
        if depth == 0:
            end = bracket.end()
            return end + source.startswith(";", end) if source.endswith("})", start, end) else stop
    return stop


def _trace_type(parts: dict[str, str], name: str) -> str:
    """Returns the trace type that a registered module defines; "" for none."""
    for _ in range(4):
        if trace := re.search(r'moduleType:"trace",name:"(\w+)"', parts[name]):
            return trace[1]
        if not (reexport := NEXT.search(parts[name])):
            return ""
        name = reexport[1] or reexport[2]
    return ""
