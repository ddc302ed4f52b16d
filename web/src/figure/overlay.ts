/** What lies over the cells of a heat map: transitions, the cursor, the cell pointed at and the one chosen. */

import type { Ground } from "./cells";
import { isGrid, marksOf, type Heat, type Panel } from "./description";
import { label } from "./dom";
import { FACE, LABEL, width } from "./lettering";
import { shortNumber } from "./numbers";
import { along, ticks, type Range } from "./scale";
import { faded, hueOf, type Theme } from "./theme";

export interface Place {
  row: number;
  column: number;
}

export interface Over {
  panel: Panel;
  heat: Heat;
  ground: Ground;
  range: Range;
  theme: Theme;
}

/** Where a number of the x axis is, in pixels. */
export function pixelOf({ panel, ground, range }: Over, x: number): number {
  return ground.left + along(panel.x_scale, range, x) * ground.wide;
}

/** Names of rows and columns, or the ticks of the x axis. */
export function paintNames(context: CanvasRenderingContext2D, over: Over): void {
  const { heat, ground, theme, panel, range } = over;
  const { left, top, wide, high, edges } = ground;
  context.font = `${LABEL}px ${FACE}`;
  context.fillStyle = theme.muted;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const tall = high / heat.y.length;
  for (const row of every(heat.y.length, 13 / tall)) {
    context.fillText(label(heat.y[row]!, 12), left - 6, top + high - (row + 0.5) * tall);
  }
  context.textAlign = "center";
  const below = top + high + 12;
  if (isGrid(heat)) {
    const widest = Math.max(...heat.x.map((name) => width(label(String(name), 12))));
    for (const column of every(heat.x.length, (widest + 4) / (wide / heat.x.length))) {
      context.fillText(label(String(heat.x[column]), 12), (edges[column]! + edges[column + 1]!) / 2, below);
    }
    return;
  }
  for (const tick of ticks(range, panel.x_scale))
    context.fillText(shortNumber(tick), pixelOf(over, tick), below);
}

/** Indices at a stride of a power of two, so that labels `room` rows wide fit. */
function every(many: number, room: number): number[] {
  let stride = 1;
  while (stride < room) stride *= 2;
  return Array.from({ length: Math.ceil(many / stride) }, (_, nth) => nth * stride);
}

/** Transitions, the linked cursor and the stretch that is being brushed. */
export function paintUprights(
  context: CanvasRenderingContext2D,
  over: Over,
  cursor: number | null,
  place: number | null,
  brush: { from: number; to: number } | null,
): void {
  const { left, top, wide, high } = over.ground;
  context.save();
  context.beginPath();
  context.rect(left, 0, wide, top + high);
  context.clip();
  for (const rule of marksOf(over.panel, "Rule")) {
    const [low, at, up] = [rule.low ?? rule.x, rule.x, rule.high ?? rule.x].map((x) => pixelOf(over, x));
    // The interval lies above the cells: over them it would change their colours.
    context.fillStyle = rule.hue === null ? over.theme.rule : hueOf(over.theme, rule.hue);
    context.fillRect(low!, top - 4, Math.max(up! - low!, 1), 3);
    // White beside the line: it must be seen on any colour of the map.
    upright(context, over.ground, at! - 0.8, "#ffffff");
    upright(context, over.ground, at!, rule.hue === null ? "#3c434b" : hueOf(over.theme, rule.hue));
  }
  if (cursor !== null) {
    upright(context, over.ground, pixelOf(over, cursor) - 0.8, "#ffffff");
    upright(context, over.ground, pixelOf(over, cursor), "#1b1f24");
  }
  if (place !== null) {
    context.setLineDash([3, 3]);
    upright(context, over.ground, pixelOf(over, place), "#ffffff");
    context.setLineDash([]);
  }
  if (brush) {
    context.fillStyle = faded("#808080", 0.4);
    context.fillRect(Math.min(brush.from, brush.to), top, Math.abs(brush.to - brush.from), high);
  }
  context.restore();
}

function upright(context: CanvasRenderingContext2D, { top, high }: Ground, x: number, colour: string): void {
  context.strokeStyle = colour;
  context.lineWidth = 0.9;
  context.beginPath();
  context.moveTo(x, top);
  context.lineTo(x, top + high);
  context.stroke();
}

/** A frame around one cell. */
export function outline(
  context: CanvasRenderingContext2D,
  over: Over,
  place: Place | null,
  colour: string,
  thick: number,
): void {
  const { heat, ground } = over;
  if (!place || place.row >= heat.y.length || place.column >= heat.x.length) return;
  const tall = ground.high / heat.y.length;
  const from = Math.max(ground.edges[place.column]!, ground.left);
  const to = Math.min(ground.edges[place.column + 1]!, ground.left + ground.wide);
  if (to <= from) return;
  context.strokeStyle = colour;
  context.lineWidth = thick;
  context.beginPath();
  const top = ground.top + ground.high - (place.row + 1) * tall;
  context.roundRect(from, top, to - from, tall, isGrid(heat) ? 3 : 0);
  context.stroke();
}
