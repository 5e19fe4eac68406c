"""Firefox and WebKit: every tab is drawn, a model is trained, a file is read. Each where its programs are installed.

Debian has them: firefox-esr; webkit2gtk-driver and xvfb; and both need `pip install selenium`, as Playwright's channel can't do an ESR.
"""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import pytest

from playground.features.registry import PLACES
from tests.browser.server import Server
from tests.browser.steps import ONE_SENTENCE, link

PATIENCE_S = 120.0
BROWSERS = ("firefox", "webkit")
TABS = tuple(name for names in PLACES.values() for name in names)
WATCH = "window.troubles ??= []; addEventListener('error', event => window.troubles.push(event.message));"
WEBKIT = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.0/MiniBrowser"

pytestmark = pytest.mark.night


class Firefox:
    """Debian's Firefox, by the protocol that it speaks itself: WebDriver BiDi."""

    def __init__(self, closing: ExitStack) -> None:
        program = shutil.which("firefox-esr") or shutil.which("firefox") or pytest.skip("no Firefox here: apt-get install firefox-esr")
        profile = closing.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
        command = [program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        closing.callback(process.wait)
        closing.callback(process.kill)
        address = next(match[0] for line in process.stderr if (match := re.search(r"ws://\S+", line)))
        Thread(target=process.stderr.read, daemon=True).start()  # what it says is read, or it would wait
        websocket = pytest.importorskip("websocket", reason="no WebSocket client here: pip install selenium")
        self._socket = websocket.create_connection(f"{address}/session", timeout=PATIENCE_S, suppress_origin=True)
        closing.callback(self._socket.close)
        self._number = count(1)
        self._ask("session.new", capabilities={})
        self._context = self._ask("browsingContext.getTree")["contexts"][0]["context"]
        self._ask("browsingContext.setViewport", context=self._context, viewport={"width": 1366, "height": 768})

    def _ask(self, method: str, **values: Any) -> Any:
        number = next(self._number)
        self._socket.send(json.dumps({"id": number, "method": method, "params": values}))
        while (answer := json.loads(self._socket.recv())).get("id") != number:
            pass  # an event
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, url: str) -> None:
        self._ask("browsingContext.navigate", context=self._context, url=url, wait="none")

    def run(self, script: str) -> Any:
        target, expression = {"context": self._context}, f"JSON.stringify({script})"
        answer = self._ask("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert answer["type"] == "success", answer
        value = answer["result"].get("value")
        return None if value is None else json.loads(value)

    def choose(self, selector: str, file: Path) -> None:
        locator = {"type": "css", "value": selector}
        (element,) = self._ask("browsingContext.locateNodes", context=self._context, locator=locator)["nodes"]
        self._ask("input.setFiles", context=self._context, element={"sharedId": element["sharedId"]}, files=[str(file)])


class WebKit:
    """WebKitGTK, by Selenium, on an invisible screen."""

    def __init__(self, closing: ExitStack) -> None:
        selenium = pytest.importorskip("selenium.webdriver", reason="no Selenium here: pip install selenium")
        if not (shutil.which("WebKitWebDriver") and shutil.which("Xvfb")):
            pytest.skip("no WebKit here: apt-get install webkit2gtk-driver xvfb")
        screen = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "1366x900x24"], stdout=subprocess.PIPE, text=True)
        closing.callback(screen.kill)
        display = f":{screen.stdout.readline().strip()}"
        options = selenium.WebKitGTKOptions()
        options.binary_location = next((path for path in WEBKIT if Path(path).exists()), "")
        options.add_argument("--automation")
        environment = {"DISPLAY": display, "PATH": "/usr/bin:/bin"}
        service = selenium.WebKitGTKService(executable_path=shutil.which("WebKitWebDriver"), env=environment)
        self._driver = selenium.WebKitGTK(options=options, service=service)
        closing.callback(self._driver.quit)

    def open(self, url: str) -> None:
        self._driver.get(url)

    def run(self, script: str) -> Any:
        return self._driver.execute_script(f"return {script}")

    def choose(self, selector: str, file: Path) -> None:
        self._driver.find_element("css selector", selector).send_keys(str(file))


Browser = Firefox | WebKit


@pytest.fixture(scope="module", params=BROWSERS)
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    with ExitStack() as closing:
        yield {"firefox": Firefox, "webkit": WebKit}[request.param](closing)


def until(browser: Browser, script: str, good: Callable[[Any], object] = bool) -> Any:
    """Waits for a value that is good, and returns it."""
    end = time.monotonic() + PATIENCE_S
    while not good(value := browser.run(script)):
        assert time.monotonic() < end, f"{script} is still {value!r}"
        time.sleep(0.1)
    return value


def attribute(selector: str, name: str) -> str:
    return f"document.querySelector({json.dumps(selector)})?.getAttribute({json.dumps(name)})"


def visit(browser: Browser, url: str) -> None:
    """Opens a page and waits until it is ready."""
    browser.open(url)
    until(browser, attribute("body", "data-playground"), lambda value: value == "ready")
    browser.run(f"(() => {{ {WATCH} }})()")


def is_untroubled(browser: Browser) -> bool:
    return browser.run("JSON.stringify(window.troubles ?? [])") == "[]"


@pytest.mark.parametrize("tab", TABS)
def test_a_tab_is_drawn(browser: Browser, server: Server, tab: str):
    visit(browser, server.url + link(tab=tab))
    panel = f"#pg-panel-{tab}"
    until(browser, attribute(panel, "aria-busy"), lambda value: value == "false")
    until(browser, attribute(panel, "data-drawn"))
    assert browser.run(f"document.querySelector('{panel}').getBoundingClientRect().height") > 100
    assert is_untroubled(browser)


def test_a_model_is_trained(browser: Browser, server: Server):
    visit(browser, server.url + link(ONE_SENTENCE))
    until(browser, attribute("body", "data-knobs"), lambda value: value == "ready")
    before = browser.run(attribute("#pg-status", "data-run"))
    browser.run("document.querySelector('#pg-train').click()")
    until(browser, attribute("#pg-status", "data-run"), lambda run: run not in (None, before))
    until(browser, attribute("#pg-status", "data-status"), lambda status: status == "done")
    assert is_untroubled(browser)


def test_a_file_is_read(browser: Browser, server: Server, tmp_path: Path):
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"one {n}\teins {n}\n" for n in range(40)), encoding="utf-8")
    visit(browser, server.url + link(tab="data"))
    until(browser, "!!document.querySelector('#pg-files input[type=file]')")
    browser.choose("#pg-files input[type=file]", file)
    until(browser, attribute("#pg-reading", "data-pairs"), lambda pairs: pairs == "40")
    assert is_untroubled(browser)
