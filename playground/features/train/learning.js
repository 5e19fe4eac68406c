// Numbers that grow while a run trains, beside its curves: the newest numbers, and the completions of the probe sentences.
// @ts-check

import { cursor, page } from "../../ui/static/store.js";
import { button, childrenOf, count, duration, h, modelText, percent, same, say, send, timeLeft, update, updateAttributes } from "../../ui/static/dom.js";
import { caption, folded } from "../../ui/static/glossary.js";
import { isBehind, isGrowing, newest, shownStep, statusKey, toldStep } from "../../ui/static/live.js";
import { measured } from "../../ui/static/status.js";
import { register } from "../../ui/static/render.js";
import { ACTS } from "../../ui/static/controls.js";
import { command, reply } from "../../ui/static/actions.js";
import { open } from "../../ui/static/dialogs.js";

/** Trains the run on with the data at the left, after the server has said what the run's vocabularies lack. */
ACTS.tune = async () => {
  const { knobs, own } = page, wanted = { knobs: { ...knobs, own: knobs.task === "own" ? own : "" }, step: cursor.step };
  const answer = await send({ action: "tune", run: cursor.run, ...wanted });
  if (!answer.ask) return reply(answer);
  const start = () => {
    dialog.close();
    command("tune", { ...wanted, sure: true });
  };
  const dialog = open(say("tune"), h("p", {}, answer.ask), button({ id: "pg-tune", onclick: start }, say("tune")));
};

/** The newest numbers of the run, each with its name. */
register("numbers", (element, block) => {
  const run = page.live;
  const upTo = shownStep(), isNow = cursor.step === "", isWhole = isNow && !isGrowing(); // what was measured before it says when
  const speed = isNow ? run.rows.tokens_per_second?.at(-1) : newest("tokens_per_second"); // of the training, not of the model
  const plain = (text) => ({ text, note: "" });
  const values = {
    exact: measured(run, "exact_match", percent, upTo, isWhole), tokens: measured(run, "token_accuracy", percent, upTo, isWhole),
    loss: measured(run, "loss", (value) => value.toFixed(3), upTo, isWhole), seconds: plain(duration(run.seconds)),
    left: plain(run.status === "training" ? timeLeft(run.eta) : "–"),
    speed: plain(speed === undefined || speed === null ? "–" : count(Math.round(speed))),
  };
  if (!same(element, block)) {
    const parts = (item) => [h("b", {}), h("span", {}, item.label)];
    const number = (item) => h("div", { class: "pg-number", dataset: { number: item.id, help: item.help } }, parts(item));
    const row = (items) => h("div", { class: "pg-number-row" }, items.map(number));
    const folded = h("details", { class: "pg-table" }, h("summary", {}, block.more), row(block.folded));
    element.replaceChildren(row(block.items), block.folded.length ? folded : "");
  }
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll(".pg-number"))) {
    const { text, note } = values[place.dataset.number];
    update(place.firstChild, { textContent: text });
    update(place, { title: [note, place.dataset.help].filter(Boolean).join(". ") });
  }
}, { always: true, on: ["live", "frame"] });

/** The outcome of a run, in the server's words; while it trains, a bar of its steps. */
register("outcome", (element, block) => {
  const run = page.live, grows = isGrowing() || run.status === "paused";
  element.classList.toggle("grows", grows);
  if (!grows) return block.text && folded(element, block.text); // until the server has said how it ended, the bar stays
  if (!element.querySelector("progress")) element.replaceChildren(h("progress", { "aria-label": say("bar_label") }), h("span", {}));
  const [bar, text] = childrenOf(element);
  updateAttributes(bar, { max: run.steps || 1 });
  if (run.status === "training" || run.step) updateAttributes(bar, { value: run.step }); // until then its progress is unknown
  const values = { step: count(toldStep()), steps: count(run.steps), place: run.place };
  update(text, { textContent: say(run.status === "training" || isBehind() ? "bar_training" : statusKey(run.status), values) });
}, { always: true, on: ["live", "frame"] });

/** The fixed probe sentences and what the model makes of them, token by token right or wrong. */
register("probes", (element, { title, rows, caption: about, joint }) => {
  const line = (probe) => {
    const right = probe.finished && probe.right.every(Boolean);
    const output = probe.output.map((token, at) => h("span", { class: `pg-chip ${probe.right[at] ? "right" : "wrong"}`, ...modelText("tgt") }, token));
    return h("tr", {},
      h("th", { class: "pg-probe-source", scope: "row", ...modelText("src") }, probe.src.join(joint)),
      h("td", { class: "pg-probe-output" }, output, output.length ? "" : "–"),
      h("td", { class: right ? "pg-right" : "pg-wrong" }, right ? `✓ ${say("right")}` : `✗ ${say("wrong")}`));
  };
  const lines = h("div", { class: "pg-scroll" }, h("table", {}, rows.map(line)));
  element.replaceChildren(h("h3", {}, title), caption(about), rows.length ? lines : h("p", { class: "pg-caption" }, say("probes_none")));
});
