/** One value of a run, as a column of the table shows it. */

import type { Run } from "../api";
import { compact, duration, value } from "../format";
import { number } from "../frame";
import { written } from "../names";

function found(run: Run, key: string): unknown {
  if (key.startsWith("config.")) return run.config[key.slice("config.".length)];
  if (key.startsWith("last.")) return run.last[key.slice("last.".length)];
  return run[key as keyof Run];
}

/** The text of a cell; empty where the run has nothing to say. */
export function cell(run: Run, key: string, kind: string): string {
  const held = found(run, key);
  if (held === null || held === undefined) return "";
  if (kind === "metric") return value(number(held), 3);
  if (kind === "seconds") return duration(Number(held));
  if (kind === "date") return new Date(Number(held) * 1000).toISOString().slice(5, 16).replace("T", " ");
  if (typeof held === "number") return Number.isInteger(held) ? compact(held) : value(held, 3);
  return written(held);
}
