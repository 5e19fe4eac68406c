"""The log: one line for each event, whatever a visitor wrote, and nobody's id."""

import io
import logging
import re

import pytest

from playground import logs
from playground.config import Refusal
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import ticket_of
from playground.runs import upload_process
from tests.runs.tiny import LONG, ME, at_rest, refused, tiny

EVIL = "a sentence\nof mine\r\n\u2028{\"level\": \"error\"}"
LOG = logging.getLogger("playground.tests")


@pytest.fixture(params=[logs.Words(), logs.Json()], ids=["words", "json"])
def written(request):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(request.param)
    logger = logging.getLogger("playground")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lambda: stream.getvalue().split("\n")[:-1]
    logger.removeHandler(handler)
    logger.setLevel(before)


def of(written, *names):
    return [line for line in written() if re.search(rf"\b({'|'.join(names)})\b", line)]


def test_one_line_for_whatever_is_said(written):
    logs.event(LOG, "tried", text=EVIL, count=3)
    LOG.warning("read %s", EVIL)
    try:
        raise ValueError(EVIL)
    except ValueError as error:
        logs.event(LOG, "broke", logging.ERROR, error)
        LOG.exception("it broke: %s", "x")
    assert len(written()) == 4
    assert all(line.isprintable() for line in written())
    assert not [line for line in written()[2:] if "sentence" in line]  # an error's words may be a visitor's
    assert "test_logs.py:" in written()[2]


def test_a_runs_life_is_in_it_and_no_id(world, written):
    runs = world.restart(runs_each=1)
    run = at_rest(world, runs.create(tiny(steps=2), ME, label=EVIL))
    runs.create(tiny(steps=LONG), ME)
    with refused("runs.too_many_yours"):
        runs.create(tiny(), ME)
    runs.delete(run.id, ME)
    for name in ("run_made", "run_preparing", "run_training", "run_done", "run_deleted"):
        (line,) = (line for line in of(written, name) if run.name in line)
        assert logs.pseudonym(run.id) in line
        assert logs.pseudonym(run.owner) in line
    (line,) = of(written, "run_refused")
    assert "runs.too_many_yours" in line
    everything = "\n".join(written())
    assert not [secret for secret in (run.id, run.owner, ME, "sentence") if secret in everything]


@pytest.mark.parametrize("written", [logs.Words()], indirect=True)
def test_rooms_and_uploads(tmp_path, written):
    rooms = Rooms(tmp_path)
    code = rooms.open(ME, "en", rooms._clock() + DAY).code
    rooms.end(code, ticket_of(code, ME))
    pairs = b"hello\thallo\n" * 30
    upload_process.read([("secret name.tsv", pairs)])
    with pytest.raises(Refusal):
        upload_process.read([("secret name.tsv", b"")])
    assert [len(of(written, name)) for name in ("room_opened", "room_closed", "upload_read", "upload_refused")] == [1, 1, 1, 1]
    everything = "\n".join(written())
    assert not [secret for secret in (code, "secret", "hallo") if secret in everything]
