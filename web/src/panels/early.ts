/** What the first panels will ask for is asked as soon as the runs are known, while the page is still made. */

import type { Run } from "../api";
import { drawn, runs } from "../runs";
import { view, type View } from "../state";
import { askAhead } from "./data";
import { firstNames, PAGE } from "./metrics";
import { MARGIN } from "./near";
import { HEIGHT } from "./Panel";

/** As in the style sheet: a panel's least width, what is between two, what is beside all of them, and what a
 * panel takes from top to top. */
const [LEAST, GAP, BESIDE, PITCH] = [300, 24, 40, HEIGHT + 57];

const room = (): number => (document.querySelector("main")?.clientWidth ?? 0) - BESIDE;
const columns = (): number => Math.max(1, Math.floor((room() + GAP) / (LEAST + GAP)));

/** How many panels are near at first. */
export const likely = (): number => columns() * Math.floor((innerHeight + MARGIN) / PITCH);

/** The width that the grid will give a panel; 0 where there is no page yet. */
export const panelWidth = (): number =>
  room() > 0 ? Math.floor((room() - (columns() - 1) * GAP) / columns()) : 0;

/** The width that a chart beside the page will have. */
const widthBeside = (): number =>
  Math.floor((innerWidth <= 1000 ? Math.min(560, innerWidth - 60) : Math.max(380, 0.42 * innerWidth)) - 56);

/** The metrics that will be drawn first, and how wide. */
function firstDrawn(list: Run[], now: View): { metrics: string[]; width: number } {
  if (now.open.startsWith("metric:"))
    return { metrics: [now.open.slice("metric:".length)], width: widthBeside() };
  const names = now.page === "metrics" && !now.open ? firstNames(list, now.m) : null;
  const shown = names?.sections.filter(({ prefix }) => !now.folded.includes(prefix || "-")) ?? [];
  const metrics = shown.flatMap((section) => section.names.slice(0, PAGE)).slice(0, likely());
  return { metrics, width: panelWidth() };
}

export function askEarly(): void {
  const stop = runs.watch(({ loaded }) => {
    if (!loaded) return;
    stop();
    const [now, list] = [view.get(), drawn()];
    const { metrics, width } = firstDrawn(list, now);
    if (list.length && metrics.length && width > 0) askAhead(metrics, { runs: list, width, view: now });
  });
}
