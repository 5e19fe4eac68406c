"""The printable sheet, through its own route: the student's numbers, no answers before they are asked for, and nothing foreign."""

import re

from playground.inspection.worksheet import KINDS, worksheet
from playground.ui.panels.map.worksheet import page
from playground.words import LANGUAGES


def test_it_shows_what_is_given_and_keeps_the_answers(site):
    sheet, answer = worksheet(7, "decoder"), site.get("worksheet", seed=7, kind="decoder")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    cells = re.findall(r"<td>(.*?)</td>", answer.text)
    given = [number for table in sheet.given for row in table.rows for number in row]
    assert cells == [number.replace("-", "−") for number in given]
    assert set(re.findall(r"<output>(.*?)</output>", answer.text)) == {""}
    assert 'class="key"' not in answer.text
    asked = sum(len(task.way) + len(task.boxes) for task in sheet.tasks)
    assert answer.text.count("<output>") == asked


def test_the_key_fills_every_box(site):
    sheet, text = worksheet(7, "decoder"), site.get("worksheet", seed=7, kind="decoder", key=1).text
    expected = [box.answer for task in sheet.tasks for box in (*task.way, *task.boxes)]
    expected = [number.replace("-1e30", "−10³⁰").replace("-", "−") for number in expected]
    assert re.findall(r"<output>(.*?)</output>", text) == expected


def test_every_seed_is_another_sheet_and_the_same_seed_the_same(site):
    texts = [site.get("worksheet", seed=seed, kind=kind).text for seed in (1, 2, 1) for kind in KINDS]
    assert texts[:3] == texts[6:]
    assert len(set(texts)) == 6


def test_both_languages_have_every_kind(site):
    for language in LANGUAGES:
        for kind in KINDS:
            text = site.get("worksheet", seed=3, kind=kind, lang=language, key=1).text
            assert f'<html lang="{language}">' in text
            assert bool(re.search(r"[\u4e00-\u9fff]", text)) == (language == "zh")
            assert f'value="{kind}" selected' in text
            assert "{" not in text


def test_nothing_foreign_and_no_script(site):
    answer = site.get("worksheet", seed=3)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"https?://|<script|\son\w+=", answer.text)
    stylesheet = re.search(r'<link rel="stylesheet" href="([^"]+)"', answer.text)[1]
    assert site.get(stylesheet).headers["content-type"].startswith("text/css")


def test_no_parameter_breaks_it_or_is_repeated(site):
    usual, markup = site.get("worksheet", seed=1).text, {"kind": '"><img src=x>', "lang": "<b>", "key": "<i>"}
    for parameters in ({"seed": "<script>alert(1)</script>", **markup}, {"seed": "", "kind": "", "lang": "", "key": ""}, {}):
        assert site.get("worksheet", **parameters).text == usual
    for seed in ("-1", "1e9", "99999999999999999999", "１２"):
        assert site.get("worksheet", seed=seed).text == usual


def test_tokens_are_escaped_and_a_large_seed_is_brought_into_range():
    assert "&lt;bos&gt;" in page({"kind": "cross"}, "sheet.css")
    assert "<bos>" not in page({"kind": "cross"}, "sheet.css")
    assert page({"seed": "999999999"}, "x.css") == page({"seed": "999999"}, "x.css")
