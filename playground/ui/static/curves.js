// The curves of a run, put together from what the server draws of them and from the run's history.
// @ts-check

/**
 * A curve with the history filled in: each trace says in its meta which columns it draws. The first shape marks the `step` of the replay,
 * which is "" while the page shows the newest.
 * @param {import("./blocks").Plotly} skeleton
 * @param {import("./page").Run} run
 * @param {string} step
 * @returns {import("./blocks").Plotly}
 */
export function fillCurve(skeleton, run, step) {
  const { step: validated, loss, ...shares } = run.validations;
  const columns = { ...run.rows, validation_step: validated, validation_loss: loss, ...shares };
  const filled = (trace) => (trace.meta ? { ...trace, x: columns[trace.meta.x] ?? [], y: columns[trace.meta.y] ?? [] } : trace);
  const data = skeleton.data.map(filled); // a trace that names no columns is another run's and comes with its numbers
  const here = { visible: step !== "", x0: Number(step), x1: Number(step) };
  const shapes = (skeleton.layout.shapes ?? []).map((shape, at) => (at === 0 ? { ...shape, ...here } : shape));
  return { data, layout: { ...skeleton.layout, shapes, datarevision: run.version, uirevision: run.id } }; // zoom stays as long as the run does
}
