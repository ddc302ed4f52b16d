/** Which part, stimulus, component and settings a view shows; kept in the memory. */

import { append, h } from "../figure/dom";
import { chooser } from "./controls";
import type { Choice, Memory, Part } from "./source";

const KEYS = ["part", "stimulus", "component", "settings"] as const;

/** The choice a memory holds, as far as the parts allow it; else the first of everything. */
export function choiceIn(memory: Memory, parts: Part[]): Choice {
  const part = parts.find((one) => one.name === memory.get("part")) ?? parts[0]!;
  const of = (values: string[], key: string) =>
    values.includes(memory.get(key)) ? memory.get(key) : (values[0] ?? "");
  return {
    part: part.name,
    stimulus: of(part.stimuli, "stimulus"),
    component: of(plainFirst(part.components), "component"),
    settings: of(part.settings, "settings"),
  };
}

/** The part's own, nameless number before its components; what belongs to a null is no choice. */
function plainFirst(components: string[]): string[] {
  const shown = components.filter((name) => !name.startsWith("null"));
  return shown.sort((a, b) => Number(b === "" || b === "value") - Number(a === "" || a === "value"));
}

/** Choosers for everything there is more than one of. */
export function choosers(memory: Memory, parts: Part[], choice: Choice): HTMLElement {
  const part = parts.find((one) => one.name === choice.part)!;
  const values = {
    part: parts.map((one) => one.name),
    stimulus: part.stimuli,
    component: plainFirst(part.components),
    settings: part.settings,
  };
  const row = h("div", { class: "inside-choosers" });
  append(
    row,
    KEYS.map((key) => chooser(key, values[key], choice[key], (value) => memory.set({ [key]: value }))),
  );
  return row;
}

/** Whether two choices are the same. */
export function sameChoice(a: Choice | null, b: Choice): boolean {
  return a !== null && KEYS.every((key) => a[key] === b[key]);
}
