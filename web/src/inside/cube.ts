/** Numbers by layer, head and step, and the figures made of them. */

import type { Figure, Heat, Line, Panel, Plain, Rail, Rule, Ticks } from "../figure/description";
import { extent } from "../figure/scale";
import { NONFINITE, OK, type Coordinates, type Rows, type Transition } from "./source";

type Cell = Plain | null;

const MOST_OTHERS = 160;

/** A number, `null` where there is none, its name where it is not finite. */
export function cellAt(rows: Rows, place: number, step: number): Cell {
  const index = place * rows.steps.length + step;
  const value = rows.values[index]!;
  if (Number.isFinite(value)) return value;
  const status = rows.status[index];
  if (value === Infinity || value === -Infinity) return value > 0 ? "Infinity" : "-Infinity";
  return status === NONFINITE || status === OK ? "NaN" : null;
}

/** The interval of a number, if it has one. */
export function intervalAt(rows: Rows, place: number, step: number): [number, number] | null {
  if (!rows.low || !rows.high || place < 0) return null;
  const index = place * rows.steps.length + step;
  const pair: [number, number] = [rows.low[index]!, rows.high[index]!];
  return pair.every(Number.isFinite) ? pair : null;
}

/** Coordinates along an axis, in order. */
export function along(rows: Rows, axis: string): number[] {
  return [...new Set(rows.places.map((place) => Number(place[axis])))].sort((a, b) => a - b);
}

/** Rows of the last loop of a looped model; all rows of any other. */
export function lastLoop(rows: Rows): Rows {
  const loops = rows.places.map((place) => Number(place.loop ?? NaN)).filter(Number.isFinite);
  if (!loops.length) return rows;
  const last = Math.max(...loops);
  return { ...rows, places: rows.places.map((place) => (Number(place.loop) === last ? place : {})) };
}

/** Which place has these coordinates; -1 where none has. */
export function placeOf(rows: Rows, wanted: Coordinates): number {
  return rows.places.findIndex((place) =>
    Object.entries(wanted).every(([axis, at]) => String(place[axis]) === String(at)),
  );
}

/** The colour scale over every finite value; as views/heat.py chooses it. */
export function colourRange(values: ArrayLike<number>): Pick<Heat, "low" | "high" | "colours"> {
  const [low, high] = extent(Array.from(values).filter(Number.isFinite));
  if (low > high) return { low: 0, high: 1, colours: "sequential" };
  if (low < 0 && high > 0 && Math.min(-low, high) > 0.05 * Math.max(-low, high)) {
    const reach = Math.max(-low, high);
    return { low: -reach, high: reach, colours: "diverging" };
  }
  if (low >= 0 && high >= 0.6 && high <= 1) return { low: 0, high: 1, colours: "sequential" };
  if (low === high) return { low: low - 0.5, high: high + 0.5, colours: "sequential" };
  return { low: low >= 0 && low < 0.5 * high ? 0 : low, high, colours: "sequential" };
}

/** Logarithmic where positive values span more than two decades. */
export function colourSpacing(values: ArrayLike<number>): Heat["scale"] {
  const [low, high] = extent(Array.from(values).filter(Number.isFinite));
  return low > 0 && high > 100 * low ? "log" : "linear";
}

/** Layer by head at one step, on the scale of all steps. */
export function headGrid(rows: Rows, step: number, title: string): Figure {
  const [layers, heads] = [along(rows, "layer"), along(rows, "head")];
  const values = layers.map((layer) =>
    heads.map((head): Cell => {
      const place = placeOf(rows, { layer, head });
      return place < 0 ? null : cellAt(rows, place, step);
    }),
  );
  const heat: Heat = {
    mark: "Heat",
    label: title,
    x: heads.map(String),
    y: layers.map(String),
    values,
    ...colourRange(rows.values),
    scale: "linear",
  };
  return alone({ ...PANEL, title, marks: [heat], x: "head", y: "layer", x_scale: "linear" });
}

/** Layer (or any one axis) by step. */
export function byStep(rows: Rows, axis: string, title: string, rules: Rule[]): Figure {
  const kept = rows.places
    .map((place, nth) => ({ at: place[axis], nth }))
    .filter(({ at }) => at !== undefined);
  const ordered = kept.sort((a, b) => Number(a.at) - Number(b.at));
  const scale = colourSpacing(rows.values);
  const range = colourRange(rows.values);
  if (scale === "log") range.low = extent(Array.from(rows.values).filter(Number.isFinite))[0];
  const heat: Heat = {
    mark: "Heat",
    label: title,
    x: rows.steps,
    y: ordered.map(({ at }) => String(at)),
    values: ordered.map(({ nth }) => rows.steps.map((_, step) => cellAt(rows, nth, step))),
    ...range,
    scale,
  };
  return alone({ ...PANEL, title, marks: [heat, ...rules], y: rows.unit });
}

/** One place over steps, with its interval and what was claimed of it. */
export function overSteps(rows: Rows, place: number, label: string, title: string, rules: Rule[]): Figure {
  const pick = (values: ArrayLike<number> | null) =>
    values ? rows.steps.map((_, step): Plain => plain(values[place * rows.steps.length + step]!)) : [];
  const sure = rows.low !== null && rows.steps.some((_, step) => intervalAt(rows, place, step));
  const line: Line = {
    mark: "Line",
    label,
    x: rows.steps,
    y: pick(rows.values),
    low: sure ? pick(rows.low) : [],
    high: sure ? pick(rows.high) : [],
    role: "named",
    hue: 0,
    shade: null,
  };
  const ticks: Ticks = { mark: "Ticks", x: rows.steps, label: "checkpoints" };
  const [low, high] = extent(Array.from(rows.values).filter(Number.isFinite));
  const y_range: [number, number] | null = low >= 0 && high > 0 ? [0, 1.05 * high] : null;
  const marks = [...others(rows, place), line, ...rules, ...rails(rows, place), ticks];
  return alone({ ...PANEL, title, marks, y: rows.unit, y_range });
}

/** Every other place, in the background; none where they would be a grey mass. */
function others(rows: Rows, place: number): Line[] {
  const rest = rows.places
    .map((at, nth) => ({ at, nth }))
    .filter(({ at, nth }) => nth !== place && Object.keys(at).length);
  if (rest.length > MOST_OTHERS) return [];
  const many = rows.steps.length;
  return rest.map(({ at, nth }) => ({
    mark: "Line",
    label: Object.entries(at)
      .map(([axis, where]) => `${axis} ${where}`)
      .join(" "),
    x: rows.steps,
    y: rows.steps.map((_, step) => plain(rows.values[nth * many + step]!)),
    low: [],
    high: [],
    role: "quiet",
    hue: 0,
    shade: null,
  }));
}

/** Where a place has no number, by kind. */
function rails(rows: Rows, place: number): Rail[] {
  const cells = rows.steps.map((x, step) => ({ x, cell: cellAt(rows, place, step) }));
  const rail = (kind: Rail["kind"], label: string, lost: (cell: Cell) => boolean): Rail[] => {
    const x = cells.filter(({ cell }) => lost(cell)).map((one) => one.x);
    return x.length ? [{ mark: "Rail", kind, x, count: x.map(() => 1), label }] : [];
  };
  return [
    ...rail("nonfinite", "non-finite", (cell) => typeof cell === "string"),
    ...rail("missing", "without a number", (cell) => cell === null),
  ];
}

function plain(value: number): Plain {
  return Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

/** Claimed transitions as hairlines. */
export function rulesOf(transitions: Transition[], label = ""): Rule[] {
  return transitions
    .filter((one) => one.verdict === "transition" && one.step !== null)
    .map((one) => ({ mark: "Rule", x: one.step!, low: one.low, high: one.high, label, hue: null }));
}

/** A panel over steps with nothing in it. */
export const PANEL: Panel = {
  title: "",
  marks: [],
  x: "step",
  y: "",
  x_scale: "step",
  y_scale: "linear",
  x_range: null,
  y_range: null,
  latest: "",
};

/** A figure of one panel that says nothing of its own. */
export function alone(panel: Panel): Figure {
  return { title: "", panels: [panel], note: "", columns: 1 };
}
