/** What a report carries: figures by number, and every head at every step; see report/carried.py. */

import type { Figure, Plain } from "../figure/description";
import type { Choice, Part, Rows, Source, Transition } from "../inside/source";

export interface HeadRows {
  part: string;
  stimulus: string;
  component: string;
  steps: number[];
  places: Record<string, number>[];
  values: (Plain | null)[];
  low: (Plain | null)[] | null;
  high: (Plain | null)[] | null;
  status: number[];
}

export interface CarriedRun {
  key: string;
  rows: HeadRows[];
  transitions: Omit<Transition, "run">[];
}

export interface Carried {
  figures: Figure[];
  runs: CarriedRun[];
}

/** Unpacks gzip in base64. */
export async function unpack(text: string): Promise<Carried> {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** A carried run as a source for views of the inside. */
export function sourceOf(run: CarriedRun): Source {
  return {
    parts: async () => partsOf(run),
    rows: async (choice) => rowsOf(run, choice),
    transitions: async () => run.transitions.map((one) => ({ run: run.key, ...one })),
  };
}

function partsOf(run: CarriedRun): Part[] {
  const names = [...new Set(run.rows.map((one) => one.part))];
  return names.map((name) => {
    const mine = run.rows.filter((one) => one.part === name);
    const of = (key: "stimulus" | "component") => [...new Set(mine.map((one) => one[key]))];
    return {
      name,
      title: name.replace(/_/g, " "),
      unit: run.transitions.find((one) => one.part === name)?.unit ?? "",
      axes: ["layer", "head"],
      stimuli: of("stimulus"),
      components: of("component"),
      settings: [""],
      arrays: false,
    };
  });
}

function rowsOf(run: CarriedRun, choice: Choice): Rows {
  const mine = run.rows.filter((one) => one.part === choice.part);
  const found =
    mine.find((one) => one.stimulus === choice.stimulus && one.component === choice.component) ?? mine[0]!;
  const numbers = (values: (Plain | null)[]) =>
    Float64Array.from(values, (value) => (value === null ? NaN : Number(value)));
  return {
    part: found.part,
    unit: run.transitions.find((one) => one.part === found.part)?.unit ?? "",
    steps: found.steps,
    places: found.places,
    values: numbers(found.values),
    status: found.status,
    low: found.low && numbers(found.low),
    high: found.high && numbers(found.high),
  };
}
