/** The keyboard: every key does what a control on the page does. */

import { neighbour } from "../marks";
import { view, type View } from "../state";

export const SMOOTH = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5];

const after = <T>(list: readonly T[], now: T): T => list[(list.indexOf(now) + 1) % list.length];

export const cycleTheme = (): void =>
  view.set({ theme: after(["auto", "light", "dark"] as const, view.get().theme) });

const toStep = (direction: 1 | -1) => view.set({ step: neighbour(direction) });

function find(id: string): void {
  const field = document.getElementById(id) as HTMLInputElement | null;
  field?.focus();
  field?.select();
}

export interface Key {
  key: string;
  does: string;
  act(): void;
}

export const KEYS: Key[] = [
  { key: "/", does: "search metrics", act: () => find("find-metrics") },
  { key: "r", does: "filter runs", act: () => find("find-runs") },
  {
    key: "x",
    does: "x axis: step, tokens, time",
    act: () =>
      view.set({ x: after<View["x"]>(["step", "tokens", "time"], view.get().x), from: null, to: null }),
  },
  {
    key: "l",
    does: "y scale: linear, log, arcsinh",
    act: () => view.set({ y: after<View["y"]>(["linear", "log", "arcsinh"], view.get().y) }),
  },
  {
    key: "k",
    does: "x scale: linear, log",
    act: () => view.set({ xs: after<View["xs"]>(["linear", "log"], view.get().xs) }),
  },
  {
    key: "s",
    does: "more smoothing, then none",
    act: () => view.set({ smooth: after(SMOOTH, view.get().smooth) }),
  },
  {
    key: "g",
    does: "seeds as mean and band, or one by one",
    act: () => view.set({ grouped: !view.get().grouped }),
  },
  { key: "[", does: "earlier checkpoint", act: () => toStep(-1) },
  { key: "]", does: "later checkpoint", act: () => toStep(1) },
  { key: "0", does: "whole range of x", act: () => view.set({ from: null, to: null }) },
  { key: "d", does: "light, dark or as the system", act: cycleTheme },
];

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.matches("input:not([type=range]), select, textarea") || target.isContentEditable);

/** Listens to the whole page; `help` opens and closes the help. */
export function followKeys(help: (open: boolean | "turn") => void): () => void {
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape") {
      if (typing(event.target)) (event.target as HTMLElement).blur();
      else if (document.querySelector("dialog[open]")) help(false);
      else view.set({ open: "" });
      return;
    }
    if (typing(event.target)) return;
    if (event.key === "?") return help("turn");
    const known = KEYS.find(({ key }) => key === event.key);
    if (!known) return;
    event.preventDefault();
    known.act();
  };
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}
