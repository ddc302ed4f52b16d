/** Rows of the run table: pinned runs first, then conditions with their seeds, or all runs one by one. */

import type { Run } from "../api";
import { conditionNames, conditions } from "../names";
import { PAGE, type Rows } from "../runs";
import type { View } from "../state";

export type Row =
  | { kind: "run"; key: string; run: Run; seed: boolean; pinned: boolean }
  | { kind: "group"; key: string; name: string; runs: Run[] }
  | { kind: "hole"; key: string; index: number };

/** Conditions are put together as long as all runs are loaded at once. */
export const TOGETHER = 3 * PAGE;

export function rowsOf(known: Rows, now: View): Row[] {
  const pinned = now.pinned.flatMap((id) => known.byId.get(id) ?? []);
  const top = pinned.map((run): Row => ({
    kind: "run",
    key: "pin " + run.id,
    run,
    seed: false,
    pinned: true,
  }));
  const list = Array.from({ length: known.total }, (_, index) => known.rows[index]);
  const complete = list.every(Boolean) && known.total <= TOGETHER;
  if (now.grouped && complete && !now.sort) return [...top, ...grouped(list as Run[])];
  return [
    ...top,
    ...list.map((run, index): Row => (run ? single(run) : { kind: "hole", key: `hole ${index}`, index })),
  ];
}

const single = (run: Run, seed = false): Row => ({ kind: "run", key: run.id, run, seed, pinned: false });

function grouped(list: Run[]): Row[] {
  const groups = conditions(list);
  const names = conditionNames(groups);
  return [...groups].flatMap(([key, runs]): Row[] =>
    runs.length === 1
      ? [single(runs[0])]
      : [
          { kind: "group", key: "group " + key, name: names.get(key)!, runs },
          ...runs.map((run) => single(run, true)),
        ],
  );
}
