/** Heads over a run: the layer by head grid under a scrubber, and beside it the head that was chosen. */

import { fill, h } from "../figure/dom";
import { drawFigure, type DrawnFigure } from "../figure/draw";
import { Links } from "../figure/link";
import { choiceIn, choosers, sameChoice } from "./choice";
import { Scrubber } from "./controls";
import { along, headGrid, intervalAt, lastLoop, overSteps, placeOf, rulesOf } from "./cube";
import { patternFigure } from "./pattern";
import { begin, reason, say } from "./said";
import type { Choice, Memory, Part, Rows, Shown, Source, Transition } from "./source";

/** Side of a cell of the grid. */
const CELL = 24;
/** Side of a pattern, about, in pixels. */
const PATTERN = 520;

/** Mounts the view into an element. */
export function headsView(
  element: HTMLElement,
  source: Source,
  memory: Memory,
  links = new Links(),
): HeadsShown {
  const view = new HeadsView(element, source, memory, links);
  begin(element, view.begin());
  return view;
}

export interface HeadsShown extends Shown {
  /** Moves the scrubber by so many checkpoints. */
  by: (many: number) => void;
}

class HeadsView implements HeadsShown {
  private parts: Part[] = [];
  private transitions: Transition[] = [];
  private choice: Choice | null = null;
  private rows: Rows | null = null;
  private grid: DrawnFigure | null = null;
  private course: DrawnFigure | null = null;
  private attention: DrawnFigure | null = null;
  private scrubber: Scrubber | null = null;
  private asked = 0;
  private gone = false;
  private following = false;
  private readonly top = h("div", { class: "inside-top" });
  private readonly left = h("div", { class: "inside-grid" });
  private readonly over = h("div", {});
  private readonly matrix = h("div", { class: "inside-pattern" });
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly element: HTMLElement,
    private readonly source: Source,
    private readonly memory: Memory,
    private readonly links: Links,
  ) {
    const beside = h("div", { class: "inside-detail" }, this.over, this.matrix);
    fill(
      element,
      h("div", { class: "inside-heads" }, this.top, h("div", { class: "inside-split" }, this.left, beside)),
    );
  }

  by = (many: number): void => this.scrubber?.by(many);

  destroy = (): void => {
    this.gone = true;
    this.stops.forEach((stop) => stop());
    this.scrubber?.destroy();
    for (const drawn of [this.grid, this.course, this.attention]) drawn?.destroy();
    this.element.replaceChildren();
  };

  async begin(): Promise<void> {
    const every = await this.source.parts();
    this.parts = every.filter((part) => part.axes.includes("layer") && part.axes.includes("head"));
    if (!this.parts.length) return say(this.element, "No part that scores single heads was measured.");
    this.transitions = await this.source.transitions();
    if (this.gone) return;
    this.parts.sort((a, b) => this.change(b.name) - this.change(a.name));
    const link = this.links.of("step");
    this.stops.push(
      this.memory.watch(() => begin(this.over, this.refresh())),
      link.join(this, (change) => change === "place" && link.place !== null && this.follow(link.place)),
    );
    await this.refresh();
  }

  /** The largest claimed change of a part: what a reader looks for comes first. */
  private change(part: string): number {
    const claims = this.transitions.filter((one) => one.part === part && one.verdict === "transition");
    return Math.max(0, ...claims.map((one) => Math.abs(one.size ?? 0)));
  }

  /** Shows what the memory says; asks only for what is not there yet. */
  private async refresh(): Promise<void> {
    const choice = choiceIn(this.memory, this.parts);
    if (!sameChoice(this.choice, choice)) {
      this.choice = choice;
      const asked = (this.asked += 1);
      const rows = lastLoop(await this.source.rows(choice));
      if (asked !== this.asked || this.gone) return;
      this.rows = rows;
      this.build();
    }
    const step = this.memory.get("step");
    if (step) this.scrubber?.near(Number(step));
    await this.showHead();
  }

  private get title(): string {
    return this.parts.find((part) => part.name === this.choice!.part)!.title;
  }

  private build(): void {
    const rows = this.rows!;
    const last = rows.steps.length - 1;
    const before = this.scrubber?.step;
    this.scrubber?.destroy();
    this.scrubber = new Scrubber(rows.steps, last, () => this.moved());
    if (before !== undefined) this.scrubber.near(before);
    fill(this.top, choosers(this.memory, this.parts, this.choice!), this.scrubber.element);
    this.grid?.destroy();
    const heat = {
      cell: CELL,
      interval: (row: number, column: number) => intervalAt(rows, this.placeAt(row, column), this.index),
      pick: (row: number, column: number) =>
        this.memory.set({ head: `${along(rows, "layer")[row]}.${along(rows, "head")[column]}` }),
    };
    const grid = headGrid(rows, this.index, this.title);
    this.left.style.setProperty("--wide", `${40 + CELL * along(rows, "head").length}px`);
    this.grid = drawFigure(this.left, grid, { links: this.links, heat });
  }

  private placeAt(row: number, column: number): number {
    const rows = this.rows!;
    return placeOf(rows, { layer: along(rows, "layer")[row]!, head: along(rows, "head")[column]! });
  }

  private get index(): number {
    return this.rows!.steps.indexOf(this.scrubber!.step);
  }

  /** A step was chosen elsewhere: the nearest checkpoint is shown, and the mark stays where it was put. */
  private follow(step: number): void {
    this.following = true;
    this.scrubber?.near(step);
    this.following = false;
  }

  private moved(): void {
    this.grid?.update(headGrid(this.rows!, this.index, this.title));
    if (!this.following) this.links.of("step").setPlace(this.scrubber!.step, this);
    this.memory.set({ step: String(this.scrubber!.step) });
  }

  /** The chosen head: where nothing is chosen, one that a transition is claimed of, else the highest. */
  private chosen(): { layer: number; head: number } {
    const rows = this.rows!;
    const [layer, head] = this.memory.get("head").split(".").map(Number);
    if (placeOf(rows, { layer: layer ?? "", head: head ?? "" }) >= 0) return { layer: layer!, head: head! };
    const claims = this.transitions
      .filter((one) => one.part === this.choice!.part && one.verdict === "transition")
      .sort((a, b) => Math.abs(b.size ?? 0) - Math.abs(a.size ?? 0));
    for (const claim of claims) {
      const at = claim.place;
      if (at.head !== undefined && placeOf(rows, at) >= 0)
        return { layer: Number(at.layer), head: Number(at.head) };
    }
    return this.highest();
  }

  private highest(): { layer: number; head: number } {
    const rows = this.rows!;
    const last = rows.places.map((_, place) => rows.values[(place + 1) * rows.steps.length - 1]!);
    const best = rows.places
      .map((place, nth) => ({ place, value: last[nth]! }))
      .filter(({ place, value }) => place.head !== undefined && Number.isFinite(value))
      .sort((a, b) => b.value - a.value)[0];
    const place = best?.place ?? rows.places[0]!;
    return { layer: Number(place.layer), head: Number(place.head) };
  }

  private async showHead(): Promise<void> {
    const rows = this.rows!;
    const { layer, head } = this.chosen();
    this.grid?.choose({
      row: along(rows, "layer").indexOf(layer),
      column: along(rows, "head").indexOf(head),
    });
    const label = `L${layer} H${head}`;
    const mine = this.transitions.filter((one) => {
      const at = one.place;
      return one.part === this.choice!.part && Number(at.layer) === layer && Number(at.head) === head;
    });
    const here = mine.filter((one) => one.stimulus === this.choice!.stimulus || !this.choice!.stimulus);
    const title = `layer ${layer} head ${head}`;
    const figure = overSteps(rows, placeOf(rows, { layer, head }), label, title, rulesOf(here));
    figure.note = verdictWords(here[0]);
    const key = JSON.stringify([this.choice, layer, head]);
    if (this.over.dataset.key !== key) {
      this.over.dataset.key = key;
      this.course?.destroy();
      this.course = drawFigure(this.over, figure, { links: this.links });
    }
    await this.showPattern(layer, head);
  }

  private async showPattern(layer: number, head: number): Promise<void> {
    if (!this.source.pattern) return;
    const step = this.scrubber!.step;
    const key = `${step} ${layer} ${head}`;
    if (this.matrix.dataset.key === key) return;
    this.matrix.dataset.key = key;
    if (!this.attention) say(this.matrix, "The model reads the text; the first time takes some seconds.");
    try {
      const pattern = await this.source.pattern(step, layer, head);
      if (this.matrix.dataset.key !== key) return;
      const figure = patternFigure(pattern, `where it looks at step ${step.toLocaleString("en")}`);
      this.attention?.destroy();
      const cell = cellFor(pattern.tokens.length);
      const heat = { cell, row: "query", column: "key", hollow: "comes later: it cannot be seen" };
      this.attention = drawFigure(this.matrix, figure, { heat });
    } catch (error) {
      if (this.matrix.dataset.key !== key) return;
      this.attention?.destroy();
      this.attention = null;
      say(this.matrix, reason(error));
    }
  }
}

/** Side of a pattern's cells: the whole of it fits beside its head's course. */
function cellFor(tokens: number): number {
  return Math.min(Math.max(Math.floor(PATTERN / tokens), 5), 16);
}

/** What was found of a head, in a sentence. */
function verdictWords(found: Transition | undefined): string {
  if (!found) return "No detector looked at it.";
  if (found.verdict === "transition") return "";
  return `Not claimed: ${found.verdict}. ${found.reason}`;
}
