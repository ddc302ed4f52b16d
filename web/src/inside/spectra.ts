/** A spectrum over the run: index by step as a heat map, and at one step on logarithmic axes. */

import type { Figure, Line, Plain } from "../figure/description";
import { fill, h, named } from "../figure/dom";
import { drawFigure, type DrawnFigure } from "../figure/draw";
import { Links } from "../figure/link";
import { count } from "../figure/numbers";
import { extent } from "../figure/scale";
import { choiceIn, choosers } from "./choice";
import { chooser, nearest, Scrubber } from "./controls";
import { alone, colourSpacing, PANEL } from "./cube";
import type { Arrays, Memory, Part, Shown, Source } from "./source";

/** At most this many indices become rows of the heat map. */
const MOST_ROWS = 64;

/** Index by step; indices even on a logarithmic axis, the first on top. */
export function spectrumMap(arrays: Arrays, title: string): Figure {
  const indices = geometric(arrays.size, MOST_ROWS).reverse();
  const finite = Array.from(arrays.values).filter((value) => Number.isFinite(value) && value > 0);
  const scale = colourSpacing(finite);
  const [low, high] = extent(finite);
  const cell = (step: number, index: number): Plain => {
    const value = arrays.values[step * arrays.size + index]!;
    return Number.isFinite(value) ? value : "NaN";
  };
  return alone({
    ...PANEL,
    title,
    y: "by index",
    marks: [
      {
        mark: "Heat",
        label: title,
        x: arrays.steps,
        y: indices.map((index) => String(index + 1)),
        values: indices.map((index) => arrays.steps.map((_, step) => cell(step, index))),
        low: scale === "log" ? low : Math.min(0, low),
        high: high > low ? high : low + 1,
        colours: "sequential",
        scale,
      },
    ],
  });
}

/** Value by index on logarithmic axes: a few steps in the background, the chosen one in front. */
export function spectrumAt(arrays: Arrays, chosen: number, title: string): Figure {
  const x = Array.from({ length: arrays.size }, (_, index) => index + 1);
  const line = (step: number, front: boolean): Line => ({
    mark: "Line",
    label: `step ${count(arrays.steps[step]!)}`,
    x,
    y: x.map((_, index): Plain => {
      const value = arrays.values[step * arrays.size + index]!;
      return Number.isFinite(value) ? value : "NaN";
    }),
    low: [],
    high: [],
    role: front ? "named" : "quiet",
    hue: 0,
    shade: null,
  });
  const background = geometric(arrays.steps.length, 7).filter((step) => step !== chosen);
  const [low, high] = extent(Array.from(arrays.values).filter((value) => value > 0));
  return alone({
    ...PANEL,
    title,
    marks: [...background.map((step) => line(step, false)), line(chosen, true)],
    x: "index",
    x_scale: "log",
    y_scale: "log",
    y_range: high > low ? [low, high * 1.1] : null,
  });
}

/** At most `most` of 0 … many - 1, even on a logarithmic axis, with the first and the last. */
export function geometric(many: number, most: number): number[] {
  if (many <= most) return Array.from({ length: many }, (_, index) => index);
  const reach = Math.log(many);
  const found = Array.from({ length: most }, (_, nth) => Math.round(Math.exp((reach * nth) / (most - 1))) - 1);
  return [...new Set(found)];
}

/** Mounts the view of every part that keeps whole arrays. */
export function spectraView(element: HTMLElement, source: Source, memory: Memory, parts: Part[], places: string[], links = new Links()): Shown {
  let [map, single]: (DrawnFigure | null)[] = [null, null];
  let scrubber: Scrubber | null = null;
  let key = "";
  const top = h("div", { class: "inside-top" });
  const [above, below] = [h("div", {}), h("div", {})];
  fill(element, top, above, below);
  const refresh = async () => {
    const choice = choiceIn(memory, parts);
    const place = places.includes(memory.get("place")) ? memory.get("place") : places[0]!;
    const wanted = JSON.stringify([choice, place]);
    if (wanted === key) return scrubber?.near(Number(memory.get("step") || scrubber.step));
    key = wanted;
    try {
      const arrays = await source.arrays!(choice, place);
      if (wanted !== key) return;
      scrubber?.destroy();
      const title = parts.find((part) => part.name === choice.part)!.title;
      const show = () => {
        const figure = spectrumAt(arrays, arrays.steps.indexOf(scrubber!.step), `at step ${count(scrubber!.step)}`);
        single?.destroy();
        single = drawFigure(below, figure, { tools: false });
      };
      const step = memory.get("step");
      const first = step ? nearest(arrays.steps, Number(step)) : arrays.steps.length - 1;
      scrubber = new Scrubber(arrays.steps, first, () => {
        show();
        links.of("step").setPlace(scrubber!.step);
        memory.set({ step: String(scrubber!.step) });
      });
      const where = chooser("place", places, place, (value) => memory.set({ place: value }));
      fill(top, choosers(memory, parts, choice), where, scrubber.element);
      map?.destroy();
      map = drawFigure(above, spectrumMap(arrays, title), { links, heat: { row: "index" } });
      show();
    } catch (error) {
      fill(above, h("p", { class: "figure-note" }, named(error instanceof Error ? error.message : String(error))));
    }
  };
  const link = links.of("step");
  const stops = [
    memory.watch(() => void refresh()),
    link.join(element, (change) => change === "place" && link.place !== null && scrubber?.near(link.place)),
  ];
  void refresh();
  return {
    destroy: () => {
      stops.forEach((stop) => stop());
      scrubber?.destroy();
      map?.destroy();
      single?.destroy();
      element.replaceChildren();
    },
  };
}
