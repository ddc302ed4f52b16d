/** A panel of lines by uPlot: the scales, the marks and the linked cursor of a description. */

import uPlot from "uplot";
import { colourOf, curvesOf, widthOf, type Curve, type Curves } from "./curves";
import { marksOf, type Panel } from "./description";
import { frameOf, placeWords, reading, type Drawn, type Frame } from "./frame";
import { onWidth } from "./dom";
import { FACE } from "./lettering";
import { axisOf, type Change, type Link } from "./link";
import { plural, shortNumber } from "./numbers";
import { labelledRules, paintBands, paintMarks, RAIL_ROW, RULE_ROW, ruleRows } from "./paint";
import { onKey } from "./keys";
import { joinInSight } from "./sight";
import { along, limits, onto, ticks, xLimits, type Range } from "./scale";
import { faded, type Theme } from "./theme";

/** What the panels of a figure share. */
export interface Shared {
  theme: Theme;
  link: Link;
  /** Height of the plot, in pixels, without titles and axes. */
  height: number;
  /** Room right of the plot for end labels. */
  right: number;
}

const LEFT = 44;
const BELOW = 20;
const BAND = 0.2;
const QUIET_BAND = 0.35;

/** Draws a panel and keeps it at the width of its element. */
export function drawPlot(panel: Panel, shared: Shared): Drawn {
  const curves = curvesOf(panel);
  const full = xLimits(panel);
  const rest = curves.excluded
    ? [plural(curves.excluded, "value") + " ≤ 0 have no place on a log scale"]
    : [];
  const frame = frameOf(panel, shared.link, rest);
  let u: uPlot | null = null;
  const stopWidth = onWidth(frame.body, (width) => {
    const high = shared.height + BELOW + headroom(panel, shared, width);
    if (u) u.setSize({ width, height: high });
    else
      u = new uPlot(
        options(panel, curves, shared, frame, width, high),
        curves.data as uPlot.AlignedData,
        frame.body,
      );
  });
  const leave = joinInSight(
    shared.link,
    frame,
    frame.element,
    (change) => u && follow(u, shared.link, change, frame, full),
  );
  frame.body.addEventListener("keydown", (event) => onKey(event, curves.data[0], full, panel, shared.link));
  frame.zoomed(shared.link.range !== null);
  return {
    panel,
    element: frame.element,
    canvases: () => (u ? [u.ctx.canvas] : []),
    destroy: () => {
      stopWidth();
      leave();
      u?.destroy();
    },
    plot: () => u,
  };
}

/** Rows above the plot: names of transitions, the rail. */
function headroom(panel: Panel, shared: Shared, width: number): number {
  const full = xLimits(panel);
  const wide = width - LEFT - shared.right;
  const rows = ruleRows(panel, (x) => LEFT + along(panel.x_scale, full, x) * wide, LEFT, width);
  const highest = labelledRules(panel).length ? 1 + Math.max(...rows.map(([row]) => row)) : 0;
  return highest * RULE_ROW + (marksOf(panel, "Rail").length ? RAIL_ROW : 0) + 6;
}

function options(
  panel: Panel,
  curves: Curves,
  shared: Shared,
  frame: Frame,
  width: number,
  height: number,
): uPlot.Options {
  const { theme, link, right } = shared;
  const x = xLimits(panel);
  return {
    width,
    height,
    padding: [headroom(panel, shared, width), right, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, ...distribution(panel.x_scale), range: () => link.range ?? x },
      y: { ...distribution(panel.y_scale), range: (_, low, high) => yRange(panel, low, high) },
    },
    axes: [axisOptions(theme, panel.x_scale, "x"), axisOptions(theme, panel.y_scale, "y")],
    series: [{}, ...seriesOf(curves, theme)],
    bands: curves.curves.filter((curve) => curve.low >= 0).map((curve) => bandOf(curve, theme)),
    focus: { alpha: 0.25 },
    cursor: cursorOptions(curves, theme, link),
    hooks: {
      init: [(u) => u.over.addEventListener("click", () => clicked(u, link))],
      // What was pointed at before it was drawn.
      ready: [(u) => link.cursor !== null && follow(u, link, "cursor", frame, x)],
      drawClear: [(u) => paintBands(u, panel, theme)],
      draw: [(u) => paintMarks(u, panel, curves, theme, right, link.place)],
      setCursor: [(u) => pointed(u, curves, axisOf(panel.x), shared, frame)],
      setSelect: [(u) => brushed(u, link)],
      setSeries: [
        (_, index, change) => (curves.focused = (change as { focus?: boolean }).focus ? index : null),
      ],
    },
  };
}

function distribution(scale: Panel["x_scale"]): uPlot.Scale {
  if (scale === "log") return { distr: 3 };
  if (scale === "linear") return { distr: 1 };
  return { distr: 100, fwd: (value) => onto("step", value), bwd: Math.expm1 };
}

/** The range a description fixes, or what is in view with a little room. */
function yRange(panel: Panel, low: number | null, high: number | null): Range {
  const seen = low === null || high === null || !Number.isFinite(low) ? [] : [low, high];
  return limits(panel.y_range, seen, panel.y_scale, 0.05);
}

function axisOptions(theme: Theme, scale: Panel["x_scale"], key: "x" | "y"): uPlot.Axis {
  return {
    scale: key,
    stroke: theme.muted,
    font: `11px ${FACE}`,
    size: key === "x" ? BELOW : LEFT,
    gap: 4,
    grid: { stroke: theme.hairline, width: 1 },
    ticks: { show: false, size: 0 },
    border: key === "x" ? { show: true, stroke: theme.quiet, width: 1 } : { show: false },
    splits: (_, __, low, high) => ticks([low, high], scale),
    values: (_, splits) => splits.map((value) => (value === null ? "" : shortNumber(value))),
    filter: (_, splits) => splits,
  };
}

function seriesOf(curves: Curves, theme: Theme): uPlot.Series[] {
  const series: uPlot.Series[] = [];
  for (const curve of curves.curves) {
    const points = curve.mark.mark === "Points";
    const colour = colourOf(curve.mark, theme);
    if (curve.value >= 0) {
      series[curve.value - 1] = {
        stroke: colour,
        width: widthOf(curve.mark),
        dash: curve.mark.mark === "Line" && curve.mark.role === "superseded" ? [3, 2] : undefined,
        points: { show: points, size: 4.6, width: 0, fill: colour, stroke: colour },
      };
    }
    // The edges of a band are there for uPlot to fill between, and are not drawn.
    for (const edge of [curve.low, curve.high]) {
      if (edge >= 0) series[edge - 1] = { stroke: "transparent", width: 0, points: { show: false } };
    }
  }
  return series;
}

function bandOf(curve: Curve, theme: Theme): uPlot.Band {
  const quiet = curve.mark.mark === "Line" && curve.mark.role === "quiet";
  return {
    series: [curve.high, curve.low],
    fill: faded(colourOf(curve.mark, theme), quiet ? QUIET_BAND : BAND),
  };
}

function cursorOptions(curves: Curves, theme: Theme, link: Link): uPlot.Cursor {
  const own = new Map(curves.curves.map((curve) => [curve.value, curve]));
  const colour = (index: number) => (own.has(index) ? colourOf(own.get(index)!.mark, theme) : "transparent");
  const several = curves.curves.filter((curve) => curve.value >= 0).length > 1;
  return {
    y: false,
    drag: { x: true, y: false, setScale: false },
    points: {
      one: several,
      size: 6,
      width: 0,
      fill: (_, index) => colour(index),
      stroke: (_, index) => colour(index),
    },
    focus: {
      prox: several ? 24 : -1,
      dist: (_, index, __, value, place) => (own.has(index) ? Math.abs(value - place) : Infinity),
    },
    bind: { dblclick: () => () => (link.setRange(null), null) },
  };
}

/** The nearest place with a point is chosen. */
function clicked(u: uPlot, link: Link): void {
  const index = u.cursor.idx;
  if (index !== null && index !== undefined) link.setPlace(u.data[0]![index]!);
}

/** A stretch was brushed: every drawing of this axis shows it. */
function brushed(u: uPlot, link: Link): void {
  const { left, width } = u.select;
  if (width < 4) return;
  const range: Range = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  link.setRange(range);
}

/** The cursor moved, here or with another drawing: say what is there; tell others only what the pointer did here. */
function pointed(u: uPlot, curves: Curves, axis: string, shared: Shared, frame: Frame): void {
  const left = u.cursor.left ?? -10;
  const here = u.over.matches(":hover") && following !== u;
  const x = left < 0 ? null : u.posToVal(left, "x");
  if (here || (x === null && held.delete(u))) shared.link.setCursor(x, frame);
  if (here && x !== null) held.add(u);
  if (x === null) frame.say();
  else frame.say(...readings(u, curves, axis, x, shared.theme));
}

/** The drawing that is being told where the cursor is, and must not tell it back. */
let following: uPlot | null = null;
/** The drawing that the pointer is over: when it leaves, so does everyone's cursor. */
const held = new Set<uPlot>();

function follow(u: uPlot, link: Link, change: Change, frame: Frame, full: Range): void {
  if (change === "place") return u.redraw(false);
  following = u;
  if (change === "range") {
    frame.zoomed(link.range !== null);
    const [min, max] = link.range ?? full;
    u.batch(() => u.setScale("x", { min, max }));
  }
  const left = link.cursor === null ? -10 : u.valToPos(link.cursor, "x");
  const inside = left >= 0 && left <= u.over.clientWidth;
  // No line is near a pointer that is far above: the crosshair follows, nothing is brought forward.
  u.setCursor({ left: inside ? left : -10, top: inside ? -10000 : -10 });
  following = null;
}

/** The named lines at the cursor, at most five; where there are more, the one that is nearest. */
function readings(u: uPlot, curves: Curves, axis: string, x: number, theme: Theme): HTMLElement[] {
  const index = u.cursor.idx;
  if (index === null || index === undefined) return [];
  const drawn = curves.curves.filter((curve) => curve.value >= 0);
  const labels = drawn.filter((curve) => curve.mark.mark === "Points" || curve.mark.role !== "quiet");
  const nearest = drawn.filter((curve) => curve.value === curves.focused);
  const shown = [...new Set([...nearest, ...labels])];
  const place = u.cursor.idxs?.[shown[0]?.value ?? 0] ?? index;
  const at = u.data[0]![place] ?? x;
  const where = Object.assign(document.createElement("b"), { textContent: placeWords(axis, at) });
  return [where, ...shown.slice(0, 6).map((curve) => readingOf(u, curve, theme))];
}

function readingOf(u: uPlot, curve: Curve, theme: Theme): HTMLElement {
  const index = u.cursor.idxs?.[curve.value] ?? u.cursor.idx!;
  const of = (column: number) => (column >= 0 ? (u.data[column]![index] ?? null) : null);
  return reading(
    colourOf(curve.mark, theme),
    curve.mark.label,
    of(curve.value),
    of(curve.low),
    of(curve.high),
  );
}

/** Whether anything of a panel can be drawn as a plot. */
export function isPlot(panel: Panel): boolean {
  return panel.marks.some((mark) => mark.mark !== "Text" && mark.mark !== "Table" && mark.mark !== "Heat");
}
