/** Short names: what tells runs and conditions apart among those that are drawn. */

import type { Run } from "./api";
import { condition } from "./colours";

/** Names without what they all begin and end with, cut at word borders; a name that vanishes stays whole. */
export function shortened(names: string[]): string[] {
  if (new Set(names).size < 2) return names;
  const split = names.map((name) => name.split(/(?<=[-_./\s])/u));
  let head = 0;
  while (split.every((words) => words.length > head + 1 && words[head] === split[0][head])) head++;
  return split.map((words) => words.slice(head).join("") || words.join(""));
}

/** Names of runs by id, short where they are drawn together. */
export function namesOf(list: Run[]): Map<string, string> {
  const short = shortened(list.map((run) => run.name));
  return new Map(list.map((run, index) => [run.id, short[index]]));
}

/** Conditions in the order of their first runs, each with its runs. */
export function conditions(list: Run[]): Map<string, Run[]> {
  const found = new Map<string, Run[]>();
  for (const run of list) {
    const key = condition(run);
    found.set(key, [...(found.get(key) ?? []), run]);
  }
  return found;
}

/** What a condition is called: the settings it does not share with the others, or its first run's name. */
export function conditionNames(groups: Map<string, Run[]>): Map<string, string> {
  const configs = [...groups].map(([key, [first]]) => [key, first] as const);
  const keys = new Set(configs.flatMap(([, run]) => Object.keys(run.config)));
  const differing = [...keys].filter(
    (key) => key !== "seed" && new Set(configs.map(([, run]) => JSON.stringify(run.config[key]))).size > 1,
  );
  return new Map(
    configs.map(([key, run]) => {
      const told = differing.slice(0, 2).map((name) => `${name.split(".").at(-1)} ${written(run.config[name])}`);
      const unseeded = run.name.replace(/[-_. ]?s(eed)?[-_=]?\d+$/i, "") || run.name;
      return [key, run.parent || !told.length ? (groups.get(key)!.length > 1 ? unseeded : run.name) : told.join(", ")];
    }),
  );
}

export const written = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "not set" : JSON.stringify(value);
