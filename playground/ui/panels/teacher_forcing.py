"""One sentence with teacher forcing, free running, and free running with one token corrected."""

from __future__ import annotations

from playground.figures import lens as lenses
from playground.inspection import lens
from playground.inspection.probabilities import top
from playground.queries.teacher_forcing import Comparison, compare, find_wrong, read_lens
from playground.ui import blocks
from playground.ui.panels import votes
from playground.ui.panels.decoding_step import likeliest, looks
from playground.ui.panels.head_choice import chosen
from playground.ui.panels.lanes import correction, is_right, lanes_of, said_by, width
from playground.ui.view import View, steps
from playground.words import paragraph
from playground.words.amounts import percentage

SUGGESTED = 4  # sentences that go wrong
MORE, MORE_HARDER = 100, 6  # sentences to find them among; longer ones, when few do
RIVALS = 5
PARTS = 5  # of the replay, at whose ends an earlier step is looked for
SIDE = 420  # px that are free beside the lanes when something stands there


def panel(view: View) -> dict:
    found = compare(view.reader, view.run, view.step, view.text, view.field("force"), correction(view))
    view.look = found.free
    steps = max(len(life.targets) for life in (found.forced, found.free, found.corrected) if life)
    at = view.row(steps)
    at = at if at is not None else min(found.parted or 0, steps - 1)
    wrong = _wrong(view)
    return {
        "step": found.step,
        "telling": wrong[0] if wrong else "",
        "blocks": [
            blocks.text("about", view.say("teacher_forcing.about"), css="pg-about"),
            *_suggestions(view, wrong),
            *_compared(view, found, at, steps),
            _step(view, found, at),
            *votes.panel(view, found, at),
            *_lens(view, found, at),
            blocks.code("source", lens.probabilities),
        ],
    }


def _compared(view: View, found: Comparison, at: int, steps: int) -> list[dict]:
    """The lanes with what they show above them and what can be changed below; beside them instead, where they leave room, so that the
    pictures of the step are nearer."""
    said = blocks.text("caption", paragraph([*_captions(view, found), view.step_note(found.step)]), css="pg-caption")
    lanes = lanes_of(view, found, at, steps)
    acts = [
        *([] if found.free.references else [blocks.text("no-reference", view.say("teacher_forcing.no_reference"), css="pg-warning")]),
        *([] if found.forced and not view.field("force") else [_force(view)]),
        _correct(view, found, at),
    ]
    if width(lanes) + SIDE > view.width:
        return [said, lanes, *acts]
    return [blocks.row("compared", lanes, blocks.column("beside", said, *acts), css="beside")]


def first_wrong(view: View) -> str:
    """A sentence at which the model goes wrong, by its own output; empty when none is known."""
    return (_wrong(view) or [""])[0]


def _wrong(view: View) -> list[str] | None:
    """Sentences at which teacher forcing and free running part. Of a model that trains None is known: each step has others."""
    if view.run.working and view.step is None:
        return None
    sentences = view.examples()[:6]
    sentences += [pair for pair in view.reader.examples(view.run, "heldout", MORE) if pair not in sentences]
    wrong = find_wrong(view.reader, view.run, view.step, sentences)
    if len(wrong) < SUGGESTED:  # a good model: of longer sentences more go wrong
        wrong += find_wrong(view.reader, view.run, view.step, view.reader.examples(view.run, "harder", MORE_HARDER))
    return wrong[:SUGGESTED]


def _suggestions(view: View, wrong: list[str] | None) -> list[dict]:
    """Those sentences to choose from, so that nobody has to look for one."""
    if wrong is None:
        return []
    if not wrong:
        return [blocks.text("none-wrong", view.say("teacher_forcing.none_wrong"), css="pg-caption"), *_earlier(view)]
    return [
        blocks.choice(
            "wrong", "text", view.say("teacher_forcing.goes_wrong"), [{"value": text, "label": text} for text in wrong], view.text
        )
    ]


def _earlier(view: View) -> list[dict]:
    """The way to an earlier step of the replay at which the sentence on screen, or another example, goes wrong; none where none does."""
    last = view.run.steps if view.step is None else view.step
    kept = [step for step in view.run.replay.parameter_steps if step < last]
    sentences = sorted(view.examples(), key=lambda pair: pair[0] != view.text)[:6]  # that on screen first, if it is one
    for step in (kept[len(kept) * part // PARTS] for part in range(PARTS - 1, 0, -1) if kept):
        if wrong := find_wrong(view.reader, view.run, step, sentences):
            text = view.text if view.text in wrong else wrong[0]
            label = view.say("teacher_forcing.earlier", step=f"{step:,}", text=text)
            return [blocks.button("earlier", "move", label, to={"step": step, "text": text})]
    return []


def _captions(view: View, found: Comparison) -> list[str]:
    """Where they part, whether the correction helped, and what the same two measures say of all held-out sentences."""
    said = []
    if found.parted is not None:
        forced, free = found.forced, found.free
        right = forced.targets[found.parted].text if found.parted < len(forced.targets) else "–"
        wrote = free.targets[found.parted].text if found.parted < len(free.targets) else "–"
        later = [token["right"] for token in said_by("forced", forced)[found.parted + 1 :]]
        said.append(view.say("teacher_forcing.parted", step=found.parted + 1, wrote=wrote, right=right))
        if later:
            own = sum(found.free.right[found.parted + 1 :])
            said.append(view.say("teacher_forcing.after", forced=sum(later), own=own, all=len(later)))
    elif found.forced:
        said.append(view.say("teacher_forcing.together"))
    fixed = correction(view)
    if found.corrected and fixed and not is_right(view, found):
        said.append(view.say("teacher_forcing.still_wrong", step=fixed[0] + 1, token=found.corrected.targets[fixed[0]].text))
    elif found.corrected and fixed:
        if found.recovered is not None:
            said.append(view.say("teacher_forcing.recovered", step=fixed[0] + 1, since=found.recovered + 1))
        elif found.forced:
            said.append(view.say("teacher_forcing.not_recovered", step=fixed[0] + 1))
    measured = _measured(view, found.step)
    return [*said, *([measured] if measured else [])]


def _measured(view: View, at: int) -> str:
    """Both measures over the held-out split at this step: a token is easy to get right when all before it is."""
    rows = view.run.history.validations.rows()
    before = [row for row, step in enumerate(rows["step"]) if step <= at]
    if not before:
        return ""
    row = before[-1]
    tokens_right, sentences_right = (percentage(rows[name][row]) for name in ("token_accuracy", "exact_match"))
    pairs, every = int(rows["pairs"][row]), int(rows["all_pairs"][row])
    key, of = ("teacher_forcing.measured", {}) if pairs == every else ("teacher_forcing.measured_sample", {"all": every})
    return view.say(key, step=int(rows["step"][row]), tokens=tokens_right, sentences=sentences_right, pairs=pairs, **of)


def _force(view: View) -> dict:
    return blocks.field("force", "force", view.say("teacher_forcing.force"), view.field("force"), view.say("teacher_forcing.force_hint"))


def _correct(view: View, found: Comparison, at: int) -> dict:
    """What could be written at the chosen step instead: the likeliest tokens, and the right one when it isn't among them."""
    free = found.free
    at = min(at, len(free.targets) - 1)
    options = {likely.id: f"{likely.text}  {likely.probability:.2f}" for likely in free.likely[at]}
    if found.forced and at < len(found.forced.targets):
        options.setdefault(found.forced.targets[at].id, found.forced.targets[at].text)
    options.pop(free.targets[at].id, None)
    chosen_fix = view.field("fix") if found.corrected else ""
    choices = [{"value": "", "label": view.say("teacher_forcing.as_written", token=free.targets[at].text)}]
    choices += [{"value": f"{at}:{id}", "label": text} for id, text in options.items()]
    return blocks.choice("fix", "fix", view.say("teacher_forcing.correct", step=at + 1), choices, chosen_fix)


def _step(view: View, found: Comparison, at: int) -> dict:
    """The chosen step in every life: what was nearly said, and where cross-attention looked."""
    columns = []
    lanes = [(name, life) for name in ("forced", "free", "corrected") if (life := getattr(found, name)) and at < len(life.targets)]
    view.look = found.free
    layer, head = chosen(view, "cross")
    for name, life in lanes:
        view.look = life
        first = life.likely[at][0]
        pointed, where = looks(view, life, at, layer, head, len(lanes))
        says = view.say("teacher_forcing.likely_caption", fed=life.fed[at].text, token=first.text, percent=percentage(first.probability))
        title = view.say("teacher_forcing.likely", lane=view.say(f"teacher_forcing.{name}"), step=at + 1)
        columns.append(
            blocks.column(
                f"step-{name}",
                blocks.figure(f"likely-{name}", likeliest(view, life, at, len(lanes)), says, title),
                blocks.figure(f"looks-{name}", pointed, where),
            )
        )
    view.look = found.free
    return blocks.row("step", *columns, css="thirds" if len(columns) > 2 else "halves")


def _lens(view: View, found: Comparison, at: int) -> list[dict]:
    """What each layer would say; of the forced life when the page feeds the reference, else of the free one."""
    forced = view.reference and found.forced is not None
    life = found.forced if forced else found.free
    said = read_lens(view.reader, view.run, view.step, view.text, [piece.id for piece in life.targets])
    name = view.run.tokenizers[1].piece
    rivals = [[", ".join(f"{name(id)} {p:.2f}" for id, p in top(row, RIVALS)) for row in layer] for layer in said]
    layers = [view.say("teacher_forcing.lens_start"), *(view.say("teacher_forcing.lens_row", layer=layer) for layer in range(1, len(said)))]
    picture = view.draw(
        lenses.grid,
        said.max(axis=-1),
        [[name(int(id)) for id in row] for row in said.argmax(axis=-1)],
        layers,
        steps(life),
        rivals=rivals,
        decided=lens.decided(said).tolist(),
        pinned=at,
    )
    fact = lens.facts(said)
    caption = paragraph([view.say(fact.key, **fact.values), view.say(f"teacher_forcing.lens_{view.run.experiment.model.norm}")])
    feeds = [
        {"value": "output", "label": view.say("teacher_forcing.free")},
        {"value": "reference", "label": view.say("teacher_forcing.forced")},
    ]
    found_choice = (
        [blocks.choice("feed", "target", view.say("teacher_forcing.lens_of"), feeds, "reference" if forced else "output")]
        if found.forced
        else []
    )
    return [blocks.figure("lens", picture, caption, view.say("teacher_forcing.lens")), *found_choice]
