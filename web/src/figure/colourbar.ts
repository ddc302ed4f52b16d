/** A colour scale with how often each colour occurs. */

import { mapOf, shareOf } from "./cells";
import type { Heat } from "./description";
import { h } from "./dom";
import { colourAt } from "./maps";
import { shortNumber } from "./numbers";
import type { Theme } from "./theme";

const WIDE = 96;
const STRIP = 7;
const TALLEST = 11;
const BINS = 32;

/** The scale of one or several heat maps that share it: least and greatest, and between them a histogram. */
export function colourBar(heats: Heat[], theme: Theme): HTMLElement {
  const heat = heats[0]!;
  const canvas = h("canvas", { class: "figure-bar-canvas", "aria-hidden": "true" });
  const ratio = devicePixelRatio;
  const high = STRIP + TALLEST + 1;
  canvas.width = WIDE * ratio;
  canvas.height = high * ratio;
  canvas.style.width = `${WIDE}px`;
  canvas.style.height = `${high}px`;
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  for (let x = 0; x < WIDE; x++) {
    context.fillStyle = colourAt(mapOf(heat), x / (WIDE - 1));
    context.fillRect(x, TALLEST + 1, 1, STRIP);
  }
  const bins = histogram(heats);
  const most = Math.max(...bins, 1);
  context.fillStyle = theme.quiet;
  bins.forEach((many, nth) => {
    const tall = many ? Math.max((TALLEST * Math.sqrt(many)) / Math.sqrt(most), 1) : 0;
    context.fillRect((nth * WIDE) / BINS, TALLEST - tall, WIDE / BINS - 0.5, tall);
  });
  const spacing = heat.scale === "log" ? ", logarithmic" : "";
  const ends = [heat.low, heat.high].map((end) => shortNumber(Number(end.toPrecision(3))));
  return h(
    "span",
    {
      class: "figure-bar",
      role: "img",
      "aria-label": `Colours from ${ends[0]} to ${ends[1]}${spacing}`,
      title: "Above: how many values have each colour (height by square root)",
    },
    ends[0],
    canvas,
    ends[1],
  );
}

/** How many finite values fall into each of equal stretches of the scale. */
export function histogram(heats: Heat[]): number[] {
  const bins = new Array<number>(BINS).fill(0);
  for (const heat of heats) {
    for (const row of heat.values) {
      for (const value of row) {
        if (typeof value === "number")
          bins[Math.min(Math.floor(shareOf(heat, value) * BINS), BINS - 1)]! += 1;
      }
    }
  }
  return bins;
}

/** Whether heat maps have one colour scale. */
export function sameScale(heats: Heat[]): boolean {
  const said = heats.map((heat) =>
    JSON.stringify([heat.label, heat.low, heat.high, heat.colours, heat.scale]),
  );
  return new Set(said).size === 1;
}
