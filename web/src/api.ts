/** Everything the page asks of the server. Ids are opaque; non-finite numbers arrive as strings. */

import { readFrame, type Frame } from "./frame";

export type Num = number | "NaN" | "Infinity" | "-Infinity" | null;
export type AxisName = "step" | "tokens" | "time";

export interface Run {
  id: string;
  name: string;
  status: "running" | "finished" | "stopped" | "killed" | "unknown";
  grade: string | null;
  kind: "run" | "series";
  parent: string | null;
  forked_at: number | null;
  interventions: string[];
  seed: number | null;
  config: Record<string, unknown>;
  group: string;
  steps: number | null;
  tokens: number | null;
  seconds: number | null;
  parameters: number | null;
  started: string | number | null;
  last: Record<string, Num>;
  claims: number;
  title: string;
  /** What is wrong with its records; empty where nothing is. */
  damage: string;
}

export interface Collection {
  name: string;
  total: number;
  cursor: string;
  columns: { key: string; title: string; kind: string }[];
  runs: Run[];
}

export interface Part {
  name: string;
  family: string;
  unit: string;
  axes: string[];
  stimuli: string[];
  components: string[];
  settings: string[];
  shape: string;
  title: string;
}

export interface RunDetail extends Run {
  attempts: { attempt: number; first: number; last: number }[];
  /** `seconds` are those spent training by then; null where that, or the tokens, is not known. */
  checkpoints: { step: number; tokens: number | null; seconds: number | null }[];
  metrics: number;
  prefixes: { prefix: string; count: number }[];
  parts: Part[];
  transitions: number;
  stimuli: unknown[];
  has: { patterns: boolean; tokens: boolean; samples: boolean; spectra: boolean };
}

export interface MetricPage {
  total: number;
  page: number;
  names: { name: string; last: Num; count: number }[];
}

export interface SeriesHeader {
  x: AxisName;
  scale: string;
  level: number;
  series: SeriesInfo[];
}

export interface SeriesInfo {
  run: string;
  attempt: number;
  superseded: boolean;
  points: number;
  buckets: number;
  nonfinite: number;
  /** [attempt, x0, x1] of each stretch. */
  segments: [number, number, number][];
  /** Why a run has no buckets. */
  reason?: string;
  /** Of a group: which, how many runs, and which runs. */
  group?: string;
  n?: number;
  runs?: string[];
}

export interface Transition {
  run: string;
  part: string;
  component: string;
  place: Record<string, number | string>;
  /** The place in words. */
  where: string;
  stimulus: string;
  unit: string;
  method: string;
  verdict: string;
  step: number | null;
  low: number | null;
  high: number | null;
  level: number | null;
  size: Num;
  p: Num;
  reason: string;
}

export interface LiveEvent {
  cursor: string;
  /** Runs that are there no more. */
  gone?: string[];
  /** Another server answers: everything is to be read again. */
  reset?: boolean;
  runs: {
    id: string;
    status: Run["status"];
    steps: number | null;
    tokens?: number | null;
    seconds?: number | null;
    claims?: number;
    last: Record<string, Num>;
    metrics_changed: boolean;
    rows_changed: boolean;
    transitions_changed: boolean;
  }[];
}

/** A list is said once for each of its items. */
export type Query = Record<string, string | number | boolean | null | undefined | string[]>;

/** What the server refused, in its own words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (Array.isArray(value)) value.forEach((item) => search.append(key, item));
    else if (value !== null && value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return "api/" + path + (text ? "?" + text : "");
}

/** The server's answer, or a Refusal. */
export async function open(path: string, query: Query, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(address(path, query), { signal });
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Refusal(answer.status, body.error ?? `the server answered ${answer.status}`);
}

export async function getJson<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return (await open(path, query, signal)).json();
}

export async function getFrame<Header>(
  path: string,
  query: Query = {},
  signal?: AbortSignal,
): Promise<Frame<Header>> {
  return readFrame<Header>(await (await open(path, query, signal)).arrayBuffer());
}
