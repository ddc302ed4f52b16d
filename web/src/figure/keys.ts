/** A drawing worked by keys: the cursor, and what is shown of its axis. */

import type { Panel } from "./description";
import type { Link } from "./link";
import { along, at, type Range } from "./scale";

/** Keys of a drawing, over the places where it has points. */
export function onKey(event: KeyboardEvent, places: number[], full: Range, panel: Panel, link: Link): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const range = link.range ?? full;
  const inView = places.filter((x) => x >= range[0] && x <= range[1]);
  const now = link.cursor;
  const to = {
    ArrowRight: () => (now === null ? inView[0] : inView.find((x) => x > now * (1 + 1e-9) + 1e-12)),
    ArrowLeft: () => (now === null ? inView.at(-1) : inView.findLast((x) => x < now * (1 - 1e-9) - 1e-12)),
    Home: () => inView[0],
    End: () => inView.at(-1),
  }[event.key];
  if (to) {
    link.setCursor(to() ?? now);
  } else if (event.key === "+" || event.key === "=" || event.key === "-") {
    const middle = along(panel.x_scale, range, now ?? at(panel.x_scale, range, 0.5));
    const half = event.key === "-" ? 1 : 0.25;
    const wanted: Range = [middle - half, middle + half].map((place) =>
      at(panel.x_scale, range, place),
    ) as Range;
    const next: Range = [Math.max(wanted[0], full[0]), Math.min(wanted[1], full[1])];
    link.setRange(next[0] <= full[0] && next[1] >= full[1] ? null : next);
  } else if (event.key === "0") link.setRange(null);
  else if (event.key === "Escape" && (link.range || now !== null)) {
    link.setCursor(null);
    link.setRange(null);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
