"""A frozen page: what is asked beforehand, that packed answers are the same answers, and what a folder is not written over."""

import base64
import gzip
import itertools
import re

import orjson
import pytest

from playground import freeze as freezing
from playground.cursor import FIELDS
from playground.features.registry import PANELS, TABS
from playground.features.shared.view import View, examples
from playground.freeze import Pack
from playground.freeze.plan import STEPS, Choice, Places, axis, choose_steps, heads, plan, size
from playground.runs.registry import SHIPPED
from playground.ui.boot import list_runs
from tests.runs.tiny import refused

FIRST = Places("sentence 0", ("encoder.0.self_attention.weights", "memory"), queries=4, keys=4)
COLOURS = [[at / 10, f"#{at:06x}"] for at in range(11)]


@pytest.fixture(scope="module")
def site():
    with freezing.open_site(SHIPPED, "reverse") as opened:
        yield opened


@pytest.fixture(scope="module")
def run(site):
    return site.run


def unpack_answer(content, key):
    """The answer under `key` of a file, with its references resolved as the page's script does."""
    pack = orjson.loads(gzip.decompress(content))

    def resolve(value):
        if isinstance(value, list):
            return [resolve(item) for item in value]
        if not isinstance(value, dict):
            return value
        return resolve(pack["shared"][value["$"]]) if "$" in value else {name: resolve(item) for name, item in value.items()}

    return resolve(pack["answers"][key])


def question(places) -> frozenset:
    """Returns a request, whichever grid makes it, without fields that have their defaults."""
    pairs = [(field, value) for fields, values in places for field, value in zip(fields, values, strict=True)]
    return frozenset((field, value) for field, value in pairs if field not in FIELDS or value != FIELDS[field].default)


def test_every_tab_of_one_run_is_asked_about_and_nothing_twice(run):
    planned = plan(run, [f"sentence {n}" for n in range(20)], FIRST)
    assert set(TABS) - set(planned) == {"runs", "board"}, "which show several runs"
    assert set(planned) <= set(PANELS)
    splits = {part.fields[0]: {values[0] for values in part.values} for part in planned["data"][0]}["split"]
    assert len(splits) > 1
    assert "file" not in splits, "a frozen page takes no files"
    for name, grids in planned.items():
        assert all(map(size, grids))
        for grid in grids:
            fields = [field for part in grid for field in part.fields]
            assert len(set(fields)) == len(fields), "no field is on two axes"
        axes = [[[(part.fields, values) for values in part.values] for part in grid] for grid in grids]
        questions = [question(places) for grid in axes for places in itertools.product(*grid)]
        assert len(set(questions)) == len(questions), name
    steps = choose_steps(run)
    assert (len(steps), steps, steps[0]) == (STEPS, sorted(set(steps)), run.replay.parameter_steps[0])
    assert set(steps) < set(run.replay.parameter_steps) - {run.step}, "the newest is asked for without a step"
    for part in ("encoder", "decoder", "cross"):
        assert len(set(heads(run, part))) == len(heads(run, part)) == 2 * run.experiment.model.n_heads


def test_every_packed_answer_comes_back_as_it_was_and_what_they_share_is_written_once():
    matrix, names, pack = [[row + column / 100 for column in range(40)] for row in range(40)], ["long enough to be shared " * 4], Pack()
    answers = {str(n): {"n": n, "scale": COLOURS, "figure": {"z": matrix, "names": names}} for n in range(50)}
    answers["7"]["none"] = [None, 0.5, "ü"]
    for key, answer in answers.items():
        pack.add(key, answer)
    assert {key: unpack_answer(pack.content(), key) for key in answers} == answers
    assert pack.size == 50
    text = gzip.decompress(pack.content())
    assert text.count(orjson.dumps(COLOURS[7])) == text.count(orjson.dumps(matrix)) == 1
    assert len(text) < len(orjson.dumps(matrix)) + 50 * len(orjson.dumps([COLOURS, names])) / 3


@pytest.mark.parametrize(
    ("live", "key"), [("", "page.not_empty"), ("example.org", "page.bad_live"), ("javascript:alert(1)", "page.bad_live")]
)
def test_a_folder_with_something_else_in_it_is_left_alone_and_the_live_page_has_a_whole_address(site, tmp_path, live, key):
    (tmp_path / "thesis.txt").write_text("mine")
    folder = tmp_path if key == "page.not_empty" else tmp_path / "frozen"
    with refused(key):
        next(freezing.freeze(site, Choice(live=live), folder))
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_answers_are_the_panels_and_progress_begins_at_once(site, run, tmp_path, monkeypatch):
    text, _ = examples(site.reader, run)[0]
    def grid(run, texts, first, languages):
        return {name: [[axis("text", texts), axis("lang", languages)]] for name in ("sentence", "masks")}

    monkeypatch.setattr(freezing, "plan", grid)
    progress = list(freezing.freeze(site, Choice(sentences=(text, " olleh "), languages=("en",), tabs=("training",)), tmp_path / "frozen"))
    assert [(done, all) for done, all, _ in progress] == [(0, 2), (1, 2), (2, 2), (2, 2)]
    assert freezing._page(site.runs, site.reader, run, "en", [])["runs"].keys() == list_runs(site.runs, "", "en").keys()
    name, content = re.fullmatch(r'.*\["(.*)"\] = "(.*)";\n', (tmp_path / "frozen" / "answers" / "sentence-0-0.js").read_text()).groups()
    view = View(site.runs, site.reader, {"run": run.id, "text": text, "lang": "en"})
    assert name == "answers/sentence-0-0"
    assert unpack_answer(base64.b64decode(content), "0")["output"] == freezing.PANELS["sentence"](view)["output"]
    page = (tmp_path / "frozen" / "index.html").read_text()
    assert page.startswith("<!doctype html>")
    assert all((name in page) == known for name, known in (("to-tab-masks,", 1), ("to-place-use,", 1), ("to-tab-training", 0), ("中文", 0)))
    assert [choice.has("reach") for choice in (Choice(tabs=("masks",)), Choice(tabs=("evaluation",)))] == [False, True]
    (script,) = (tmp_path / "frozen" / "asset").glob("*/ui/static/frozen_modules.js")
    modules = orjson.loads(script.read_text().removeprefix("globalThis.playgroundModules = ").partition(";\n")[0])
    imports = {name for text in modules.values() for name in re.findall(r'\b(?:from|import) "([./p].*?)"', text)}
    assert imports == {f"page/{name}" for name in modules} - {"page/ui/static/frozen.js", "page/ui/static/main.js"}
    assert not [name for name, text in modules.items() if "import.meta" in text]


def test_blocks_that_need_a_server_are_left_out_wherever_they_stand():
    asks, text, take = {"kind": "downloads", "id": "a"}, {"kind": "text", "id": "b"}, {"kind": "button", "id": "t", "act": "take"}
    later, never = ({"kind": "later", "id": name, "panel": name} for name in ("reach", "score"))
    figure = {"kind": "figure", "id": "c", "saved": {"file": "c", "arrays": {"run": "r"}}}
    left = freezing._without_server([{"kind": "row", "id": "r", "blocks": [asks, take, text, later, never, figure]}], {"reach"})
    assert left == [{"kind": "row", "id": "r", "blocks": [text, later, {**figure, "saved": {"file": "c", "arrays": None}}]}]
