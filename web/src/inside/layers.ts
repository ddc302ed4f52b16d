/** Numbers of layers over the run: a heat map of one part at a time, with what was claimed of it. */

import { fill, h } from "../figure/dom";
import { drawFigure, type DrawnFigure } from "../figure/draw";
import { Links } from "../figure/link";
import { choiceIn, choosers, sameChoice } from "./choice";
import { byStep, intervalAt, lastLoop, overSteps, placeOf, rulesOf } from "./cube";
import type { Choice, Memory, Part, Shown, Source } from "./source";

/** Whether a part gives one number a layer. */
export function isLayered(part: Part): boolean {
  return part.axes.includes("layer") && part.axes.every((axis) => axis === "layer" || axis === "loop");
}

/** Mounts the view: layer by step, and below it the course of the layer that was chosen. */
export function layersView(element: HTMLElement, source: Source, memory: Memory, links = new Links()): Shown {
  let choice: Choice | null = null;
  let [map, course]: (DrawnFigure | null)[] = [null, null];
  let stop = () => {};
  const top = h("div", { class: "inside-top" });
  const above = h("div", {});
  const below = h("div", {});
  fill(element, top, above, below);
  const begin = async () => {
    const parts = (await source.parts()).filter(isLayered);
    if (!parts.length) return fill(element, h("p", { class: "figure-note" }, "No part that gives one number a layer was measured."));
    const found = await source.transitions();
    const refresh = async () => {
      const wanted = choiceIn(memory, parts);
      if (sameChoice(choice, wanted)) return;
      choice = wanted;
      const rows = lastLoop(await source.rows(wanted));
      if (!sameChoice(choice, wanted)) return;
      const title = parts.find((part) => part.name === wanted.part)!.title;
      const claims = found.filter((one) => one.part === wanted.part && (!wanted.stimulus || one.stimulus === wanted.stimulus));
      fill(top, choosers(memory, parts, wanted));
      const layers = rows.places.map((place) => place.layer).filter((layer) => layer !== undefined);
      layers.sort((a, b) => Number(a) - Number(b));
      const at = (row: number) => placeOf(rows, { layer: layers[row]! });
      const single = (row: number) => {
        const layer = layers[row]!;
        const mine = claims.filter((one) => String(one.place.layer) === String(layer));
        course?.destroy();
        course = drawFigure(below, overSteps(rows, at(row), `layer ${layer}`, `layer ${layer}`, rulesOf(mine)), { links, tools: false });
      };
      map?.destroy();
      const heat = { interval: (row: number, column: number) => intervalAt(rows, at(row), column), pick: single };
      map = drawFigure(above, byStep(rows, "layer", title, rulesOf(claims)), { links, heat });
      single(layers.length - 1);
    };
    stop = memory.watch(() => void refresh());
    await refresh();
  };
  void begin();
  return {
    destroy: () => {
      stop();
      map?.destroy();
      course?.destroy();
      element.replaceChildren();
    },
  };
}
