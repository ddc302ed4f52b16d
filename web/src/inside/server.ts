/** The dashboard's server as a source of what is inside a run. */

import { getFrame, getJson } from "../api";
import type {
  Arrays,
  Branch,
  Choice,
  Pair,
  Part,
  Pattern,
  Rows,
  Sample,
  Source,
  Tokens,
  Transition,
} from "./source";

interface RowsHeader {
  part: string;
  unit: string;
  steps: number[];
  places: Record<string, string | number>[];
}

function query(choice: Choice): Record<string, string> {
  return { ...choice };
}

async function rows(id: string, choice: Choice): Promise<Rows> {
  const { header, series } = await getFrame<RowsHeader>(`runs/${id}/rows`, query(choice));
  const { values, status, low, high } = series[0]!;
  const { part, unit, steps, places } = header;
  return {
    part,
    unit,
    steps,
    places,
    values: values!,
    status: status!,
    low: low ?? null,
    high: high ?? null,
  };
}

async function pattern(id: string, step: number, layer: number, head: number): Promise<Pattern> {
  const { header, series } = await getFrame<{ tokens: string[] }>(`runs/${id}/pattern`, {
    step,
    layer,
    head,
  });
  return { tokens: header.tokens, values: Object.values(series[0]!)[0]! };
}

async function arrays(id: string, choice: Choice, place: string): Promise<Arrays> {
  const { header, series } = await getFrame<{ steps: number[]; n: number }>(`runs/${id}/vector`, {
    ...query(choice),
    place,
  });
  return { steps: header.steps, size: header.n, values: series[0]!.values! };
}

/** One run's numbers; `has` says what the server can give of it. */
export function serverSource(
  id: string,
  parts: Part[],
  has: { patterns: boolean; tokens: boolean; samples: boolean },
): Source {
  return {
    parts: async () => parts,
    rows: (choice) => rows(id, choice),
    transitions: () => getJson<Transition[]>("transitions", { runs: id }),
    arrays: (choice, place) => arrays(id, choice, place),
    ...(has.patterns ? { pattern: (step, layer, head) => pattern(id, step, layer, head) } : {}),
    ...(has.tokens
      ? {
          tokens: (step: number, against: number | null) =>
            getJson<Tokens>(`runs/${id}/tokens`, { step, against }),
        }
      : {}),
    ...(has.samples ? { samples: () => getJson<Sample[]>(`runs/${id}/samples`) } : {}),
  };
}

/** The tree of the collection. */
export async function branches(): Promise<Branch[]> {
  return (await getJson<{ nodes: Branch[] }>("tree")).nodes;
}

/** A metric of two runs on shared buckets, each bucket at its middle. */
export async function pair(a: string, b: string, metric: string): Promise<Pair> {
  const { series } = await getFrame<object>("compare", { a, b, metric, scale: "step", most: 300 });
  const found = series[0] ?? {};
  const list = (name: string) => Array.from(found[name] ?? []);
  const [left, right] = [list("left"), list("right")];
  // A bucket of one step is that step; of several, the step that is in the middle of the last and the first.
  const x = left.map((from, nth) => (from + Math.max(right[nth]! - 1, from)) / 2);
  return { x, a: list("a"), b: list("b"), difference: list("difference") };
}
