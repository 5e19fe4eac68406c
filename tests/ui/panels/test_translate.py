"""The tab where decoding is seen: every way of it, through the real routes, whatever a link says."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from playground.config import MAX_POSITIONS, UNK
from playground.queries.results import Piece
from playground.queries.translate import MAX_BEAM, translate
from playground.ui.panels import translate as panel
from playground.words import say
from tests.thoroughness import every_case

LONG = "wir glauben , dass die Ärztin die Frau findet"
EARLY = {"run": "german_english", "text": LONG, "step": 79}  # the model is half taught: beam search loses the right answer


def found(blocks: list[dict], id: str) -> dict | None:
    """The block of that name, in rows as well."""
    for block in blocks:
        inner = block if block["id"] == id and block["kind"] != "row" else found(block.get("blocks", []), id)
        if inner:
            return inner
    return None


def ask(site, **parameters) -> list[dict]:
    return site.panel("translate", **{"run": "reverse", "text": "hello", **parameters})["blocks"]


def lines(blocks: list[dict]) -> list[list[str]]:
    return [[token["text"] for token in line["tokens"]] for line in found(blocks, "candidates")["lines"]]


def written(blocks: list[dict]) -> list[str]:
    """What each step wrote, by the names of the steps."""
    return [row[0].split(" → ")[1] for row in found(blocks, "steps")["rows"]]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("dark", ["", "1"])
def test_beam_search_shows_its_tree_and_the_verdict(site, language, dark):
    blocks = ask(site, **EARLY, method="beam", beam=4, penalty="0.6", lang=language, dark=dark)
    tree, verdict = found(blocks, "tree"), found(blocks, "beam-verdict")["text"]
    reference = "we believe that the doctor finds the woman"
    assert reference in verdict
    assert "finds" in verdict
    assert verdict.startswith(say(language, "decoding.search_error", reference="|", score="", best="").split("|")[0])
    assert {trace["name"] for trace in tree["figure"]["data"]} >= {say(language, f"figures.tree_{name}") for name in ("pruned", "lost")}
    drawn = tree["figure"]["layout"]["meta"]
    assert 0 < drawn["drawn"] < drawn["considered"]
    assert str(drawn["considered"]) in tree["caption"]
    assert f"/ ((5 + {len(lines(blocks)[0])}) / 6)^0.6 = " in tree["caption"]
    assert len(lines(blocks)) == 4


def test_the_score_in_the_caption_can_be_worked_out(site):
    caption = found(ask(site, **EARLY, method="beam", penalty=1.2), "tree")["caption"].replace("−", "-")
    total, length, penalty, score = map(float, re.search(r"(-[\d.]+) / \(\(5 \+ (\d+)\) / 6\)\^([\d.]+) = (-[\d.]+\d)", caption).groups())
    assert (length, penalty) == (len(lines(ask(site, **EARLY, method="beam", penalty=1.2))[0]), 1.2)
    assert total / ((5 + length) / 6) ** penalty == pytest.approx(score, abs=1e-3)


def test_a_found_answer_is_said_to_be_found(site):
    assert found(ask(site, method="beam"), "beam-verdict")["text"] == say("en", "decoding.found")
    assert found(ask(site, method="beam", text="h9llo"), "beam-verdict") is None  # nobody knows the right answer


@pytest.mark.parametrize("width", [280, 390, 1100])
def test_the_tree_keeps_its_size_and_scrolls(site, width):
    layout = found(ask(site, **EARLY, method="beam", beam=10, width=width), "tree")["figure"]["layout"]
    assert layout["height"] <= 860
    assert layout.get("width", width) >= width


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_prefix_is_written_first_and_marked(site, method, language):
    blocks = ask(site, method=method, prefix="xy", lang=language)
    output = found(blocks, "candidates")["lines"][0]["tokens"]
    assert [token["text"] for token in output[:2]] == ["x", "y"]
    assert [bool(token.get("given")) for token in output] == [True, True, *[False] * (len(output) - 2)]
    assert all("right" not in token for token in output)  # no right answer begins so
    assert "xy" in found(blocks, "given")["text"]
    assert found(blocks, "verdict")["text"] == say(language, "decoding.no_verdict")
    assert found(blocks, "at")["value"] >= 2  # a step that the model took by itself
    assert found(ask(site, method=method, prefix="xy", q=0), "likely")["title"] == say("en", "decoding.likely_given", step=1, said="x")


def test_a_prefix_of_the_right_answer_is_continued_to_it(site):
    blocks = ask(site, prefix="ol")
    assert lines(blocks)[0] == [*"olleh", "<eos>"]
    assert found(blocks, "verdict")["text"] == say("en", "page.verdict_right")


def test_an_unknown_prefix_is_named(site):
    blocks = ask(site, **{**EARLY, "prefix": "she xyzzy"})
    assert found(blocks, "unknown-prefix")["text"] == say("en", "decoding.prefix_unknown", words="xyzzy")
    assert lines(blocks)[0][:2] == ["she", "<unk>"]


@pytest.mark.parametrize("prefix", ["", " ", "\u200b", "\x00"])
def test_an_empty_prefix_is_none(site, prefix):
    blocks = ask(site, prefix=prefix)
    assert found(blocks, "given") is None
    assert written(blocks) == [*"olleh", "<eos>"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_prefix_that_leaves_no_room_is_refused_in_a_sentence(site, language):
    answer = site.get("panel/translate", run="reverse", text="hello", prefix="a" * MAX_POSITIONS, lang=language).json()
    assert answer["error"] == say(language, "decoding.prefix_too_long", tokens=MAX_POSITIONS, most=MAX_POSITIONS - 1)


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_the_work_saved_is_told_and_the_same_when_run(site, method):
    on, off = (ask(site, method=method, prefix="xy", cache=cache) for cache in ("on", "off"))
    assert lines(on) == lines(off)
    one, other = found(on, "work")["rows"], found(off, "work")["rows"]
    assert one == [row[:3] for row in other]  # no times where nothing is compared
    (_, few, less), (_, many, more) = one
    assert int(few) < int(many)
    assert int(less.replace(",", "")) < int(more.replace(",", ""))
    assert min(float(row[3]) for row in other) > 0
    assert say("en", "decoding.same") in found(off, "saved")["text"]


def test_sampling_is_decided_by_its_seed_and_its_knobs(site):
    hot = {"method": "sample", "temperature": 3, "text": "hello"}
    assert lines(ask(site, **hot, draw=3)) == lines(ask(site, **hot, draw=3))
    assert len({tuple(lines(ask(site, **hot, draw=draw))[0]) for draw in range(4)}) > 1
    for narrow in ({"top_k": 1}, {"top_p": 0.05}):
        assert lines(ask(site, **hot, **narrow))[0] == written(ask(site))
    assert found(ask(site, **hot, draw=7), "seed")["value"] == "7"


@every_case("value", ["nan", "inf", "-inf", "-1", "1e308", "99999999999999999999", "", "five", "１２", "<b>"])
@every_case("method", ["beam", "sample"])
def test_odd_numbers_are_brought_into_range(site, method, value):
    names = ("beam", "penalty") if method == "beam" else ("temperature", "top_k", "top_p", "draw")
    blocks = ask(site, method=method, **dict.fromkeys((*names, "q", "layer", "head", "width"), value))
    assert lines(blocks)[0]
    if method == "beam":
        assert 1 <= found(blocks, "beam")["value"] <= MAX_BEAM
        assert 0 <= found(blocks, "penalty")["value"] <= 2
    else:
        assert 0.1 <= found(blocks, "temperature")["value"] <= 3
        assert 0.05 <= found(blocks, "top_p")["value"] <= 1


@every_case("name", ["method", "cache"])
@every_case("value", ["", "guess", "<script>", "BEAM", "on ", "\x00"])
def test_an_unknown_choice_is_the_first(site, name, value):
    blocks = ask(site, **{name: value})
    assert (found(blocks, "method")["value"], found(blocks, "cache")["value"]) == ("greedy", "on")


def test_what_the_frame_says_is_not_said_again(site):
    """Source, greedy output and reference stand in the line above; of a beam every hypothesis is new."""
    assert found(ask(site), "candidates") is None
    assert len(lines(ask(site, method="beam", beam=3))) == 3


def test_where_the_frame_shows_another_sentence_it_is_said(site):
    """The frame's line is greedy decoding's. A beam of 1 is greedy; a wide one of a half-taught model finds another sentence."""
    (best, *_), greedy = lines(ask(site, **EARLY, method="beam")), site.reader.look(site.runs.get(EARLY["run"]), EARLY["step"], LONG)
    assert best != [piece.text for piece in greedy.asked]
    assert found(ask(site, **EARLY, method="beam"), "greedy")["text"] == say("en", "decoding.frame_is_greedy")
    assert found(ask(site, **EARLY), "greedy") is None
    assert found(ask(site, method="beam"), "greedy") is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_step_has_its_likeliest_tokens(site, language):
    blocks = ask(site, lang=language)
    table, look = found(blocks, "steps"), site.reader.look(site.runs.get("reverse"), None, "hello")
    assert written(blocks) == [piece.text for piece in look.asked]
    shown = [[f"{one.text} {one.probability:.2f}" for one in row if one.probability >= 0.005] for row in look.likely]
    assert [[cell for cell in row[1:] if cell] for row in table["rows"]] == shown
    assert len({len(row) for row in [table["head"], *table["rows"]]}) == 1


def test_it_opens_at_the_first_mistake_or_where_the_model_hesitates(site):
    wrong = site.panel("translate", **EARLY)
    right = next(row for row in [site.reader.look(site.runs.get("german_english"), 79, LONG).right])
    assert found(wrong["blocks"], "at")["value"] == right.index(False)
    blocks = ask(site)
    at = found(blocks, "at")["value"]
    first = [float(row[1].split()[-1]) for row in found(blocks, "steps")["rows"]]
    assert first[at] == min(first)
    assert f"step {at + 1}:" in found(blocks, "hesitates")["text"]


def test_it_proposes_a_sentence_that_goes_wrong_or_else_the_one_of_the_greatest_doubt(site):
    proposed = site.panel("translate", run="reverse")["telling"]
    look = site.reader.look(site.runs.get("reverse"), None, proposed)
    assert not (look.finished and all(look.right))
    german = site.runs.get("german_english")
    doubt = {text: min(site.reader.look(german, None, text).probabilities) for text, _ in site.reader.examples(german, "heldout", 100)}
    assert site.panel("translate", run="german_english")["telling"] == min(doubt, key=lambda text: doubt[text])
    assert site.panel("translate", run="german_english", method="beam")["telling"] == ""


def test_twenty_draws_are_counted(site):
    blocks = ask(site, method="sample", temperature=2, draws=20)
    rows = found(blocks, "spread")["rows"]
    assert sum(row[1] for row in rows) == 20
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), reverse=True)
    assert len({row[0] for row in rows}) == len(rows) > 1
    drawn = "".join(token for token in lines(blocks)[0] if token != "<eos>")
    assert drawn in {row[0] for row in rows}
    assert all((row[3] == "✓") == (row[0] == "olleh") for row in rows)
    assert found(ask(site, method="sample"), "spread") is None


def test_where_all_draws_are_the_same_a_warmer_one_is_offered(site):
    blocks = ask(site, method="sample", draws=20, temperature=0.1)
    assert len(found(blocks, "spread")["rows"]) == 1
    warmer = found(blocks, "warmer")["to"]
    assert found(ask(site, method="sample", draws=20, **warmer), "warmer") is None


def test_a_word_copied_from_the_source_is_marked_and_said(site, monkeypatch):
    """Only where the output holds <unk> there is a choice; the default is to leave it."""
    assert found(ask(site, text="cap"), "unknown") is None

    def unknown_first(*arguments):
        answer = translate(*arguments)
        best = answer.candidates[0]
        words = ("hello", *[None] * (len(best.pieces) - 1)) if arguments[-1].copy_unknown else ()
        return replace(answer, candidates=(replace(best, pieces=(Piece("<unk>", UNK), *best.pieces[1:]), copied=words),))

    monkeypatch.setattr(panel, "translate", unknown_first)
    left, copied = ask(site, text="cab"), ask(site, text="cab", unknown="copy")
    assert (found(left, "unknown")["value"], found(copied, "unknown")["value"]) == ("off", "copy")
    assert found(left, "copied") is None
    assert "hello" in found(copied, "copied")["text"]
    first, second, *_ = found(copied, "candidates")["lines"][0]["tokens"]
    assert (first["text"], first["id"], first["copied"]) == ("hello", UNK, True)
    assert "copied" not in second
