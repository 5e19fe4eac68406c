// Small pictures on canvases, in the colours of the large ones: a head's attention, and a stage of the map.
// @ts-check

/** One cell. What is masked is hatched. */
function cell(pen, size, row, column, colour, hatch = "") {
  pen.fillStyle = colour;
  pen.fillRect(column * size, row * size, size, size);
  if (!hatch) return;
  pen.strokeStyle = hatch;
  pen.beginPath();
  pen.moveTo(column * size, (row + 1) * size);
  pen.lineTo((column + 1) * size, row * size);
  pen.stroke();
}

/**
 * One head: weights from 0 to 1.
 * @param {HTMLCanvasElement} canvas
 * @param {number[][]} values
 * @param {number[][] | null} mask 0 where nothing is seen
 * @param {import("./blocks").Shades} colours
 */
export function thumbnail(canvas, values, mask, colours) {
  const rows = values.length, columns = values[0]?.length ?? 0;
  const size = Math.max(2, Math.min(12, Math.floor(96 / Math.max(rows, columns, 1))));
  canvas.width = columns * size;
  canvas.height = rows * size;
  const pen = canvas.getContext("2d");
  values.forEach((weights, row) => weights.forEach((weight, column) => {
    if (!mask || mask[row]?.[column] !== 0) cell(pen, size, row, column, colours.scale[Math.round(weight * (colours.scale.length - 1))]);
    else cell(pen, size, row, column, colours.masked, colours.hatch);
  }));
}

const MASKED = -128, STRONGEST = 127; // of the bytes that a miniature is made of

/**
 * One stage, as the server has made it small.
 * @param {HTMLCanvasElement} canvas
 * @param {import("./blocks").Miniature} mini
 * @param {import("./blocks").MapColours} colours
 */
export function miniature(canvas, mini, colours) {
  const key = mini.data + mini.scale + colours.masked;
  if (canvas.pgKey === key) return;
  canvas.pgKey = key;
  const bytes = Int8Array.from(atob(mini.data), (letter) => letter.charCodeAt(0));
  const size = Math.max(1, Math.min(12, Math.floor(144 / Math.max(mini.columns, mini.rows))));
  canvas.width = mini.columns * size;
  canvas.height = mini.rows * size;
  const pen = canvas.getContext("2d"), colour = between(colours[mini.scale]);
  const share = (value) => (mini.scale === "signed" ? (value / STRONGEST + 1) / 2 : value / STRONGEST);
  bytes.forEach((value, at) => {
    const row = Math.floor(at / mini.columns), column = at % mini.columns;
    if (value === MASKED) cell(pen, size, row, column, colours.masked, colours.hatch);
    else cell(pen, size, row, column, colour(share(value)));
  });
}

/** The colours of a scale of hexes, and those between them: a share from 0 to 1 to a colour. */
function between(scale) {
  const stops = scale.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return (share) => {
    const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1), low = Math.floor(at), high = Math.min(low + 1, stops.length - 1);
    return `rgb(${stops[low].map((value, channel) => Math.round(value + (at - low) * (stops[high][channel] - value))).join()})`;
  };
}
