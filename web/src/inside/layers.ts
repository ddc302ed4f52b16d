/** Numbers of layers over the run: a heat map of one part at a time, with what was claimed of it. */

import { fill, h } from "../figure/dom";
import { drawFigure, type DrawnFigure } from "../figure/draw";
import { Links } from "../figure/link";
import { choiceIn, choosers, sameChoice } from "./choice";
import { along, byStep, intervalAt, lastLoop, overSteps, placeOf, rulesOf } from "./cube";
import { begin, say } from "./said";
import type { Choice, Memory, Part, Rows, Shown, Source, Transition } from "./source";

/** Whether a part gives one number a layer. */
export function isLayered(part: Part): boolean {
  return part.axes.includes("layer") && part.axes.every((axis) => axis === "layer" || axis === "loop");
}

/** Mounts the view: layer by step, and below it the course of the layer that was chosen. */
export function layersView(element: HTMLElement, source: Source, memory: Memory, links = new Links()): Shown {
  const view = new LayersView(element, source, memory, links);
  begin(element, view.begin());
  return view;
}

class LayersView implements Shown {
  private parts: Part[] = [];
  private transitions: Promise<Transition[]> = Promise.resolve([]);
  private choice: Choice | null = null;
  private map: DrawnFigure | null = null;
  private course: DrawnFigure | null = null;
  /** What the map shows, and the layer that is shown below it. */
  private held: { rows: Rows; claims: Transition[] } | null = null;
  private layer = NaN;
  private stop = () => {};
  private readonly top = h("div", { class: "inside-top" });
  private readonly above = h("div", {});
  private readonly below = h("div", {});

  constructor(
    private readonly element: HTMLElement,
    private readonly source: Source,
    private readonly memory: Memory,
    private readonly links: Links,
  ) {
    fill(element, this.top, this.above, this.below);
  }

  destroy = (): void => {
    this.choice = null;
    this.stop();
    this.map?.destroy();
    this.course?.destroy();
    this.element.replaceChildren();
  };

  async begin(): Promise<void> {
    this.parts = (await this.source.parts()).filter(isLayered);
    if (!this.parts.length) return say(this.element, "No part that gives one number a layer was measured.");
    this.transitions = this.source.transitions();
    this.stop = this.memory.watch(() => begin(this.above, this.refresh()));
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    const choice = choiceIn(this.memory, this.parts);
    if (!sameChoice(this.choice, choice)) {
      this.choice = choice;
      this.held = null;
      const [rows, transitions] = await Promise.all([this.source.rows(choice), this.transitions]);
      if (!sameChoice(this.choice, choice)) return;
      fill(this.top, choosers(this.memory, this.parts, choice));
      this.draw(lastLoop(rows), choice, transitions);
    }
    this.showLayer();
  }

  private draw(rows: Rows, { part, stimulus }: Choice, transitions: Transition[]): void {
    const claims = transitions.filter((one) => one.part === part && (!stimulus || one.stimulus === stimulus));
    const layers = along(rows, "layer");
    const heat = {
      interval: (row: number, column: number) =>
        intervalAt(rows, placeOf(rows, { layer: layers[row]! }), column),
      pick: (row: number) => this.memory.set({ layer: String(layers[row]) }),
    };
    const title = this.parts.find((one) => one.name === part)!.title;
    this.map?.destroy();
    this.map = drawFigure(this.above, byStep(rows, "layer", title, rulesOf(claims)), {
      links: this.links,
      heat,
    });
    [this.held, this.layer] = [{ rows, claims }, NaN];
  }

  /** The course of the chosen layer; where none was chosen, of the last. */
  private showLayer(): void {
    if (!this.held) return;
    const { rows, claims } = this.held;
    const layers = along(rows, "layer");
    const chosen = this.memory.get("layer");
    const layer = chosen && layers.includes(Number(chosen)) ? Number(chosen) : layers.at(-1)!;
    if (layer === this.layer) return;
    this.layer = layer;
    const name = `layer ${layer}`;
    const mine = claims.filter((one) => Number(one.place.layer) === layer);
    this.course?.destroy();
    const figure = overSteps(rows, placeOf(rows, { layer }), name, name, rulesOf(mine));
    this.course = drawFigure(this.below, figure, { links: this.links, tools: false });
  }
}
