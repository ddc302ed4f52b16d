/** Names of the metrics of the drawn runs, by prefix. */

import { getJson, type MetricPage, type Run } from "../api";
import { conditions } from "../names";

/** Names a section shows before it is asked for more. */
export const PAGE = 48;
/** Runs asked for their names: runs of one condition have the same. */
const ASKED = 12;

export interface Section {
  prefix: string;
  names: string[];
}

export interface Names {
  sections: Section[];
  /** Names there are, of which at most LIMIT were loaded. */
  total: number;
  loaded: number;
}

/** As many names are loaded of one run. */
const LIMIT = 500;

/** What stands before the first "/" or "."; a name without one is under its own. */
export const prefixOf = (name: string): string =>
  /digest|^tensor_check/.test(name) ? CHECKS : (/^[^/.]+(?=[/.])/.exec(name)?.[0] ?? "");

/** Digests of states: numbers for comparing runs bit for bit. */
const CHECKS = "digests";

export function sections(names: Iterable<string>): Section[] {
  const found = new Map<string, string[]>();
  for (const name of [...names].sort(lossFirst))
    found.set(prefixOf(name), [...(found.get(prefixOf(name)) ?? []), name]);
  return [...found].map(([prefix, list]) => ({ prefix, names: list })).sort(byImportance);
}

const lossFirst = (a: string, b: string): number => weight(b) - weight(a);

const weight = (name: string): number => Number(/loss$/.test(name)) + Number(name === "loss");

/** Loss first, then what stands alone, then the alphabet; what only a machine compares comes last. */
function byImportance(a: Section, b: Section): number {
  const rank = ({ prefix }: Section) =>
    /loss/i.test(prefix) ? 0 : prefix === "" ? 1 : prefix === CHECKS ? 3 : 2;
  return rank(a) - rank(b) || (a.prefix < b.prefix ? -1 : 1);
}

/** What the runs' last values tell of their metrics: enough to begin with, before the server is asked. */
export function firstNames(runs: Run[], q: string): Names | null {
  const names = new Set(runs.flatMap((run) => Object.keys(run.last)).filter((name) => name.includes(q)));
  return names.size ? { sections: sections(names), total: names.size, loaded: names.size } : null;
}

export async function loadNames(runs: Run[], q: string, signal: AbortSignal): Promise<Names> {
  const asked = [...conditions(runs).values()].map(([first]) => first).slice(0, ASKED);
  const pages = await Promise.all(
    asked.map((run) => getJson<MetricPage>(`runs/${run.id}/metrics`, { q, page: 0, size: LIMIT }, signal)),
  );
  const names = new Set(pages.flatMap((page) => page.names.map((entry) => entry.name)));
  const total = Math.max(0, ...pages.map((page) => page.total));
  return { sections: sections(names), total: Math.max(total, names.size), loaded: names.size };
}
