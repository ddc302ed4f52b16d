/** A heat map on a canvas: the x scale, the cursor and the zoom of the plots beside it. */

import { mapOf, paintCells, shareOf, type Ground } from "./cells";
import { colourBar } from "./colourbar";
import { isGrid, marksOf, type Heat, type Panel } from "./description";
import { h, label, onWidth } from "./dom";
import { frameOf, placeWords, reading, type Drawn, type Frame } from "./frame";
import { width as textWidth } from "./lettering";
import { axisOf, type Change } from "./link";
import { colourAt } from "./maps";
import { count } from "./numbers";
import { outline, paintNames, paintUprights, type Over, type Place } from "./overlay";
import { onKey } from "./keys";
import type { Shared } from "./plot";
import { joinInSight } from "./sight";
import { along, at, columnEdges, xLimits, type Range } from "./scale";

export interface HeatOptions {
  /** What rows and columns are called in the readout. */
  row?: string;
  column?: string;
  /** Side of a grid's cells. */
  cell?: number;
  /** Without its own colour scale beside the title. */
  bare?: boolean;
  /** What a cell without a value means where it is no gap in the data; it is then left empty, not hatched. */
  hollow?: string;
  interval?: (row: number, column: number) => [number, number] | null;
  /** A cell was chosen by click or Enter. */
  pick?: (row: number, column: number) => void;
}

const LEFT = 44;
const BELOW = 20;
const ABOVE = 10;
const CELL = 22;
const SMALL = 5;

/** A drawn heat map; its values can be replaced, e.g. by those of another step. */
export class HeatMap implements Drawn {
  readonly element: HTMLElement;
  chosen: Place | null = null;
  private readonly frame: Frame;
  private readonly base = h("canvas", { class: "figure-canvas" });
  private readonly over = h("canvas", { class: "figure-canvas figure-over" });
  private readonly full: Range;
  private readonly grid: boolean;
  /** Edges of the columns, in units of x. */
  private readonly edges: number[];
  private readonly stops: (() => void)[] = [];
  private ground: Ground = { left: 0, top: 0, wide: 0, high: 0, edges: [] };
  private width = 0;
  private at: Place | null = null;
  private brush: { from: number; to: number } | null = null;
  private heat: Heat;

  constructor(
    readonly panel: Panel,
    private readonly shared: Shared,
    private readonly options: HeatOptions = {},
  ) {
    this.heat = marksOf(panel, "Heat")[0]!;
    this.full = xLimits(panel);
    this.grid = isGrid(this.heat);
    this.edges = columnEdges(this.heat, panel.x_scale);
    const shown = this.grid ? { ...panel, y: "", x: `${panel.y} ↑ ${panel.x} →` } : panel;
    this.frame = frameOf(shown, shared.link);
    this.element = this.frame.element;
    this.frame.body.append(this.base, this.over);
    this.frame.body.classList.add("figure-heat");
    if (this.grid) this.element.classList.add("figure-grid");
    if (!options.bare) this.frame.head.append(colourBar([this.heat], shared.theme));
    this.stops.push(
      onWidth(this.frame.body, (width) => this.resize(width)),
      joinInSight(shared.link, this, this.element, (change) => this.follow(change)),
    );
    this.listen();
  }

  canvases = (): HTMLCanvasElement[] => [this.base, this.over];

  destroy = (): void => this.stops.forEach((stop) => stop());

  /** Other values on the same rows, columns and scale. */
  show(heat: Heat): void {
    this.heat = heat;
    this.paint();
    this.tell();
  }

  choose(place: Place | null): void {
    this.chosen = place;
    this.paintOver();
  }

  /** The middle of a cell in pixels of the element; for tests that use a mouse. */
  centre(row: number, column: number): [number, number] {
    const { edges, top, high } = this.ground;
    const tall = high / this.heat.y.length;
    return [(edges[column]! + edges[column + 1]!) / 2, top + high - (row + 0.5) * tall];
  }

  private get range(): Range {
    return (!this.grid && this.shared.link.range) || this.full;
  }

  private resize(width: number): void {
    this.width = width;
    const names = 12 + Math.max(...this.heat.y.map((name) => textWidth(label(name, 12))));
    const left = this.grid ? names : Math.max(names, LEFT);
    const rows = this.heat.y.length;
    let wide = width - left - (this.grid ? 2 : this.shared.right);
    let high = Math.min(Math.max(18 * rows, 70), 320);
    if (this.grid) {
      const room = wide / this.heat.x.length;
      const cell = Math.min(this.options.cell ?? CELL, room > SMALL ? Math.floor(room) : room);
      wide = cell * this.heat.x.length;
      high = cell * rows;
    }
    this.ground = { left, top: ABOVE, wide, high, edges: [] };
    const crowded = this.heat.x.length > wide * devicePixelRatio;
    this.frame.rest(
      crowded ? `${count(this.heat.x.length)} columns: each pixel shows its most extreme` : null,
    );
    for (const canvas of this.canvases()) {
      canvas.width = width * devicePixelRatio;
      canvas.height = (ABOVE + high + BELOW) * devicePixelRatio;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${ABOVE + high + BELOW}px`;
    }
    this.paint();
  }

  private paint(): void {
    const { left, wide } = this.ground;
    if (!this.width) return;
    const range = this.range;
    this.ground.edges = this.edges.map((edge) => left + along(this.panel.x_scale, range, edge) * wide);
    const context = this.clean(this.base);
    paintCells(context, this.heat, this.ground, this.shared.theme, this.options.hollow !== undefined);
    paintNames(context, this.seen);
    this.paintOver();
  }

  private clean(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const context = canvas.getContext("2d")!;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    return context;
  }

  /** Over the cells, which stay as they are while the pointer moves. */
  private paintOver(): void {
    const context = this.clean(this.over);
    const { cursor, place } = this.shared.link;
    if (this.grid) paintUprights(context, this.seen, null, null, null);
    else paintUprights(context, this.seen, cursor, place, this.brush);
    outline(context, this.seen, this.at, this.shared.theme.ink, 1.2);
    outline(context, this.seen, this.chosen, this.shared.theme.hues[1]!, 2.2);
  }

  private get seen(): Over {
    return {
      panel: this.panel,
      heat: this.heat,
      ground: this.ground,
      range: this.range,
      theme: this.shared.theme,
    };
  }

  private listen(): void {
    const area = this.over;
    area.addEventListener("pointermove", (event) => this.pointed(event.offsetX, event.offsetY));
    area.addEventListener("pointerleave", () => this.left());
    area.addEventListener("pointerdown", (event) => this.pressed(event));
    area.addEventListener("pointerup", (event) => this.released(event));
    area.addEventListener("dblclick", () => !this.grid && this.shared.link.setRange(null));
    this.frame.body.addEventListener("keydown", (event) => this.key(event));
  }

  private cellAt(x: number, y: number): Place | null {
    const { left, top, wide, high, edges } = this.ground;
    if (x < left || x >= left + wide || y < top || y >= top + high) return null;
    const row = Math.min(Math.floor(((top + high - y) / high) * this.heat.y.length), this.heat.y.length - 1);
    const column = edges.findIndex((edge, nth) => nth + 1 < edges.length && x >= edge && x < edges[nth + 1]!);
    return column < 0 ? null : { row, column };
  }

  private pointed(x: number, y: number): void {
    if (this.brush) this.brush.to = x;
    this.at = this.cellAt(x, y);
    if (!this.grid) {
      const share = (x - this.ground.left) / this.ground.wide;
      this.shared.link.setCursor(this.at ? at(this.panel.x_scale, this.range, share) : null, this);
    }
    this.paintOver();
    this.tell();
  }

  private left(): void {
    this.at = null;
    if (!this.grid) this.shared.link.setCursor(null, this);
    this.paintOver();
    this.tell();
  }

  private pressed(event: PointerEvent): void {
    if (this.grid || event.button !== 0) return;
    this.over.setPointerCapture(event.pointerId);
    this.brush = { from: event.offsetX, to: event.offsetX };
  }

  private released(event: PointerEvent): void {
    const brush = this.brush;
    this.brush = null;
    if (brush && Math.abs(brush.to - brush.from) >= 4) {
      const place = (x: number) =>
        at(this.panel.x_scale, this.range, (x - this.ground.left) / this.ground.wide);
      const [low, high] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)];
      this.shared.link.setRange([Math.max(place(low), this.full[0]), Math.min(place(high), this.full[1])]);
      return;
    }
    const place = this.cellAt(event.offsetX, event.offsetY);
    if (!place) return;
    if (!this.grid) this.shared.link.setPlace(this.heat.x[place.column] as number);
    this.options.pick?.(place.row, place.column);
  }

  private follow(change: Change): void {
    if (this.grid) return;
    this.frame.zoomed(this.shared.link.range !== null);
    if (change === "range") return this.paint();
    if (change === "place") return this.paintOver();
    const { cursor } = this.shared.link;
    const column = cursor === null ? -1 : this.columnOf(cursor);
    this.at = column < 0 ? null : { row: this.at?.row ?? this.heat.y.length - 1, column };
    this.paintOver();
    this.tell();
  }

  private columnOf(x: number): number {
    const { edges } = this;
    return edges.findIndex((edge, nth) => nth + 1 < edges.length && x >= edge && x <= edges[nth + 1]!);
  }

  private key(event: KeyboardEvent): void {
    const here = this.at ?? this.chosen ?? { row: this.heat.y.length - 1, column: 0 };
    const by = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter" && this.at) this.options.pick?.(here.row, here.column);
    else if (by && (this.grid || by[0])) {
      const step = this.at ? by : [0, 0];
      const inside = (value: number, many: number) => Math.min(Math.max(value, 0), many - 1);
      this.at = {
        row: inside(here.row + step[0]!, this.heat.y.length),
        column: inside(here.column + step[1]!, this.heat.x.length),
      };
      this.paintOver();
      this.tell();
    } else if (event.key === "Escape" && this.at && this.grid) this.left();
    else if (this.grid) return;
    else return onKey(event, this.heat.x as number[], this.full, this.panel, this.shared.link);
    event.preventDefault();
    event.stopPropagation();
  }

  /** Says the cell that is pointed at. */
  private tell(): void {
    const value = this.at && this.heat.values[this.at.row]?.[this.at.column];
    if (!this.at || value === undefined) return this.frame.say();
    const row = `${this.options.row ?? (this.grid ? this.panel.y : "layer")} ${this.heat.y[this.at.row]}`;
    const x = this.heat.x[this.at.column]!;
    const column =
      typeof x === "string"
        ? `${this.options.column ?? this.panel.x} ${x}`
        : placeWords(axisOf(this.panel.x), x);
    const where = h("b", {}, `${column} · ${row}`);
    if (value === null) return this.frame.say(where, this.options.hollow ?? "no number there");
    if (typeof value === "string") return this.frame.say(where, h("span", { class: "figure-lost" }, value));
    const [low, high] = this.options.interval?.(this.at.row, this.at.column) ?? [null, null];
    this.frame.say(
      where,
      reading(colourAt(mapOf(this.heat), shareOf(this.heat, value)), "", value, low, high),
    );
  }
}
