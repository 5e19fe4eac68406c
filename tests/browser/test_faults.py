"""The server ends in the middle of a training, or the line is gone for a moment: a page that stayed open shows what is."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from socketserver import ThreadingTCPServer
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server

from tests.browser.steps import (  # isort: skip
    PHONE, SMALL, STEPS, eventually, figure, has_address, has_status, link, new_run, number, ready, tab, train, words,
)  # fmt: skip

# Everything that the button has said since.
LISTEN = """(button) => { window.texts = [];
  const changes = { childList: true, characterData: true, subtree: true };
  new MutationObserver(() => window.texts.push(button.textContent)).observe(button, changes); }"""


class Line(ThreadingTCPServer):
    """Leads to the server, until it is cut, as when a telephone leaves its network: what went through it is gone."""

    daemon_threads, is_cut = True, False

    def __init__(self, server: Server) -> None:
        super().__init__(("127.0.0.1", 0), None)
        self.server, self.ends = server, []

    def finish_request(self, near: socket.socket, _: object) -> None:
        if not self.is_cut:
            far = socket.create_connection(("127.0.0.1", self.server.port))
            self.ends += near, far
            Thread(target=carry, args=(far, near), daemon=True).start()
            carry(near, far)

    def cut(self) -> None:
        self.is_cut = True
        for end in self.ends:
            with suppress(OSError):  # it is over
                end.shutdown(socket.SHUT_RDWR)


def carry(near: socket.socket, far: socket.socket) -> None:
    with suppress(OSError):
        while data := near.recv(65536):
            far.sendall(data)
        far.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def line(server: Server) -> Iterator[Line]:
    with Line(server) as line:
        Thread(target=line.serve_forever, daemon=True).start()
        yield line
        line.cut()
        line.shutdown()


def step_of(page: Page) -> int:
    return number(page.locator("#pg-status"), "data-step")


def goes_on(page: Page) -> None:
    """Waits until it shows some steps more."""
    before = step_of(page)
    eventually(page, lambda: step_of(page), lambda step: step > before + 100)


@pytest.mark.fault("a restart under a page that stays open", "the page says in a sentence that its run went on; nobody presses anything")
@pytest.mark.night
def test_a_run_goes_on_by_itself_on_a_page_that_stayed_open(come: Callable[..., Page], server: Server):
    page = come(link(SMALL | {"steps": 4000, "eval_every": 1000}), **PHONE)
    button = page.locator("#pg-train-now")
    button.click()
    run = new_run(page, "reverse")
    expect(button).to_have_text(words("page.stop_now"))
    eventually(page, lambda: step_of(page), lambda step: step > 0)
    button.evaluate(LISTEN)
    server.stop()
    saved = json.loads((server.folder / "data" / "runs" / run / "run.json").read_text())
    assert saved["status"] == "interrupted"
    server.start()
    expect(page.locator("#pg-run-alert")).to_have_text(words("runs.went_on", step=saved["step"]))
    has_status(page, "training")
    eventually(page, lambda: step_of(page), lambda step: step > saved["step"])
    assert words("page.train_now") not in page.evaluate("window.texts")
    button.click()
    has_status(page, "stopped")


@pytest.mark.night
@pytest.mark.parametrize("options", [{}, PHONE])
def test_an_idle_page_says_that_the_server_is_away_until_it_is_back(come: Callable[..., Page], options):
    page = come("?tab=labs", **options)
    for away in (True, False):
        page.context.set_offline(away)
        expect(page.locator("#pg-status[data-away]:visible")).to_have_count(int(away), timeout=10_000)


@pytest.mark.fault("the line of a browser gone while its run trains", "no step is there twice, none is missing")
@pytest.mark.night
def test_a_line_that_was_gone_leaves_no_gap_in_the_curve(come: Callable[..., Page], line: Line):
    page = come(link(SMALL | {"steps": STEPS, "eval_every": 1000}), base_url=f"http://127.0.0.1:{line.server_address[1]}/")
    run = train(page)
    eventually(page, lambda: step_of(page), lambda step: step > 0)
    other = come(link(run=run))  # whose line is not cut, and which sees the run go on
    line.cut()
    goes_on(other)  # what was under way has come
    away = step_of(page)
    goes_on(other)
    assert step_of(page) == away, "the line was not cut"
    line.is_cut = False
    eventually(page, lambda: step_of(page), lambda step: step > away)
    goes_on(page)
    page.locator("#pg-stop").click()
    has_status(page, "stopped")
    loss = figure(page, "loss")
    expect(loss.locator(".pg-pen")).to_have_count(0)
    drawn = loss.evaluate("plot => plot.data[0].x")
    assert drawn == [*range(1, step_of(page) + 1)]
    other.goto(link(run=run))  # a page that was never away
    ready(other)
    tab(other, "training")
    assert figure(other, "loss").evaluate("plot => plot.data[0].x") == drawn


@pytest.mark.fault("two tabs of one visitor that train at the same time", "each shows its own; what one stops has stopped in the other")
@pytest.mark.night
def test_two_tabs_train_at_once(come: Callable[..., Page]):
    page = come(link(SMALL | {"steps": STEPS, "eval_every": 1000}))
    other = page.context.new_page()
    other.goto(link(SMALL | {"steps": STEPS, "eval_every": 1000}))
    ready(other)
    own, other_run = train(page), train(other)
    assert own != other_run
    for each in (page, other):
        has_status(each, "training")
        for run in (own, other_run):
            expect(each.locator(f"#pg-run option[value='{run}']")).to_have_count(1)
    page.locator("#pg-run").select_option(other_run)
    has_status(page, "training")
    page.locator("#pg-stop").click()
    for each in (page, other):
        has_status(each, "stopped")
    other.goto("")  # another day begins at the run that is at work, with its settings
    ready(other)
    has_address(other, run=own)
    has_status(other, "training")
    expect(other.locator("#pg-difference")).to_have_text("")
    expect(other.locator("#knob-d_model input[type=number]")).to_have_value("16")
    other.locator("#pg-stop").click()
    has_status(other, "stopped")


@pytest.mark.night
def test_a_refused_training_leaves_the_page_as_it_was(come: Callable[..., Page]):
    """Pictures are greyed when Train is pressed, and are themselves again when no run came of it."""
    page = come(link(SMALL, run="sort"))
    page.route("**/command*", lambda route: route.fulfill(json={"error": "No."}))
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    page.locator("#pg-train").click()
    expect(page.locator(".pg-notice.error")).to_contain_text("No.")
    expect(page.locator(".stale")).to_have_count(0)
