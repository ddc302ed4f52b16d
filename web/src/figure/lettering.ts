/** Text in drawings: where labels go so that they do not cover each other; as in report/lettering.py. */

/** Positions as near as possible to the wanted ones, `apart` from each other, in the same order. */
export function spread(wanted: number[], apart: number, low: number, high: number): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => wanted[a]! - wanted[b]!);
  const placed = order.map((index) => Math.min(Math.max(wanted[index]!, low), high));
  for (let index = 1; index < placed.length; index++) {
    placed[index] = Math.max(placed[index]!, placed[index - 1]! + apart);
  }
  for (let index = placed.length - 1; index >= 0; index--) {
    const ceiling = index === placed.length - 1 ? high : placed[index + 1]! - apart;
    placed[index] = Math.min(placed[index]!, ceiling);
  }
  const result = new Array<number>(wanted.length);
  order.forEach((index, nth) => (result[index] = placed[nth]!));
  return result;
}

/** For labels from left to right, each with a line down at its start: a free row (0 lowest) and its left. */
export function stack(starts: number[], widths: number[], left: number, right: number): [number, number][] {
  const rows: number[] = [];
  const placed: [number, number][] = [];
  for (let index = starts.length - 1; index >= 0; index--) {
    const wide = widths[index]!;
    const begin = Math.max(Math.min(starts[index]!, right - wide), left);
    const free = rows.findIndex((taken) => begin + wide + 8 <= taken);
    const row = free < 0 ? rows.length : free;
    rows[row] = begin;
    placed.unshift([row, begin]);
  }
  return placed;
}

export const FACE =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif';
export const LABEL = 11;

let ruler: CanvasRenderingContext2D | null = null;

/** How many pixels a text takes at the size of labels. */
export function width(text: string, size = LABEL): number {
  ruler ??= document.createElement("canvas").getContext("2d")!;
  ruler.font = `${size}px ${FACE}`;
  return ruler.measureText(text).width;
}
