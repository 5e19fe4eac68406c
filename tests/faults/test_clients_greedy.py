"""Clients that ask for more than their share are turned away with a sentence, and hurt nobody else. Each test comes from an address of its
own, which a proxy says."""

from __future__ import annotations

import io
import itertools
import time
from contextlib import ExitStack

import httpx
import pytest

from playground.ui.assets import PREFIX
from playground.ui.command import TOKEN
from tests.faults.serving import serving
from tests.runs.tiny import limits

EACH, ADDRESS, STREAMS_EACH, STREAMS, UPLOADS = 20, 60, 3, 5, 4
LIMITS = limits(requests_each=EACH, requests_address=ADDRESS, streams_each=STREAMS_EACH, streams_address=STREAMS, uploads_address=UPLOADS)
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYGROUND_PROXIES", "1")
        with serving(tmp_path_factory.mktemp("runs"), LIMITS) as (_, http):
            yield http


@pytest.fixture
def here(server):
    """A client at an address where nobody was before."""
    with httpx.Client(base_url=server.base_url, timeout=60, headers={"X-Forwarded-For": f"198.51.100.{next(NUMBERS)}"}) as http:
        yield http


def asked(http: httpx.Client, token: str = "", **parameters: str) -> httpx.Response:
    return http.get(f"{PREFIX}/runs", params=parameters, headers={TOKEN: token} if token else {})


def until_refused(ask, most: int = 200) -> tuple[int, httpx.Response]:
    """How often it was answered, and then the refusal."""
    for count in range(most):
        if (answer := ask()).status_code != 200:
            return count, answer
    raise AssertionError(f"{most} were answered")


@pytest.mark.fault("a visitor who asks without end", "is told how long to wait; others are served")
def test_one_visitor_is_told_to_wait_and_how_long(here):
    count, answer = until_refused(lambda: asked(here, "ada"))
    assert EACH <= count < 2 * EACH
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert answer.json()["key"] == "page.too_many_requests"
    assert answer.headers["Retry-After"] in answer.json()["error"]
    assert "请" in asked(here, "ada", lang="zh").json()["error"]
    assert "请" in here.get(f"{PREFIX}/runs", headers={TOKEN: "ada", "Accept-Language": "zh-CN"}).json()["error"]
    assert asked(here, "bob").status_code == 200, "the one in the next seat goes on"
    assert {here.get("/theme.css", headers={TOKEN: "cyd"}).status_code for _ in range(3 * EACH)} == {200}, "files of the page hardly count"


@pytest.mark.fault("a new token for each of requests without end", "the address is told how long to wait")
def test_a_new_token_for_each_request_helps_nobody(here, server):
    tokens = itertools.count()
    count, answer = until_refused(lambda: asked(here, f"token {next(tokens)}"))
    assert ADDRESS <= count < 2 * ADDRESS
    assert answer.json()["key"] == "page.too_many_requests"
    assert asked(server, "elsewhere").status_code == 200


def test_members_of_a_room_are_not_held_up_by_their_address(here):
    def post(action: str, token: str, **values: object) -> dict:
        return here.post(f"{PREFIX}/room/{action}", json=values, headers={TOKEN: token}).json()

    code = post("open", "teacher", language="en", ends=time.time() + 3600)["room"]["code"]
    assert "room" in post("join", "student", code=code, nickname="Ada")
    tokens = itertools.count()
    until_refused(lambda: asked(here, f"token {next(tokens)}"))
    assert asked(here, "a stranger").status_code == 429
    assert asked(here, "student").status_code == 200


def opened(stack: ExitStack, http: httpx.Client, by: str) -> httpx.Response:
    return stack.enter_context(http.stream("GET", f"{PREFIX}/live/reverse", params={"by": by}))


@pytest.mark.fault("a client that opens streams without end", "so many and no more")
def test_so_many_streams_and_no_more(here, server):
    with ExitStack() as stack:
        assert [opened(stack, here, "ada").status_code for _ in range(STREAMS_EACH + 1)] == [200] * STREAMS_EACH + [429]
        bob = [opened(stack, here, "bob") for _ in range(STREAMS - STREAMS_EACH + 1)]
        assert [answer.status_code for answer in bob] == [200] * (STREAMS - STREAMS_EACH) + [429], "all of an address together"
        bob[-1].read()
        assert bob[-1].json()["key"] == "page.too_many_streams"
        assert opened(stack, server, "ada").status_code == 200, "at another address"


@pytest.mark.fault("an address that uploads without end", "is told how long to wait")
def test_uploads_are_counted_for_an_address(here):
    def upload() -> httpx.Response:
        return here.post("/gradio_api/upload", files={"files": ("a.txt", io.BytesIO(b"a\tb\n"))})

    count, answer = until_refused(upload)
    assert count == UPLOADS
    assert (answer.status_code, answer.json()["key"]) == (429, "page.too_many_uploads")
    assert int(answer.headers["Retry-After"]) > 60
