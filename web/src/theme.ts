/** Colours, read from the style sheet so that a canvas and the page around it agree. */

import { Store } from "./store";
import { view } from "./state";

export interface Theme {
  dark: boolean;
  paper: string;
  ink: string;
  muted: string;
  hairline: string;
  quiet: string;
  null: string;
  rule: string;
  alarm: string;
  hues: string[];
  shades: string[];
}

const NAMES = ["paper", "ink", "muted", "hairline", "quiet", "null", "rule", "alarm"] as const;
const SEVEN = [0, 1, 2, 3, 4, 5, 6];

/** The colours in force at an element (the page, the report, a notebook's cell). */
export function readTheme(at: Element = document.documentElement): Theme {
  const style = getComputedStyle(at);
  const colour = (name: string) => style.getPropertyValue("--" + name).trim();
  const single = Object.fromEntries(NAMES.map((name) => [name, colour(name)])) as Record<
    (typeof NAMES)[number],
    string
  >;
  return {
    ...single,
    dark: colour("dark") === "1",
    hues: SEVEN.map((index) => colour(`hue-${index}`)),
    shades: SEVEN.map((index) => colour(`shade-${index}`)),
  };
}

export const theme = new Store<Theme>(readTheme());

/** Follows the choice in the view and, while that is "auto", the system's. */
export function followTheme(): void {
  const apply = () => {
    const name = view.get().theme;
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    theme.set(readTheme());
  };
  view.watch(apply);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  apply();
}

/** The colour with an alpha (0-1); colours of the style sheet are six hexadecimal digits. */
export function faded(colour: string, alpha: number): string {
  return (
    colour +
    Math.round(alpha * 255)
      .toString(16)
      .padStart(2, "0")
  );
}

/** No movement for those who asked for none. */
export const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
