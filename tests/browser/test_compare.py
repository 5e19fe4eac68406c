"""A student changes one thing, trains twice, and lays both runs over each other; repeats one, and deletes that."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import SMALL, address, drawn, eventually, figure, has_address, has_status, link, tab, train, words


def lines(page: Page, name: str) -> list[dict]:
    """Returns the lines of a picture: a name and its numbers for each."""
    return figure(page, name).evaluate("plot => plot.data.map(({ name, x, y }) => ({ name, x: [...x], y: [...y] }))")


def test_two_runs_are_laid_over_each_other_and_one_is_pinned(visit):
    page = visit(link(SMALL | {"task": "reverse", "eval_every": 20}))
    four = train(page)
    has_status(page, "done")
    page.locator("#knob-n_heads label:has(input[value='1'])").click()
    eventually(page, lambda: address(page).get("n_heads"), lambda heads: heads == "1")
    single = train(page)
    has_status(page, "done")
    panel = tab(page, "runs")
    expect(page.locator("#pg-to-place-compare")).to_have_attribute("aria-selected", "true")
    row = {run: panel.locator(f"tr[data-run='{run}']") for run in (four, single)}
    ticks = panel.locator(".pg-runs input")
    for at in range(ticks.count()):  # whatever was proposed
        if ticks.nth(at).is_checked():
            ticks.nth(at).click()
            drawn(panel)
    has_address(page, runs="-")
    expect(panel.locator(".pg-plot")).to_have_count(0)
    for run in (four, single):
        row[run].locator("input").click()
        expect(row[run].locator("input")).to_be_checked()
        expect(row[run].locator("input")).to_be_focused()  # the table was drawn anew around it
    has_address(page, runs=f"{four},{single}")
    heads = words("knobs.n_heads.label")
    both = eventually(page, lambda: lines(page, "exact_match"), lambda now: len(now) == 2)
    assert [re.search(rf"{heads} (\d)", line["name"])[1] for line in both] == ["2", "1"]
    assert [line["x"] for line in both] == [[20, 40, 60]] * 2
    caption = panel.locator("[data-block='figure exact_match'] .pg-caption")
    expect(caption).to_contain_text(words("compare.after_steps", place=60, runs="").rstrip(" ."))
    expect(panel.locator(".pg-outputs tbody tr")).to_have_count(2)
    figure(page, "head-1")
    page.keyboard.press("Tab")  # out of the table and back: one stop for all of it
    page.keyboard.press("Shift+Tab")
    expect(row[single].locator("input")).to_be_focused()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    line = row[single].locator(".pg-run-line")
    expect(line).to_be_focused()
    page.keyboard.press("Enter")  # all of what is different
    expect(line).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    has_address(page, pin=single)
    drawn(panel)
    expect(line).to_have_attribute("aria-expanded", "true")  # the table was drawn anew around it
    row[four].locator(".pg-run-name").click()
    has_address(page, run=four, runs=f"{four},{single}", pin=single)
    drawn(panel)
    tab(page, "training")
    *own, grey = eventually(page, lambda: lines(page, "loss"), lambda now: len(now) == 3)
    assert grey["x"] == [20, 40, 60]
    assert grey["y"] != own[1]["y"]
    assert len(grey["y"]) == len(own[1]["y"]) == 3
    page.locator("[data-block='button unpin'] button").click()
    has_address(page, pin=None)
    expect(page.locator("[data-block='button unpin']")).to_have_count(0)  # grey is now the run that was trained before this one
    panel = tab(page, "runs")
    row[single].locator("input").click()
    has_address(page, runs=four)
    panel.locator("[data-block='button again-seed'] button").click()
    again = eventually(page, lambda: (address(page).get("runs") or "").split(","), lambda runs: len(runs) == 2)[1]
    new = panel.locator(f"tr[data-run='{again}']")
    expect(new.locator(".pg-run-line")).to_contain_text(f"{words('knobs.seed.label')} 1 → 2")
    eventually(page, lambda: [line["x"] for line in lines(page, "exact_match")][-1], lambda x: x == [20, 40, 60])
    expect(caption).to_contain_text(words("compare.mean_of", name="", count=2)[2:])
    new.locator("[data-at^='delete']").click()
    page.locator("#pg-delete-no").click()
    expect(new).to_have_count(1)
    new.locator("[data-at^='delete']").click()
    page.locator("#pg-delete-yes").click()
    expect(new).to_have_count(0)
    has_address(page, run=four, runs=four)
