/** What the first panels will ask for is asked as soon as the runs are known, while the page is still made. */

import { drawn, runs } from "../runs";
import { view } from "../state";
import { askAhead } from "./data";
import { firstNames, PAGE } from "./metrics";
import { atFirst } from "./near";
import { HEIGHT } from "./Panel";

/** As in the style sheet: a panel's least width, what is between two, and what is beside all of them. */
const [LEAST, GAP, BESIDE] = [300, 24, 40];

/** How many panels are likely to be in view at first. */
export const likely = (): number => atFirst(LEAST, HEIGHT);

/** The width that the grid will give a panel; 0 where there is no page yet. */
export function panelWidth(): number {
  const room = (document.querySelector("main")?.clientWidth ?? 0) - BESIDE;
  if (room <= 0) return 0;
  const columns = Math.max(1, Math.floor((room + GAP) / (LEAST + GAP)));
  return Math.floor((room - (columns - 1) * GAP) / columns);
}

export function askEarly(): void {
  const stop = runs.watch(({ loaded }) => {
    if (!loaded) return;
    stop();
    const now = view.get();
    const list = drawn();
    const width = panelWidth();
    const names = firstNames(list, now.m);
    if (now.page !== "metrics" || !list.length || !width || !names) return;
    const shown = names.sections.filter(({ prefix }) => !now.folded.includes(prefix || "-"));
    const metrics = shown.flatMap((section) => section.names.slice(0, PAGE)).slice(0, likely());
    askAhead(metrics, { runs: list, width, view: now });
  });
}
