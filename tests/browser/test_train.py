"""A visitor comes to the page, looks at what is there, trains a model, watches it learn, and goes back to see how it came about."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import ready

from tests.browser.steps import (  # isort: skip
    ONE_SENTENCE, SMALL, STEPS, address, decoder_rows, drawn, drawn_from, eventually, figure, has_address, has_status, link, new_run,
    number, output, press_tab, replay_of, watch_values, tab, train, type_sentence, words,
)  # fmt: skip

RIGHT = ["i", "want", "a", "beer"]
WATCH = """() => {
  window.watched = { points: [], right: [], aloud: [], gap: [] };
  const note = (list, value) => list.at(-1) !== value && list.push(value), at = (name) => document.getElementById(`pg-${name}`);
  new MutationObserver(([{ target: t }]) => t.innerText && note(watched.aloud, t.innerText)).observe(at('announced'), { childList: true });
  const look = () => {
    /Pau/.test(at("replay-play").ariaLabel) && note(watched.gap, at("replay-step").value.match(/\\d+/) - at("panel-training").dataset.step);
    const { status, run } = document.querySelector('#pg-status').dataset, plot = document.querySelector('#pg-figure-loss');
    if (requestAnimationFrame(look) && status !== 'training') return;
    if (plot?.layout?.uirevision === run) note(watched.points, Number(plot.dataset.points));
    note(watched.right, document.querySelectorAll('.pg-probes:not(.stale) .pg-probe-output .pg-chip.right').length);
  }; look(); }"""


def test_first_look(visit: Callable[..., Page]):
    """Before any click: a sentence, its translation, its cross-attention with labels, and the curves of how the model got there."""
    page = visit()
    sentence = page.locator("#pg-sentence").input_value().split()
    assert sentence == ["wir", "glauben", ",", "dass", "die", "Ärztin", "die", "Frau", "findet"]
    translation = ["we", "believe", "that", "the", "doctor", "finds", "the", "woman"]
    expect(page.locator("#pg-result .pg-chip:visible")).to_have_text(translation)  # the source stands in the field
    expect(page.locator("#pg-result .pg-verdict.right")).to_be_visible()
    cross = figure(page, "learn-cross")
    expect(cross.locator(".xtick text")).to_have_text([*sentence, "<eos>"])
    assert cross.evaluate("plot => plot.layout.meta.rows") == decoder_rows(translation)
    drawn(page.locator("#pg-panel-training"))
    cells = drawn_from(page, "learn-cross")["z"]
    assert (len(cells), len(cells[0])) == (len(translation) + 1, len(sentence) + 1)
    assert all(abs(sum(row) - 1) < 0.02 for row in cells)
    caption = page.locator("[data-block='figure learn-cross'] .pg-caption")
    expect(caption).to_contain_text("To output “finds”, this head attends most to “findet”")
    page.locator("#pg-figure-loss").scroll_into_view_if_needed()
    eventually(page, lambda: number(page.locator("#pg-figure-loss"), "data-points"), lambda points: points > 40)
    has_status(page, "done")
    expect(page.locator("#pg-run-note")).to_contain_text(words("page.note_shipped"))
    expect(page.locator("#pg-pause")).to_be_disabled()


def test_train_and_watch_and_wind_back(visit):
    """The curve grows and the sentence turns right while a run trains; the next one ends and says so; the replay plays; a fork starts."""
    slow = ONE_SENTENCE | {"optimiser": "adam", "schedule": "constant", "learning_rate": 1e-4, "warmup": 0}
    page = visit(link(slow | {"steps": STEPS, "eval_every": 300}))
    page.evaluate(WATCH)
    loss, watched = page.locator("#pg-figure-loss"), lambda: page.evaluate("watched")
    loss.scroll_into_view_if_needed()  # it is drawn while it is in sight
    page.route(re.compile("panel/training"), lambda route: route.fulfill(json={"error": "soon", "key": "runs.nothing_yet"}))
    train(page)
    expect(page.locator("#pg-panel-training[data-early=soon] [data-block='figure learn-cross'] .pg-plot")).to_be_hidden()
    page.unroute_all()
    eventually(page, watched, lambda now: len(now["points"]) >= 2 and min(now["right"], default=5) < 5 == now["right"][-1])
    page.locator("#pg-stop").click()
    has_status(page, "stopped")
    page.goto(link(slow | {"steps": 300, "eval_every": 30}))
    ready(page)
    page.evaluate(WATCH)
    run = train(page)
    has_status(page, "done")
    name = page.locator("#pg-run option:checked").inner_text()
    has_address(page, run=run, tab=None, step=None)
    learn = page.locator("#pg-panel-training")
    expect(learn).to_have_attribute("data-run", run)
    expect(page.locator("#pg-status")).to_contain_text("exact match 100.0 %")
    expect(page.locator(".pg-probes tr .pg-probe-output .pg-chip.right")).to_have_text([*RIGHT, "<eos>"])
    eventually(page, lambda: [len(line["x"]) for line in lines(page, "loss")][:2], lambda counts: counts == [300, 10])
    expect(page.locator("#pg-figure-learn-cross .xtick text")).to_have_text(["ich", "mochte", "ein", "bier", "<eos>"])
    expect(output(page)).to_have_text(RIGHT)
    over = lambda: words("page.training_over", status=page.locator("#pg-status").inner_text())  # noqa: E731
    aloud = eventually(page, lambda: watched()["aloud"], lambda now: now[-1:] == [over()])
    assert aloud[0] == words("page.started", name=name)  # what is read aloud: its beginning, its quarters and its end
    assert set(aloud[1:-1]) <= {words("page.training_part", percent=percent) for percent in (25, 50, 75)}
    expect(page.locator("#pg-go")).to_have_css("position", "sticky")  # Train stays in sight above a control that a sentence leads to
    count = number(replay := replay_of(page, frames=10), "data-frames")
    expect(replay).to_have_value(str(count))
    replay.fill("0")
    has_address(page, step="0")
    expect(learn).to_have_attribute("data-step", "0")
    expect(output(page)).not_to_have_text(RIGHT)
    expect(page.locator("#pg-result .pg-verdict.wrong")).to_be_visible()
    expect(learn.locator(".pg-probes .pg-wrong")).to_have_count(1)
    expect(page.locator("#pg-replay-step")).to_have_text("step 0/300")
    drawn(learn)
    eventually(page, lambda: loss.evaluate("plot => plot.layout.shapes[0]"), lambda mark: mark["visible"] is True and mark["x0"] == 0)
    expect(tab(page, "attention")).to_have_attribute("data-step", "0")
    press_tab(page, "training")
    replay.fill(str(count - 3))
    play, labels = page.locator("#pg-replay-play"), watch_values(page, "#pg-replay-play", "aria-label")
    play.click()
    eventually(page, labels, lambda now: now == [words("page.replay_pause"), words("page.replay_play")])  # it ends by itself
    has_address(page, step=None)
    eventually(page, lambda: watched()["gap"], lambda gap: gap[-1:] == [0] and len(gap) < 5)  # the first is the slider's
    page.locator("#pg-replay-back").click()
    last = eventually(page, lambda: address(page).get("step"), bool)
    page.locator("#pg-replay-back").click()
    eventually(page, lambda: int(address(page)["step"]), lambda step: step < int(last))
    page.locator("#pg-replay-forward").click()
    has_address(page, step=last)
    replay.fill(str(count // 2))
    step = eventually(page, lambda: int(address(page).get("step", 0)), lambda step: 0 < step < int(last))
    page.locator("#pg-fork").click()
    new_run(page, run)
    has_address(page, step=None)
    has_status(page, "done")
    expect(page.locator("#pg-facts")).to_contain_text(re.compile(rf"from \S+ at step {step}"))
    curves = "plot => plot.data.filter((trace) => trace.meta?.y === 'loss').map((trace) => trace.x)"
    eventually(page, lambda: figure(page, "loss").evaluate(curves), lambda now: now == [[*range(1, step + 1)], [*range(step + 1, 301)]])
    expect(page.locator("#pg-run option").nth(1)).to_have_attribute("value", run)


def test_all_heads_are_live_until_one_settles_and_stays(visit):
    """No head is the head until one follows a pattern: it is named, grows into the large picture and stays, also in the replay."""
    page = visit(link(), reduced_motion="no-preference")
    learn, name = page.locator("#pg-panel-training"), re.compile("^Head [0-9] of layer [0-9] (begins|has learnt) to ")
    heads, large = learn.locator(".pg-heads"), learn.locator("#pg-figure-learn-cross")
    caption = learn.locator("[data-block='figure learn-cross'] .pg-caption")
    pressed = lambda: heads.locator("[aria-pressed=true]").evaluate_all("all => all.map(({ dataset }) => [dataset.layer, dataset.head])")  # noqa: E731
    expect(large).to_be_visible()
    train(page)
    expect(heads).to_have_attribute("data-mode", "all")
    expect(heads.locator("canvas")).to_have_count(1)
    assert heads.locator(".pg-spot").evaluate_all("all => Math.min(...all.map((spot) => spot.offsetWidth))") >= 90
    expect(large).to_have_count(0)
    expect(heads.locator(".pg-label")).to_contain_text("none follows a pattern yet")
    expect(heads).to_have_attribute("data-mode", "small")
    first = pressed()
    expect(caption).to_contain_text(name)
    expect(large).to_be_visible()
    expect(learn).not_to_have_class(re.compile("pg-arriving"))
    has_status(page, "done")
    drawn(learn)
    assert pressed() == first, "the large picture is another head's at the end"
    replay = replay_of(page, frames=10)
    replay.fill("0")
    expect(heads).to_have_attribute("data-mode", "all")
    expect(large).to_have_count(0)
    replay.fill(str(number(replay, "data-frames") - 1))
    expect(heads).to_have_attribute("data-mode", "small")
    expect(caption).to_contain_text(name)
    assert pressed() == first
    learn.locator("[data-block='choice view'] [data-value=lines]").click()
    threads = learn.locator(".pg-strands")
    expect(threads).to_be_visible()
    threads.locator("rect[data-side=query]").first.hover()
    expect(page.locator("#pg-result .pg-chip.query")).to_have_attribute("data-token", "tgt-0")


def test_what_it_can_not_read_is_marked_where_it_stands_and_cuts_no_output(visit):
    page = visit(link(run="german_english", text="wir glauben , dass der Elefant die Frau findet"))
    expect(page.locator("#pg-unknown")).to_contain_text(re.compile("Not in the vocabulary:.*Elefant→.+"))
    right_of, beyond = "row.querySelector('.pg-chip.unknown').getBoundingClientRect().right", "row.scrollWidth - row.clientWidth"
    measure = f"row => [{beyond}, {right_of} < row.querySelector('.pg-arrow').getBoundingClientRect().left]"
    eventually(page, lambda: page.locator("#pg-result").evaluate(measure), lambda now: now == [0, True])  # the row is fitted once drawn
    page.locator("#pg-known-words").click()
    expect(page.locator("#pg-dialog p")).to_contain_text("Frau")


def test_translate_while_it_trains_then_pause_step_resume_and_stop(visit):
    """Every way of decoding, and a word it can't read; then the next step is seen before it is made."""
    page = visit(link(SMALL | {"steps": STEPS, "eval_every": 1000}, text="hello"))
    unknown = page.locator("#pg-unknown")
    expect(unknown).to_be_hidden()
    type_sentence(page, "Hello w")
    expect(unknown).to_contain_text("H and ␣: read as <unk>")
    page.locator("#pg-use").click()
    has_address(page, text="hellow")
    expect(unknown).to_be_hidden()
    expect(output(page)).to_have_text([*"wolleh"])
    run = train(page)
    has_status(page, "training")
    status, begun = page.locator("#pg-status"), number(page.locator("#pg-status"), "data-step")
    panel = tab(page, "translate")
    lines = panel.locator("[data-block='chips candidates'] .pg-chipline")
    type_sentence(page, "hello")
    expect(lines).to_have_count(0)  # source, output and reference stand above
    panel.locator("[data-value=beam]").click()
    has_address(page, method="beam", text="hello")
    expect(lines).to_have_count(4)
    drawn(panel)  # and what is read at one stroke is of one answer, whatever the run does meanwhile
    scores = [float(re.search(r"score (−?[\d.]+)", label)[1].replace("−", "-")) for label in lines.locator(".pg-label").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    panel.locator("[data-block='slider beam'] input").fill("2")
    has_address(page, beam="2")
    expect(lines).to_have_count(2)
    panel.locator("[data-value=sample]").click()
    expect(lines).to_have_count(1)
    panel.locator("[data-block='button draw'] button").click()
    has_address(page, method="sample", draw="2")
    panel.locator("[data-block='choice method'] [data-value='']").click()  # greedy, the default here
    has_address(page, method=None)
    type_sentence(page, "hé9lo")
    expect(panel.locator("[data-block='text unknown']")).to_have_text(words("page.unknown_words", words="é, 9"))
    expect(page.locator("#pg-result .pg-chip.unknown")).to_have_text(["é", "9"])
    type_sentence(page, "abcd")
    expect(figure(page, "looks").locator(".xtick text")).to_have_text([*"abcd", "<eos>"])
    at = panel.locator("[data-block='slider at'] input")  # while it knows little, what it writes may be one token, with no second step
    eventually(page, lambda: at.get_attribute("max") != "0" and (at.fill("1"), address(page).get("q"))[1], lambda q: q == "1")
    expect(panel.locator("[data-block='figure likely'] h3")).to_contain_text("Step 2:")
    eventually(page, lambda: number(status, "data-step"), lambda step: step > begun + 10)
    press_tab(page, "training")
    expect(page.locator("#pg-step")).to_be_disabled()
    page.locator("#pg-pause").click()
    has_status(page, "paused")
    paused = number(status, "data-step")
    assert begun < paused < STEPS
    press_tab(page, "step")
    slow = page.locator("#pg-panel-step")
    drawn(slow)
    expect(slow).to_contain_text(words("step.exact_next"))
    expect(slow).to_contain_text(words("step.moment", step=f"{paused + 1:,}"))
    page.locator("#pg-step").click()
    expect(status).to_contain_text(f"paused at step {paused + 1:,} of {STEPS:,}")
    expect(slow).to_contain_text(words("step.moment", step=f"{paused + 2:,}"))
    expect(slow).to_contain_text(words("step.exact_next"))
    expect(page.locator("#pg-pause")).to_have_attribute("aria-label", "Resume")
    page.locator("#pg-pause").click()
    has_status(page, "training")
    eventually(page, lambda: number(status, "data-step"), lambda step: step > paused + 5)
    page.locator("#pg-stop").click()
    has_status(page, "stopped")
    assert paused + 5 < number(status, "data-step") < STEPS
    expect(page.locator("#pg-stop")).to_be_disabled()
    expect(status).to_have_attribute("data-run", run)


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
