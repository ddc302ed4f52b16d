/** Where views of the inside get their numbers from: the dashboard's server, or what a report carries. */

/** A part that was measured, and the choices it leaves. */
export interface Part {
  name: string;
  title: string;
  unit: string;
  axes: string[];
  stimuli: string[];
  components: string[];
  settings: string[];
  /** Whether it keeps whole arrays. */
  arrays: boolean;
}

/** Which of a part's numbers. */
export interface Choice {
  part: string;
  stimulus: string;
  component: string;
  settings: string;
}

export type Coordinates = Record<string, string | number>;

/** Why a number is not there. */
export const OK = 0;
export const UNDEFINED = 1;
export const NONFINITE = 2;

/** A part's numbers by place and step: `values[place * steps.length + step]`, with a status each. */
export interface Rows {
  part: string;
  unit: string;
  steps: number[];
  places: Coordinates[];
  values: ArrayLike<number>;
  status: ArrayLike<number>;
  low: ArrayLike<number> | null;
  high: ArrayLike<number> | null;
}

/** One array over steps, e.g. the singular values of a matrix: `values[step * size + index]`. */
export interface Arrays {
  steps: number[];
  size: number;
  values: ArrayLike<number>;
}

/** A head's attention: `values[query * tokens.length + key]`. */
export interface Pattern {
  tokens: string[];
  values: ArrayLike<number>;
}

export interface Tokens {
  tokens: string[];
  /** null where nothing predicts a token, e.g. the first. */
  loss: (number | null)[];
  before: (number | null)[] | null;
  stimulus: string;
}

export interface Sample {
  step: number;
  prompt: string;
  text: string;
}

export interface Transition {
  run: string;
  part: string;
  component: string;
  place: Coordinates;
  /** The place in words. */
  where: string;
  stimulus: string;
  unit: string;
  verdict: string;
  step: number | null;
  low: number | null;
  high: number | null;
  size: number | null;
  p: number | null;
  /** The share of false claims among those at least this clear, where it was worked out. */
  q?: number | null;
  reason: string;
}

export interface Branch {
  id: string;
  name: string;
  parent: string | null;
  forked_at: number | null;
  interventions: string[];
  first: number;
  last: number;
  status: string;
}

/** A metric of two runs on shared buckets. */
export interface Pair {
  x: number[];
  a: number[];
  b: number[];
  difference: number[];
}

/** Everything a view may ask for; what a source cannot give, it lacks, and the view says so. */
export interface Source {
  parts: () => Promise<Part[]>;
  rows: (choice: Choice) => Promise<Rows>;
  transitions: () => Promise<Transition[]>;
  pattern?: (step: number, layer: number, head: number) => Promise<Pattern>;
  tokens?: (step: number, against: number | null) => Promise<Tokens>;
  samples?: () => Promise<Sample[]>;
  arrays?: (choice: Choice, place: string) => Promise<Arrays>;
}

/** What is looked at, kept where a page keeps it (the address): words by key, empty where nothing was chosen. */
export interface Memory {
  get: (key: string) => string;
  set: (change: Record<string, string>) => void;
  /** Calls when anything was changed from elsewhere; returns how to stop. */
  watch: (changed: () => void) => () => void;
}

/** A memory of its own, for pages without an address to keep it in. */
export function forgetful(): Memory {
  const held: Record<string, string> = {};
  const heard = new Set<() => void>();
  return {
    get: (key) => held[key] ?? "",
    set: (change) => {
      Object.assign(held, change);
      for (const hear of [...heard]) hear();
    },
    watch: (changed) => {
      heard.add(changed);
      return () => heard.delete(changed);
    },
  };
}

/** Something in the page, and how it is taken away. */
export interface Shown {
  destroy: () => void;
}
