/** The ranges of all traces' buckets, mixed pixel by pixel.
 *
 * As polygons they were a third of what a chart took to draw: a browser that fills outlines with hundreds of turns
 * takes several times as long as these loops. */

import type { Plane } from "./draw";
import { visible, type Trace } from "./trace";

export interface Band {
  trace: Trace;
  /** How much of the colour (0 to 1). */
  alpha: number;
}

/** The last picture, kept: charts of one page have few sizes. */
let picture: ImageData | null = null;

function pictureOf(width: number, height: number): ImageData {
  if (picture?.width !== width || picture.height !== height) picture = new ImageData(width, height);
  else picture.data.fill(0);
  return picture;
}

/** Draws what lies between low and high, under everything else: what was on the canvas there is gone. */
export function drawBands(p: Plane, bands: Band[], floor: number): void {
  const [width, height] = [Math.round(p.width), Math.round(p.height)];
  if (!bands.length || width < 1 || height < 1) return;
  const spans = bands.map(({ trace }) => columnsOf(p, trace, floor, width, height));
  const inks = bands.map(({ trace, alpha }) => inkOf(trace.colour, alpha));
  const { data } = pictureOf(width, height);
  const column = new Float32Array(4 * height);
  for (let x = 0; x < width; x++) {
    let [from, to] = [height, 0];
    for (let which = 0; which < spans.length; which++) {
      const top = spans[which][2 * x];
      const bottom = spans[which][2 * x + 1];
      if (!(bottom > top)) continue;
      mix(column, top, bottom, inks[which]);
      from = Math.min(from, Math.floor(top));
      to = Math.max(to, Math.ceil(bottom));
    }
    settle(column, from, to, data, x, width);
  }
  p.ctx.putImageData(picture!, Math.round(p.left), Math.round(p.top));
}

/** Red, green, blue (0 to 255) and alpha of "#rrggbb". */
function inkOf(colour: string, alpha: number): [number, number, number, number] {
  const word = parseInt(colour.slice(1), 16);
  return [(word >> 16) & 255, (word >> 8) & 255, word & 255, alpha];
}

/** Top and bottom of a band in every column of pixels: of its outline at the column's middle, and of every
 * bucket that lies in the column, so that no extreme falls between two columns. NaN where there is none. */
function columnsOf(p: Plane, trace: Trace, floor: number, width: number, height: number): Float32Array {
  const spans = new Float32Array(2 * width).fill(NaN);
  const { x, low, high } = trace;
  const widen = (at: number, top: number, bottom: number) => {
    if (at < 0 || at >= width) return;
    if (!(spans[2 * at] <= top)) spans[2 * at] = Math.max(0, top);
    if (!(spans[2 * at + 1] >= bottom)) spans[2 * at + 1] = Math.min(height, bottom);
  };
  const [first, last] = visible(trace, p.from, p.to);
  let [beforeX, beforeTop, beforeBottom] = [NaN, NaN, NaN];
  for (let index = first; index <= last; index++) {
    if (!(high[index] > floor)) {
      beforeX = NaN;
      continue;
    }
    const here = p.x(x[index]) - p.left;
    const top = p.y(high[index]) - p.top;
    const bottom = p.y(low[index] > floor ? low[index] : floor) - p.top;
    const to = Math.min(width - 1, Math.ceil(here - 0.5) - 1);
    for (let at = Math.max(0, Math.ceil(beforeX - 0.5)); at <= to; at++) {
      const share = (at + 0.5 - beforeX) / (here - beforeX);
      widen(at, beforeTop + share * (top - beforeTop), beforeBottom + share * (bottom - beforeBottom));
    }
    widen(Math.floor(here), top, bottom);
    [beforeX, beforeTop, beforeBottom] = [here, top, bottom];
  }
  return spans;
}

/** Lays ink over rows of a column, at its ends as much as they are covered; colours times their alpha. */
function mix(column: Float32Array, top: number, bottom: number, ink: [number, number, number, number]): void {
  const [red, green, blue, alpha] = ink;
  const last = Math.ceil(bottom) - 1;
  for (let row = Math.floor(top); row <= last; row++) {
    const share = alpha * (Math.min(row + 1, bottom) - Math.max(row, top));
    const at = 4 * row;
    const rest = 1 - share;
    column[at] = column[at] * rest + red * share;
    column[at + 1] = column[at + 1] * rest + green * share;
    column[at + 2] = column[at + 2] * rest + blue * share;
    column[at + 3] = column[at + 3] * rest + share;
  }
}

/** Moves rows of a column into the picture, and clears them for the next. */
function settle(
  column: Float32Array,
  from: number,
  to: number,
  data: Uint8ClampedArray,
  x: number,
  width: number,
): void {
  for (let row = from; row < to; row++) {
    const alpha = column[4 * row + 3];
    if (alpha === 0) continue;
    const into = 4 * (row * width + x);
    for (let part = 0; part < 3; part++) data[into + part] = column[4 * row + part] / alpha;
    data[into + 3] = 255 * alpha;
  }
  if (to > from) column.fill(0, 4 * from, 4 * to);
}
