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
  const data = skeleton.data.map((trace) => ({ ...trace, x: columns[trace.meta?.x] ?? [], y: columns[trace.meta?.y] ?? [] }));
  const here = { visible: step !== "", x0: Number(step), x1: Number(step) };
  const shapes = (skeleton.layout.shapes ?? []).map((shape, at) => (at === 0 ? { ...shape, ...here } : shape));
  const { xaxis } = skeleton.layout, isFixed = xaxis?.autorange === false && run.steps; // to the steps of a run that may be another
  const layout = { ...skeleton.layout, ...(isFixed ? { xaxis: { ...xaxis, range: [0, run.steps] } } : {}) };
  return { data, layout: { ...layout, shapes, datarevision: run.version, uirevision: run.id } }; // zoom stays as long as the run does
}
