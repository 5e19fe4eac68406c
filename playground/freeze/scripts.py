"""The frozen page's scripts, as classic scripts: a browser that opens the page from the disk may load nothing else."""

from __future__ import annotations

import base64
import posixpath
import re

import orjson

from playground.ui.assets import CORE, list_modules, read_raw_asset

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


def answers(name: str, packed: bytes) -> bytes:
    """Returns the script that registers packed answers under a name."""
    return b"(globalThis.playgroundAnswers ??= {})[%b] = \"%b\";\n" % (orjson.dumps(name), base64.b64encode(packed))
