/** A spectrum over the run: index by step as a heat map, and at one step on logarithmic axes. */

import type { Figure, Line, Plain } from "../figure/description";
import { fill, h } from "../figure/dom";
import { drawFigure, type DrawnFigure } from "../figure/draw";
import { Links } from "../figure/link";
import { count } from "../figure/numbers";
import { extent } from "../figure/scale";
import { choiceIn, choosers } from "./choice";
import { chooser, nearest, Scrubber } from "./controls";
import { alone, colourSpacing, PANEL } from "./cube";
import { begin } from "./said";
import type { Arrays, Choice, Memory, Part, Shown, Source } from "./source";

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
  const found = Array.from(
    { length: most },
    (_, nth) => Math.round(Math.exp((reach * nth) / (most - 1))) - 1,
  );
  return [...new Set(found)];
}

/** Mounts the view of parts that keep whole arrays, at the places that have one. */
export function spectraView(
  element: HTMLElement,
  source: Source,
  memory: Memory,
  parts: Part[],
  places: string[],
  links = new Links(),
): Shown {
  const view = new SpectraView(element, source, memory, parts, places, links);
  begin(element, view.refresh());
  return view;
}

class SpectraView implements Shown {
  private map: DrawnFigure | null = null;
  private single: DrawnFigure | null = null;
  private scrubber: Scrubber | null = null;
  private key = "";
  private readonly top = h("div", { class: "inside-top" });
  private readonly above = h("div", {});
  private readonly below = h("div", {});
  private readonly stops: (() => void)[];

  constructor(
    private readonly element: HTMLElement,
    private readonly source: Source,
    private readonly memory: Memory,
    private readonly parts: Part[],
    private readonly places: string[],
    private readonly links: Links,
  ) {
    fill(element, this.top, this.above, this.below);
    const link = links.of("step");
    this.stops = [
      memory.watch(() => begin(this.above, this.refresh())),
      link.join(
        this,
        (change) => change === "place" && link.place !== null && this.scrubber?.near(link.place),
      ),
    ];
  }

  destroy = (): void => {
    this.stops.forEach((stop) => stop());
    this.scrubber?.destroy();
    this.map?.destroy();
    this.single?.destroy();
    this.element.replaceChildren();
  };

  /** Shows what the memory says; asks only for what is not there yet. */
  async refresh(): Promise<void> {
    const choice = choiceIn(this.memory, this.parts);
    const kept = this.memory.get("place");
    const place = this.places.includes(kept) ? kept : this.places[0]!;
    const key = JSON.stringify([choice, place]);
    if (key === this.key) return this.scrubber?.near(Number(this.memory.get("step") || this.scrubber.step));
    this.key = key;
    const arrays = await this.source.arrays!(choice, place);
    if (key === this.key) this.show(arrays, choice, place);
  }

  private show(arrays: Arrays, choice: Choice, place: string): void {
    const step = this.memory.get("step");
    const first = step ? nearest(arrays.steps, Number(step)) : arrays.steps.length - 1;
    this.scrubber?.destroy();
    this.scrubber = new Scrubber(arrays.steps, first, () => {
      this.at(arrays);
      this.links.of("step").setPlace(this.scrubber!.step, this);
      this.memory.set({ step: String(this.scrubber!.step) });
    });
    const where = chooser("place", this.places, place, (value) => this.memory.set({ place: value }));
    fill(this.top, choosers(this.memory, this.parts, choice), where, this.scrubber.element);
    const title = this.parts.find((part) => part.name === choice.part)!.title;
    this.map?.destroy();
    this.map = drawFigure(this.above, spectrumMap(arrays, title), {
      links: this.links,
      heat: { row: "index" },
    });
    this.at(arrays);
  }

  private at(arrays: Arrays): void {
    const step = this.scrubber!.step;
    const figure = spectrumAt(arrays, arrays.steps.indexOf(step), `at step ${count(step)}`);
    this.single?.destroy();
    this.single = drawFigure(this.below, figure, { tools: false });
  }
}
