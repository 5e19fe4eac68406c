"""The frozen page's scripts, as classic scripts: a browser that opens the page from the disk may load nothing else."""

from __future__ import annotations

import base64
import re

import orjson

from playground.ui.assets import list_assets, read_raw_asset

MODULES = "frozen_modules.js"
IMPORT = re.compile(r'\b(from|import) "\./')


def modules() -> bytes:
    """Returns the script with all modules of the page; the frozen server replaces the real one."""
    names = [name for name in list_assets() if name.endswith(".js") and not name.startswith(("first", "plotly", "frozen_"))]
    texts = {name: _module("frozen_server.js" if name == "server.js" else name) for name in names}
    return b"globalThis.playgroundModules = %b;\n%b" % (orjson.dumps(texts), read_raw_asset(MODULES))


def _module(name: str) -> str:
    text = IMPORT.sub(r'\1 "page/', read_raw_asset(name).decode())
    return text.replace("import.meta.url", "globalThis.playgroundAssets")


def answers(name: str, packed: bytes) -> bytes:
    """Returns the script that registers packed answers under a name."""
    return b"(globalThis.playgroundAnswers ??= {})[%b] = \"%b\";\n" % (orjson.dumps(name), base64.b64encode(packed))
