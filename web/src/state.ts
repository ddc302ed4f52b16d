/** What is looked at, all of it in the address: a copied link opens the same view. */

import { Store } from "./store";
import type { AxisName } from "./api";

export type YScale = "linear" | "log" | "arcsinh";
export type XScale = "linear" | "log";
export type Band = "range" | "sd" | "ci";
export type ThemeName = "auto" | "light" | "dark";

export interface View {
  /** Key of the page in pages.ts. */
  page: string;
  /** Runs drawn, in the order they were chosen; null means the first of the table. */
  runs: string[] | null;
  hidden: string[];
  pinned: string[];
  /** Filter and order of the run table ("-steps": most first); filter of the metrics. */
  q: string;
  sort: string;
  m: string;
  x: AxisName;
  /** `log` is ln(1 + x): nearly logarithmic, yet step 0 has its place. */
  xs: XScale;
  y: YScale;
  /** Smoothing: 0 is none, below 1. */
  smooth: number;
  /** Seeds of one configuration as a mean and a band. */
  grouped: boolean;
  band: Band;
  /** Zoomed range of x, in units of `x`. */
  from: number | null;
  to: number | null;
  /** Step of the scrubber: what views of the inside show. */
  step: number | null;
  /** What is open beside the page, e.g. "metric:loss"; the word before ":" is a key of pages.ts. */
  open: string;
  folded: string[];
  theme: ThemeName;
  /** Keys that belong to single pages ("part", "component", "place", "against", …). */
  extra: Record<string, string>;
}

export const START: View = {
  page: "metrics",
  runs: null,
  hidden: [],
  pinned: [],
  q: "",
  sort: "",
  m: "",
  x: "step",
  xs: "linear",
  y: "linear",
  smooth: 0,
  grouped: true,
  band: "range",
  from: null,
  to: null,
  step: null,
  open: "",
  folded: [],
  theme: "auto",
  extra: {},
};

const LISTS = ["hidden", "pinned", "folded"] as const;
const WORDS = ["page", "q", "sort", "m", "open"] as const;
const NUMBERS = ["from", "to", "step"] as const;
const CHOICES = {
  x: ["step", "tokens", "time"],
  xs: ["linear", "log"],
  y: ["linear", "log", "arcsinh"],
  band: ["range", "sd", "ci"],
  theme: ["auto", "light", "dark"],
} as const;

const listed = (text: string): string[] => text.split(",").filter(Boolean).map(decodeURIComponent);
const joined = (list: string[]): string => list.map(encodeURIComponent).join(",");

/** The view an address tells; whatever it says wrongly is as if it were not said. */
export function parse(hash: string): View {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const view: View = { ...START, extra: {} };
  for (const key of WORDS) view[key] = said.get(key) ?? START[key];
  for (const key of LISTS) view[key] = listed(said.get(key) ?? "");
  for (const key of NUMBERS) {
    const value = said.get(key);
    view[key] = value !== null && value !== "" && Number.isFinite(Number(value)) ? Number(value) : null;
  }
  for (const [key, allowed] of Object.entries(CHOICES)) {
    const value = said.get(key);
    if (value !== null && (allowed as readonly string[]).includes(value))
      Object.assign(view, { [key]: value });
  }
  if (said.has("runs")) view.runs = listed(said.get("runs")!);
  view.grouped = said.get("grouped") !== "0";
  const smooth = Number(said.get("smooth") ?? 0);
  view.smooth = smooth > 0 && smooth < 1 ? smooth : 0;
  for (const [key, value] of said) if (key.startsWith("~")) view.extra[key.slice(1)] = value;
  return view;
}

/** The shortest address of a view: what is as at the start is left out. */
export function write(view: View): string {
  const said = new URLSearchParams();
  for (const key of [...WORDS, ...(Object.keys(CHOICES) as (keyof typeof CHOICES)[])]) {
    if (view[key] !== START[key]) said.set(key, view[key]);
  }
  if (view.runs) said.set("runs", joined(view.runs));
  for (const key of LISTS) if (view[key].length) said.set(key, joined(view[key]));
  for (const key of NUMBERS) if (view[key] !== null) said.set(key, String(view[key]));
  if (!view.grouped) said.set("grouped", "0");
  if (view.smooth) said.set("smooth", String(view.smooth));
  for (const [key, value] of Object.entries(view.extra).sort()) if (value) said.set("~" + key, value);
  return said.toString();
}

export const view = new Store<View>(parse(location.hash));

/** Changes the keys of single pages, and leaves the others. */
export function setExtra(change: Record<string, string>): void {
  view.set({ extra: { ...view.get().extra, ...change } });
}

/** Keeps address and view the same, both ways. One can go back to another page and to what was open. */
export function followAddress(): () => void {
  let last = view.get();
  const stop = view.watch((now) => {
    const hash = "#" + write(now);
    const turned = now.page !== last.page || now.open !== last.open;
    last = now;
    // One that says the same in other words, as somebody typed it, stays as it is.
    if (hash !== "#" + write(parse(location.hash)))
      history[turned ? "pushState" : "replaceState"](null, "", hash);
  });
  const read = () => view.set(parse(location.hash));
  addEventListener("hashchange", read);
  addEventListener("popstate", read);
  return () => {
    stop();
    removeEventListener("hashchange", read);
    removeEventListener("popstate", read);
  };
}
