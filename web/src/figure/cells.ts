/** The cells of a heat map as pixels: a lookup table over ImageData; what has no number never looks like zero. */

import { isGrid, type Heat } from "./description";
import { lookup, type MapName } from "./maps";
import { onto } from "./scale";
import type { Theme } from "./theme";

/** Where the cells are, in pixels of the page from the canvas' top left. */
export interface Ground {
  left: number;
  top: number;
  wide: number;
  high: number;
  /** Left edges of the columns and the right edge of the last, in the same pixels; may reach outside. */
  edges: number[];
}

const MOST_ROUNDED = 4096;
const SMALLEST_ROUNDED = 10;
const NARROWEST_CROSS = 5;

/** The colour map of a heat map. */
export function mapOf(heat: Heat): MapName {
  return heat.colours === "diverging" ? "diverging" : "viridis";
}

/** Where a value falls on the colour scale, 0 to 1. */
export function shareOf(heat: Heat, value: number): number {
  const scale = heat.scale;
  const low = onto(scale, heat.low);
  return Math.min(Math.max((onto(scale, value) - low) / (onto(scale, heat.high) - low || 1), 0), 1);
}

/** Draws every cell. Row 0 is lowest. `hollow` leaves what is missing empty: it cannot be, rather than is not. */
export function paintCells(
  context: CanvasRenderingContext2D,
  heat: Heat,
  ground: Ground,
  theme: Theme,
  hollow = false,
): void {
  const large =
    ground.wide / heat.x.length >= SMALLEST_ROUNDED && heat.y.length * heat.x.length <= MOST_ROUNDED;
  if (isGrid(heat) && large) paintRounded(context, heat, ground);
  else paintPixels(context, heat, ground);
  if (!hollow) paintHatches(context, heat, ground, theme);
  paintCrosses(context, heat, ground, theme);
}

function css(word: number): string {
  return `rgb(${word & 255} ${(word >> 8) & 255} ${(word >> 16) & 255})`;
}

function paintRounded(context: CanvasRenderingContext2D, heat: Heat, ground: Ground): void {
  const table = lookup(mapOf(heat));
  eachCell(heat, ground, (value, x, y, wide, high) => {
    if (typeof value !== "number") return;
    context.fillStyle = css(table[Math.round(shareOf(heat, value) * 255)]!);
    context.beginPath();
    context.roundRect(x + 0.5, y + 0.5, wide - 1, high - 1, Math.min(3, wide / 5));
    context.fill();
  });
}

/** One colour a device pixel; where several columns share a pixel it shows the one farthest from the middle. */
function paintPixels(context: CanvasRenderingContext2D, heat: Heat, ground: Ground): void {
  const ratio = context.getTransform().a;
  const [wide, high] = [Math.round(ground.wide * ratio), Math.round(ground.high * ratio)];
  if (wide < 1 || high < 1) return;
  const image = new ImageData(wide, high);
  const words = new Uint32Array(image.data.buffer);
  const table = lookup(mapOf(heat));
  const rows = heat.y.length;
  for (let row = 0; row < rows; row++) {
    const line = colourLine(heat, row, ground, wide, ratio, table);
    const from = Math.round((high * (rows - 1 - row)) / rows);
    const to = Math.round((high * (rows - row)) / rows);
    for (let y = from; y < to; y++) words.set(line, y * wide);
  }
  context.putImageData(image, Math.round(ground.left * ratio), Math.round(ground.top * ratio));
}

function colourLine(
  heat: Heat,
  row: number,
  ground: Ground,
  wide: number,
  ratio: number,
  table: Uint32Array,
): Uint32Array {
  const shown = new Float32Array(wide).fill(NaN);
  const middle = heat.colours === "diverging" ? 0.5 : 0;
  const values = heat.values[row]!;
  const [first, end] = columnsInView(ground);
  for (let column = first; column < end; column++) {
    const value = values[column];
    if (typeof value !== "number") continue;
    const share = shareOf(heat, value);
    const from = Math.max(0, Math.floor((ground.edges[column]! - ground.left) * ratio + 0.5));
    const until = Math.floor((ground.edges[column + 1]! - ground.left) * ratio + 0.5);
    for (let x = from; x < Math.min(wide, Math.max(until, from + 1)); x++) {
      const taken = shown[x]!;
      if (Number.isNaN(taken) || Math.abs(share - middle) > Math.abs(taken - middle)) shown[x] = share;
    }
  }
  return Uint32Array.from(shown, (share) => (Number.isNaN(share) ? 0 : table[Math.round(share * 255)]!));
}

/** The first column of which anything is seen, and the one after the last. */
function columnsInView({ left, wide, edges }: Ground): [number, number] {
  let [first, end] = [0, edges.length - 1];
  while (first < end && edges[first + 1]! <= left) first++;
  while (end > first && edges[end - 1]! >= left + wide) end--;
  return [first, end];
}

function eachCell(
  heat: Heat,
  ground: Ground,
  visit: (value: Heat["values"][number][number], x: number, y: number, wide: number, high: number) => void,
): void {
  const { left, top, wide, high, edges } = ground;
  const tall = high / heat.y.length;
  const [first, end] = columnsInView(ground);
  heat.values.forEach((row, nth) => {
    const y = top + high - (nth + 1) * tall;
    for (let column = first; column < end; column++) {
      const from = Math.max(edges[column]!, left);
      const to = Math.min(edges[column + 1]!, left + wide);
      if (to > from) visit(row[column]!, from, y, to - from, tall);
    }
  });
}

/** Missing: hatched, so that it is taken neither for zero nor for the page. */
function paintHatches(context: CanvasRenderingContext2D, heat: Heat, ground: Ground, theme: Theme): void {
  context.save();
  context.beginPath();
  eachCell(heat, ground, (value, x, y, wide, high) => {
    if (value === null) context.rect(x, y, wide, high);
  });
  context.clip();
  context.strokeStyle = theme.muted;
  context.globalAlpha = 0.55;
  context.lineWidth = 0.8;
  context.beginPath();
  for (let x = ground.left - ground.high; x < ground.left + ground.wide; x += 5) {
    context.moveTo(x, ground.top + ground.high);
    context.lineTo(x + ground.high, ground.top);
  }
  context.stroke();
  context.restore();
}

/** Not finite: a cross in its cell; where cells are too narrow for one, a mark on a rail above. */
function paintCrosses(context: CanvasRenderingContext2D, heat: Heat, ground: Ground, theme: Theme): void {
  context.strokeStyle = theme.alarm;
  context.lineWidth = 1.3;
  context.beginPath();
  eachCell(heat, ground, (value, x, y, wide, high) => {
    if (typeof value !== "string") return;
    const narrow = wide < NARROWEST_CROSS;
    const [centre, middle] = [x + wide / 2, narrow ? ground.top - 5 : y + high / 2];
    context.moveTo(centre - 2.4, middle - 2.4);
    context.lineTo(centre + 2.4, middle + 2.4);
    context.moveTo(centre + 2.4, middle - 2.4);
    context.lineTo(centre - 2.4, middle + 2.4);
  });
  context.stroke();
}
