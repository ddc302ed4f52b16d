/** One crosshair and one zoom for every drawing of the same axis. */

import type { Range } from "./scale";

export type Change = "cursor" | "range" | "place";

/**
 * What drawings over one axis share: the x under the pointer, the zoomed range (null: all of it), and the
 * x that was chosen by a click (a checkpoint). Whoever changes something names itself and is not told.
 */
export class Link {
  cursor: number | null = null;
  range: Range | null = null;
  place: number | null = null;
  private readonly heard = new Map<object, (change: Change) => void>();

  join(who: object, hear: (change: Change) => void): () => void {
    this.heard.set(who, hear);
    return () => this.heard.delete(who);
  }

  setCursor(x: number | null, who?: object): void {
    if (x === this.cursor) return;
    this.cursor = x;
    this.tell("cursor", who);
  }

  setRange(range: Range | null, who?: object): void {
    if (range?.[0] === this.range?.[0] && range?.[1] === this.range?.[1]) return;
    this.range = range && range[1] > range[0] ? range : null;
    this.tell("range", who);
  }

  setPlace(x: number | null, who?: object): void {
    if (x === this.place) return;
    this.place = x;
    this.tell("place", who);
  }

  private tell(change: Change, who?: object): void {
    for (const [one, hear] of [...this.heard]) if (one !== who) hear(change);
  }
}

/** Panels share an axis if its name says the same before any remark: `step · line: mean …` is `step`. */
export function axisOf(name: string): string {
  return name.split(" · ")[0]!.trim();
}

/** A link for each axis by name. */
export class Links {
  private readonly known = new Map<string, Link>();

  of(axis: string): Link {
    let link = this.known.get(axis);
    if (!link) this.known.set(axis, (link = new Link()));
    return link;
  }
}
