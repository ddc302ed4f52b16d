/** The colours of report/theme.py: a page's own style sheet wins, else light or dark by the reader's choice. */

export interface Theme {
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

export const LIGHT: Theme = {
  paper: "#ffffff",
  ink: "#1b1f24",
  muted: "#646b73",
  hairline: "#e8eaed",
  quiet: "#b3b9c1",
  null: "#8a919a",
  rule: "#3c434b",
  alarm: "#c4161c",
  hues: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f6368"],
  shades: ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#9fc02a"],
};

export const DARK: Theme = {
  paper: "#14171b",
  ink: "#e7eaee",
  muted: "#98a1ab",
  hairline: "#2a2f36",
  quiet: "#59616b",
  null: "#7d8690",
  rule: "#c3c9d0",
  alarm: "#ff6b6b",
  hues: ["#5fb0e8", "#ff8f4f", "#45c99d", "#eaa6cd", "#f3be55", "#9bd5f5", "#b9bec4"],
  shades: ["#8f6fc8", "#7480d6", "#5c9bd1", "#45b3bf", "#4cc79b", "#8bd66a", "#e0dd4e"],
};

const SINGLE = ["paper", "ink", "muted", "hairline", "quiet", "null", "rule", "alarm"] as const;

/** The theme in force at an element: CSS variables named as in `Theme.variables`, where a page sets them. */
export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const said = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const fallback = isDark(element) ? DARK : LIGHT;
  const theme: Theme = { ...fallback };
  for (const name of SINGLE) theme[name] = said(name) || fallback[name];
  theme.hues = fallback.hues.map((colour, index) => said(`hue-${index}`) || colour);
  theme.shades = fallback.shades.map((colour, index) => said(`shade-${index}`) || colour);
  return theme;
}

/** Whether the page, or what is around an element there, is dark. */
export function isDark(element: Element): boolean {
  const chosen = around(element, "data-theme");
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  const jupyter = around(element, "data-jp-theme-light");
  if (jupyter) return jupyter === "false";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** An attribute of the nearest element around that has it; before it is on the page, of the page. */
function around(element: Element, name: string): string | null {
  let place: Element | null = element;
  while (place) {
    const found: Element | null = place.closest(`[${name}]`);
    if (found) return found.getAttribute(name);
    const root: Node = place.getRootNode();
    if (root instanceof ShadowRoot) place = root.host;
    else place = root === document || place === document.body ? null : document.body;
  }
  return null;
}

/** Runs `done` when the reader or the page changes between light and dark; returns how to stop. */
export function onTheme(done: () => void): () => void {
  const asked = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(done);
  const attributeFilter = ["data-theme", "data-jp-theme-light", "class"];
  for (const root of [document.documentElement, document.body])
    observer.observe(root, { attributes: true, attributeFilter });
  asked.addEventListener("change", done);
  return () => {
    observer.disconnect();
    asked.removeEventListener("change", done);
  };
}

/** The colour at a position (0-1) of an ordered family. */
export function shadeOf(theme: Theme, position: number): string {
  const last = theme.shades.length - 1;
  return theme.shades[Math.round(Math.min(Math.max(position, 0), 1) * last)]!;
}

/** The colour of a category. */
export function hueOf(theme: Theme, hue: number): string {
  return theme.hues[((hue % theme.hues.length) + theme.hues.length) % theme.hues.length]!;
}

/** A #rrggbb colour with an opacity. */
export function faded(colour: string, alpha: number): string {
  const level = Math.round(alpha * 255);
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour + level.toString(16).padStart(2, "0") : colour;
}
