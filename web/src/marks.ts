/** What happened along the step axis of the drawn runs: checkpoints, transitions, forks. */

import { getJson, type AxisName, type Run, type RunDetail, type Transition } from "./api";
import type { Happenings } from "./charts/draw";
import { hueOf } from "./colours";
import { whenIdle } from "./idle";
import { version, versions } from "./live";
import { drawn, runs } from "./runs";
import { view } from "./state";
import { Store } from "./store";
import { theme } from "./theme";

/** As many runs are asked for their checkpoints and transitions. */
const ASKED = 12;
/** As many transitions are drawn across all panels: more would hide the data. */
const DRAWN = 6;

export interface Marks {
  details: ReadonlyMap<string, RunDetail>;
  transitions: Transition[];
}

export const marks = new Store<Marks>({ details: new Map(), transitions: [] });

let key = "";

async function load(): Promise<void> {
  const ids = drawn()
    .slice(0, ASKED)
    .map((run) => run.id);
  const now = ids.join() + version("transitions", ids) + "/" + version("rows", ids);
  if (now === key || !ids.length) return;
  key = now;
  const [found, transitions] = await Promise.all([
    Promise.all(ids.map((id) => getJson<RunDetail>(`runs/${id}`).catch(() => null))),
    getJson<Transition[]>("transitions", { runs: ids.join() }).catch(() => []),
  ]);
  if (now !== key) return;
  marks.set({ details: new Map(found.flatMap((one) => (one ? [[one.id, one]] : []))), transitions });
}

/** How long the marks wait at least: the first lines are asked for and drawn before them. */
const PATIENCE = 200;

export function followMarks(): void {
  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => whenIdle(load), PATIENCE);
  };
  for (const store of [view, runs, versions]) (store as Store<object>).watch(soon);
}

/** Steps with a checkpoint in any drawn run, ascending. */
export function checkpoints(now = marks.get()): number[] {
  const steps = new Set(
    [...now.details.values()].flatMap((run) => run.checkpoints.map((point) => point.step)),
  );
  return [...steps].sort((a, b) => a - b);
}

/** The checkpoint next to the scrubber's, in one direction. */
export function neighbour(direction: 1 | -1): number | null {
  const all = checkpoints();
  const step = view.get().step;
  if (!all.length) return null;
  if (step === null) return direction > 0 ? all[0] : all[all.length - 1];
  const beyond = direction > 0 ? all.find((other) => other > step) : all.findLast((other) => other < step);
  return beyond ?? step;
}

/** A run's checkpoints: the step of each, and its place on the axis; those without one are left out. */
export function placed(axis: AxisName, run: RunDetail): [step: number, at: number][] {
  const unit = ({ step: "step", tokens: "tokens", time: "seconds" } as const)[axis];
  return run.checkpoints.flatMap((point) => {
    const at = point[unit] ?? null;
    return at === null ? [] : [[point.step, at] as [number, number]];
  });
}

/** A step in units of the axis: tokens and seconds by the run's checkpoints, between them in proportion. */
export function along(axis: AxisName, step: number, run: RunDetail | undefined): number | null {
  if (axis === "step") return step;
  if (!run) return null;
  const points = placed(axis, run);
  const after = points.find(([other]) => other >= step);
  const before = points.findLast(([other]) => other <= step);
  if (!before || !after) return null;
  if (after[0] === before[0]) return after[1];
  const share = (step - before[0]) / (after[0] - before[0]);
  return before[1] + share * (after[1] - before[1]);
}

/** The transitions worth a line across every panel: of whole models first, then the largest. */
export function worth(list: Transition[]): Transition[] {
  const rank = (entry: Transition) => (Object.keys(entry.place).length ? 1 : 0);
  const size = (entry: Transition) => Math.abs(Number(entry.size ?? 0)) || 0;
  return list
    .filter((entry) => entry.step !== null && entry.verdict === "transition")
    .sort((a, b) => rank(a) - rank(b) || size(b) - size(a))
    .slice(0, DRAWN);
}

/** Everything that happened, in units of an axis; what has no place on it is left out. */
export function happenings(
  axis: AxisName,
  list: Run[],
  now = marks.get(),
  step = view.get().step,
): Happenings {
  const known = [...now.details.values()].filter((run) => run.checkpoints.length);
  const place = (at: number | null, id?: string) =>
    at === null ? null : along(axis, at, id ? now.details.get(id) : known[0]);
  const shown = new Set(list.map((run) => run.id));
  const colour = (id: string) => {
    const run = list.find((one) => one.id === id);
    return run ? hueOf(run) : theme.get().rule;
  };
  // A step is at the same tokens in every run, but each run took its own time.
  const timed = axis === "time" ? known.filter((run) => shown.has(run.id)) : null;
  return {
    checkpoints: timed
      ? timed.flatMap((run) => placed(axis, run).map(([, at]) => at))
      : checkpoints(now).flatMap((at) => place(at) ?? []),
    steps: (timed ? timed.map((run) => place(step, run.id)) : [place(step)]).flatMap((at) => at ?? []),
    transitions: worth(now.transitions.filter((entry) => shown.has(entry.run))).flatMap((entry) => {
      const at = place(entry.step, entry.run);
      const label = [entry.part, entry.component, entry.where].filter(Boolean).join(" ");
      const [low, high] = [place(entry.low, entry.run), place(entry.high, entry.run)];
      return at === null ? [] : [{ at, low, high, colour: colour(entry.run), label }];
    }),
    forks: list.flatMap((run) => {
      const at = run.forked_at === null ? null : place(run.forked_at, run.id);
      return at === null ? [] : [{ at, colour: hueOf(run), label: run.name }];
    }),
  };
}
