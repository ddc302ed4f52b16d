/** The traces of one metric: asked for at the width they are drawn, dressed by run and condition. */

import type { Run, SeriesHeader, SeriesInfo } from "../api";
import { ahead, getTogether, type Question } from "../batch";
import { traces, type Style, type Trace } from "../charts/trace";
import { condition, hueOf } from "../colours";
import { conditionNames, conditions, namesOf } from "../names";
import type { View } from "../state";

/** Beyond as many runs, seeds of a group are not drawn one by one. */
const SINGLE = 40;

export interface Wanted {
  metric: string;
  runs: Run[];
  /** Width of the plot in CSS pixels: no bucket need be narrower. */
  width: number;
  view: Pick<View, "x" | "xs" | "smooth" | "grouped" | "band" | "from" | "to">;
}

/** Everything on which the answer depends. */
export const keyOf = ({ metric, runs, width, view }: Wanted): string =>
  JSON.stringify([
    metric,
    runs.map((run) => run.id),
    rounded(width),
    view.x,
    view.xs,
    view.smooth,
    view.grouped && view.band,
    view.from,
    view.to,
  ]);

/** Few sizes, so that a drag of the window's edge does not ask at every pixel. */
const rounded = (width: number): number => Math.max(100, Math.ceil(width / 100) * 100);

/** The names of all lines that a chart of these runs may have. */
export function lineNames(runs: Run[], grouped: boolean): string[] {
  if (!grouped) return [...namesOf(runs).values()];
  const groups = conditions(runs);
  const names = conditionNames(groups);
  const single = namesOf(runs);
  return [...groups].map(([key, list]) =>
    list.length > 1 ? `${names.get(key)} (n=${list.length})` : single.get(list[0].id)!,
  );
}

function dress(runs: Run[], grouped: boolean): (info: SeriesInfo) => Style {
  const names = namesOf(runs);
  const groups = conditions(runs);
  const groupNames = conditionNames(groups);
  const byId = new Map(runs.map((run) => [run.id, run]));
  return (info) => {
    const run = byId.get(info.run ?? info.runs?.[0] ?? "");
    const key = run ? condition(run) : "";
    const base = { run: info.run ?? run?.id ?? "", group: key, colour: run ? hueOf(run) : "#808080" };
    if (!info.run) {
      const label = `${groupNames.get(key) ?? ""} (n=${info.n})`;
      return { ...base, run: key, role: "mean", alpha: 1, width: 2, label };
    }
    if (info.superseded) return { ...base, role: "superseded", alpha: 0.9, width: 1.25, label: "" };
    const seed = grouped && (groups.get(key)?.length ?? 0) > 1;
    if (seed) return { ...base, role: "seed", alpha: 0.35, width: 1, label: "" };
    return { ...base, role: "run", alpha: 1, width: 1.5, label: names.get(info.run) ?? "" };
  };
}

/** A line that goes up and down more than this many times the way from its lowest to its highest is jagged. */
const JAGGED = 4;

/** Whether a line is noise rather than a course: it is drawn thin, since a wider one fills itself (and takes a
 * browser twenty times as long: hairlines are cheap, outlines with hundreds of turns are not). */
function jagged(line: Float32Array): boolean {
  let [low, high, way] = [Infinity, -Infinity, 0];
  for (let index = 0; index < line.length; index++) {
    const value = line[index];
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
    const step = Math.abs(value - line[index - 1]);
    if (Number.isFinite(step)) way += step;
  }
  return way > JAGGED * (high - low);
}

/** Seeds first, then lone runs, then means: the bold lines lie on top. */
const ORDER = { superseded: 0, seed: 1, run: 2, mean: 3 };

/** What is asked of the server for a chart: its runs one by one, its groups of seeds together. */
function questions({ runs, width, view }: Omit<Wanted, "metric">): {
  each: Question | null;
  means: Question | null;
} {
  const groups = [...conditions(runs).values()].filter((group) => group.length > 1);
  const grouped = view.grouped && groups.length > 0;
  const query = {
    x: view.x,
    scale: view.xs === "log" ? "step" : "linear",
    from: view.from,
    to: view.to,
    most: rounded(width),
    smooth: view.smooth || null,
  };
  const seeds = new Set(grouped ? groups.flat() : []);
  const single = seeds.size > SINGLE ? runs.filter((run) => !seeds.has(run)) : runs;
  const of = (path: string, list: Run[], more = {}): Question => ({
    path,
    query: { ...query, runs: list.map((run) => run.id).join(), ...more },
  });
  return {
    each: single.length ? of("series", single) : null,
    means: grouped ? of("group", [...seeds], { band: view.band }) : null,
  };
}

/** Asks for charts that are about to be made, so that they find the answers. */
export function askAhead(metrics: string[], wanted: Omit<Wanted, "metric">): void {
  const { each, means } = questions(wanted);
  for (const question of [each, means]) if (question) ahead<SeriesHeader>(question, metrics);
}

export async function load(wanted: Wanted, signal: AbortSignal): Promise<Trace[]> {
  const { metric, runs } = wanted;
  const { each, means } = questions(wanted);
  const ask = (question: Question | null) => question && getTogether<SeriesHeader>(question, metric, signal);
  const style = dress(runs, means !== null);
  const frames = await Promise.all([ask(each), ask(means)]);
  const list = frames.flatMap((frame) => (frame ? traces(frame, style) : []));
  for (const trace of list) if (trace.role === "run" && jagged(trace.line)) trace.width = 1;
  return list.sort((a, b) => ORDER[a.role] - ORDER[b.role]);
}
