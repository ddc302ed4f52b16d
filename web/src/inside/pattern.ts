/** Where a head looks: its attention at one checkpoint, query by key. */

import type { Figure, Heat } from "../figure/description";
import { alone, PANEL } from "./cube";
import type { Pattern } from "./source";

/** Tokens shown where white space would be nothing. */
export function tokenWords(token: string): string {
  return token.replace(/\n/g, "⏎").replace(/\t/g, "⇥").replace(/ /g, "␣") || "∅";
}

/** The matrix with the first query on top, as it is read; what a query cannot see is left empty. */
export function patternFigure(pattern: Pattern, title: string): Figure {
  const many = pattern.tokens.length;
  const names = pattern.tokens.map((token, at) => `${at} ${tokenWords(token)}`);
  const at = (query: number, key: number) => pattern.values[query * many + key]!;
  const causal = names.every((_, query) => names.every((__, key) => key <= query || at(query, key) === 0));
  const values = names.map((_, query) =>
    names.map((__, key) => {
      if (causal && key > query) return null;
      return Number.isFinite(at(query, key)) ? at(query, key) : ("NaN" as const);
    }),
  );
  const heat: Heat = {
    mark: "Heat",
    label: title,
    x: names,
    y: [...names].reverse(),
    values: values.reverse(),
    low: 0,
    high: 1,
    colours: "sequential",
    scale: "linear",
  };
  return alone({ ...PANEL, title, marks: [heat], x: "to key", y: "from query", x_scale: "linear" });
}
