/** Short names: what tells runs and conditions apart among those that are drawn. */

import type { Run } from "./api";
import { condition } from "./colours";
import { once } from "./once";

/** Names without what they all begin and end with, cut at word borders; a name that vanishes stays whole. */
export function shortened(names: string[]): string[] {
  if (new Set(names).size < 2) return names;
  const split = names.map((name) => name.split(/(?<=[-_./\s])/u));
  let head = 0;
  while (split.every((words) => words.length > head + 1 && words[head] === split[0][head])) head++;
  return split.map((words) => words.slice(head).join("") || words.join(""));
}

/** Names of runs by id, short where they are drawn together; every panel asks it of the same list. */
export const namesOf = once((list: Run[]): ReadonlyMap<string, string> => {
  const short = shortened(list.map((run) => run.name));
  return new Map(list.map((run, index) => [run.id, short[index]]));
});

/** Conditions in the order of their first runs, each with its runs. */
export const conditions = once((list: Run[]): ReadonlyMap<string, Run[]> => {
  const found = new Map<string, Run[]>();
  for (const run of list) {
    const key = condition(run);
    found.set(key, [...(found.get(key) ?? []), run]);
  }
  return found;
});

/** What names have in common, without a separator or a seed's sign at the end. */
function common(names: string[]): string {
  let end = 0;
  while (names.every((name) => end < name.length && name[end] === names[0][end])) end++;
  return names[0].slice(0, end).replace(/([-_. ]?s(eed)?)?[-_. =]*$/i, "");
}

/** What a condition is called: what its runs' names share, or the settings that tell it from the others. */
export const conditionNames = once((groups: ReadonlyMap<string, Run[]>): ReadonlyMap<string, string> => {
  const told = ([key, list]: [string, Run[]]) =>
    [key, list.length > 1 ? common(list.map((run) => run.name)) : list[0].name] as const;
  const shared = new Map([...groups].map(told));
  const unique = new Set(shared.values()).size === shared.size;
  return unique && [...shared.values()].every((name) => name.length > 2) ? shared : bySettings(groups);
});

function bySettings(groups: ReadonlyMap<string, Run[]>): Map<string, string> {
  const configs = [...groups].map(([key, [first]]) => [key, first] as const);
  const keys = new Set(configs.flatMap(([, run]) => Object.keys(run.config)));
  const differing = [...keys].filter(
    (key) => key !== "seed" && new Set(configs.map(([, run]) => JSON.stringify(run.config[key]))).size > 1,
  );
  return new Map(
    configs.map(([key, run]) => {
      const told = differing
        .slice(0, 2)
        .map((name) => `${name.split(".").at(-1)} ${written(run.config[name])}`);
      return [key, told.join(", ") || run.name];
    }),
  );
}

/** Control characters, and those that would turn or break the text around a name. */
const UNRULY = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A name as it is, with unruly characters spelt out. */
export const legible = (name: string): string =>
  name.replace(UNRULY, (sign) => "\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0"));

export const written = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "not set" : JSON.stringify(value);
