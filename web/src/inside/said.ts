/** What a view says where it has nothing to draw. */

import { fill, h, named } from "../figure/dom";

/** A sentence in place of a drawing. */
export function say(element: Element, words: string): void {
  fill(element, h("p", { class: "figure-note" }, named(words)));
}

/** What went wrong, in the words of whoever refused. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Lets a view begin; what it cannot get is said where it would stand. */
export function begin(element: Element, work: Promise<void>): void {
  work.catch((error: unknown) => say(element, reason(error)));
}
