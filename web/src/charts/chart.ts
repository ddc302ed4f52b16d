/** One chart of traces over a shared x: uPlot for axes, lines and the pointer, the rest in draw.ts. */

import uPlot from "uplot";
import type { AxisName } from "../api";
import type { XScale, YScale } from "../state";
import type { Theme } from "../theme";
import { align, extent, type Trace } from "./trace";
import { drawBands } from "./bands";
import * as draw from "./draw";
import { ticks, tickText, turn, xScale, yRange, yScale } from "./scales";
import { FACE } from "./names";
import { checkpointNear, nearestRun } from "./pointer";
import { register, unregister } from "./probe";

export interface ChartOptions {
  title: string;
  axis: AxisName;
  xKind: XScale;
  yKind: YScale;
  theme: Theme;
  width: number;
  height: number;
  /** Names at line ends: none, or this many CSS pixels to the right of the plot, the same in all panels. */
  room: number;
  /** Words under the x axis and beside the y axis; a small panel has none. */
  words?: { x: string; y: string };
  /** The pointer is at x (null: it left), nearest to a trace of this run. */
  onPoint(x: number | null, run: string | null): void;
  /** A range of x is being brushed. */
  onBrush(range: [number, number]): void;
  /** A range of x was brushed; null asks for all of it. */
  onZoom(range: [number, number] | null): void;
  /** A checkpoint's tick was clicked. */
  onCheckpoint(at: number): void;
}

const FADED = 0.15;

export class Chart {
  private u: uPlot | null = null;
  private traces: Trace[] = [];
  private happenings = draw.NOTHING;
  private domain: [number, number] = [0, 1];
  private shape = "";
  private size: { width: number; height: number };
  private threshold = 1;
  private lit: string | null = null;
  private moved = false;
  constructor(
    readonly root: HTMLElement,
    readonly options: ChartOptions,
  ) {
    this.size = { width: options.width, height: options.height };
    register(this);
  }

  destroy(): void {
    unregister(this);
    this.clear();
  }

  private clear(): void {
    this.u?.destroy();
    this.u = null;
    this.shape = "";
  }

  get plot(): uPlot | null {
    return this.u;
  }

  get list(): Trace[] {
    return this.traces;
  }

  /** Where an arcsinh axis turns from linear to logarithmic. */
  get bend(): number {
    return this.threshold;
  }

  /** What is shown of x. */
  get range(): [number, number] {
    return this.domain;
  }

  /** Buckets that hold something a logarithmic axis cannot show. */
  get excluded(): number {
    if (this.options.yKind !== "log") return 0;
    return this.traces.reduce((sum, trace) => sum + trace.low.filter((low) => low <= 0).length, 0);
  }

  /** Draws these traces over this range of x. */
  set(list: Trace[], domain: [number, number], happenings: draw.Happenings): void {
    this.traces = list;
    this.domain = domain;
    this.happenings = happenings;
    if (!list.length) return this.clear();
    const threshold = this.options.yKind === "arcsinh" ? turn(extent(list, -Infinity, Infinity)) : 1;
    const shape = JSON.stringify([threshold, list.map((t) => [t.key, t.colour, t.alpha, t.width, t.label])]);
    this.threshold = threshold;
    if (this.u && shape === this.shape) {
      this.u.batch(() => {
        this.u!.setData(align(list) as uPlot.AlignedData, false);
        this.rescale();
      });
      return;
    }
    this.shape = shape;
    this.u?.destroy();
    // On the page only once it is drawn (`listen`): a font set on a canvas of the page lays out all of the page.
    this.u = new uPlot(this.build(), align(list) as uPlot.AlignedData, (_, begin) => begin());
    this.u.root.setAttribute("aria-hidden", "true");
  }

  /** Shows another range of x at once, with the buckets there are, or what else happened along it. */
  show(domain: [number, number], happenings: draw.Happenings): void {
    if (happenings === this.happenings && domain === this.domain) return;
    const same = domain.every((end, index) => end === this.domain[index]);
    this.domain = domain;
    this.happenings = happenings;
    if (same) this.u?.redraw(false, false);
    else this.u?.batch(() => this.rescale());
  }

  resize(width: number, height: number): void {
    this.size = { width, height };
    if (this.u && (this.u.width !== width || this.u.height !== height)) this.u.setSize({ width, height });
  }

  /** The crosshair of another panel, and the run it is nearest to. */
  follow(x: number | null, run: string | null): void {
    const { u } = this;
    if (!u) return;
    const left = x === null ? -10 : u.valToPos(x, "x");
    const inside = left >= 0 && left <= u.over.clientWidth;
    u.setCursor({ left: inside ? left : -10, top: inside ? -1 : -10 }, false);
    this.light(run);
  }

  /** Fades every run but one. */
  light(run: string | null): void {
    const known = run !== null && this.traces.some((trace) => isOf(trace, run)) ? run : null;
    if (known === this.lit || !this.u) return;
    this.lit = known;
    this.traces.forEach((trace, index) => (this.u!.series[index + 1].alpha = this.alpha(trace)));
    this.u.redraw(false, false);
  }

  private alpha(trace: Trace): number {
    if (this.lit === null) return trace.alpha;
    if (!isOf(trace, this.lit)) return FADED * trace.alpha;
    return trace.run === this.lit ? 1 : trace.alpha;
  }

  private rescale(): void {
    const [min, max] = this.domain;
    this.u!.setScale("x", { min, max });
    const [low, high] = this.yRange();
    this.u!.setScale("y", { min: low, max: high });
  }

  private yRange(): [number, number] {
    return yRange(this.options.yKind, extent(this.traces, ...this.domain), this.threshold);
  }

  private build(): uPlot.Options {
    const { options } = this;
    return {
      ...this.size,
      padding: [12, options.room || 18, 0, 0],
      legend: { show: false },
      scales: {
        x: xScale(options.xKind, () => this.domain),
        y: yScale(options.yKind, this.threshold, () => this.yRange()),
      },
      axes: [this.axis("x"), this.axis("y")],
      series: [{}, ...this.traces.map((trace) => this.line(trace))],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        points: { size: 6, width: 1.5 },
        hover: { prox: 12 },
        bind: {
          dblclick: () => () => (options.onZoom(null), null),
          mouseleave: (_, __, run) => this.leave(run),
        },
      },
      hooks: {
        drawClear: [(u) => this.under(u)],
        drawAxes: [(u) => this.below(u)],
        draw: [(u) => this.above(u)],
        setCursor: [(u) => this.pointed(u)],
        setSelect: [(u) => this.brushed(u)],
        ready: [(u) => this.listen(u)],
      },
    };
  }

  private line(trace: Trace): uPlot.Series {
    return {
      scale: "y",
      stroke: trace.colour,
      width: trace.width,
      alpha: this.alpha(trace),
      dash: trace.role === "superseded" ? [4, 3] : undefined,
      // A trace of one bucket has no line to see.
      points: { show: trace.x.length === 1, size: 5, fill: trace.colour },
    };
  }

  private axis(side: "x" | "y"): uPlot.Axis {
    const { options } = this;
    const words = options.words?.[side];
    const kind = side === "x" ? options.xKind : options.yKind;
    const named = side === "x" ? options.axis : "y";
    return {
      stroke: options.theme.muted,
      font: `11px ${FACE}`,
      labelFont: `12px ${FACE}`,
      label: words || undefined,
      labelSize: words ? 18 : 0,
      gap: 4,
      grid: { stroke: options.theme.hairline, width: 1 },
      ticks: { show: false },
      border: { show: side === "x", stroke: options.theme.quiet, width: 1 },
      splits: (u, _, low, high) => {
        const room =
          side === "x" ? u.bbox.width / devicePixelRatio / 56 : u.bbox.height / devicePixelRatio / 24;
        const most = Math.max(2, Math.min(options.words ? 9 : 5, Math.floor(room)));
        return ticks(kind, side, this.threshold, low, high, most, named);
      },
      filter: (_, splits) => splits,
      values: (_, splits) => splits.map((split) => tickText(named, split)),
      size:
        side === "x" ? 20 : (_, texts) => 10 + 6.4 * Math.max(6, ...(texts ?? []).map((text) => text.length)),
    };
  }

  private below(u: uPlot): void {
    const p = draw.plane(u);
    p.ctx.save();
    draw.clip(p);
    draw.drawTransitions(p, this.happenings);
    for (const trace of this.traces) {
      if (trace.role === "run" || trace.role === "seed")
        draw.drawSpikes(p, trace, this.alpha(trace), this.floor(u));
    }
    p.ctx.restore();
  }

  /** A logarithmic axis ends there, below what it cannot show. */
  private floor(u: uPlot): number {
    return this.options.yKind === "log" ? u.scales.y.min! : -Infinity;
  }

  private under(u: uPlot): void {
    const banded = this.traces.filter((trace) => trace.role !== "superseded");
    const share = (trace: Trace) => (trace.role === "mean" ? 0.22 : 0.2) * this.alpha(trace);
    drawBands(
      draw.plane(u),
      banded.map((trace) => ({ trace, alpha: share(trace) })),
      this.floor(u),
    );
  }

  private above(u: uPlot): void {
    const p = draw.plane(u);
    const alphas = this.traces.map((trace) => this.alpha(trace));
    p.ctx.save();
    draw.drawRail(p, this.traces, alphas);
    if (this.excluded) this.traces.forEach((trace, index) => draw.drawExcluded(p, trace, alphas[index]));
    draw.drawAxisMarks(p, this.happenings, this.options.theme);
    if (this.options.room) draw.drawNames(p, this.traces, alphas, `${11 * p.ratio}px ${FACE}`);
    p.ctx.restore();
  }

  private pointed(u: uPlot): void {
    const { left, top, event } = u.cursor;
    // Only a real pointer speaks; a cursor that was set from elsewhere only listens.
    if (!event || !this.moved || left === undefined || left < 0) return;
    this.options.onPoint(u.posToVal(left, "x"), nearestRun(u, this.traces, left, top ?? 0));
    const brush = this.brush(u);
    if (brush) this.options.onBrush(brush);
  }

  /** What the brush covers, if it is more than a click. */
  private brush(u: uPlot): [number, number] | null {
    const { left, width } = u.select;
    return width < 4 ? null : [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
  }

  private leave(run: uPlot.Cursor.MouseListener): uPlot.Cursor.MouseListener {
    return (event) => {
      this.moved = false;
      this.options.onPoint(null, null);
      return run(event);
    };
  }

  private brushed(u: uPlot): void {
    const range = this.brush(u);
    if (!range) return;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.options.onZoom(range);
  }

  private listen(u: uPlot): void {
    if (u === this.u) this.root.append(u.root);
    u.over.addEventListener("mousemove", () => (this.moved = true), true);
    u.over.addEventListener("click", (event) => {
      const near = checkpointNear(u, this.happenings.checkpoints, event.offsetX, event.offsetY);
      if (near !== null) this.options.onCheckpoint(near);
    });
    u.over.addEventListener("mousemove", (event) => {
      const near = checkpointNear(u, this.happenings.checkpoints, event.offsetX, event.offsetY);
      u.over.style.cursor = near === null ? "" : "pointer";
    });
  }
}

/** Whether a trace is of this run, or of this condition. */
const isOf = (trace: Trace, run: string): boolean => trace.run === run || trace.group === run;
