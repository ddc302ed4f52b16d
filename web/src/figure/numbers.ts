/** Numbers as a person reads them; the same words as report/wording.py. */

const MINUS = "−";
export const MISSING = "—";

/** `toPrecision` without trailing zeros or an exponent where a plain number does. */
function general(value: number, digits: number): string {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  if (exponent < -4 || exponent >= digits) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    return `${Number(mantissa)}e${Number(power)}`;
  }
  return String(Number(value.toPrecision(digits)));
}

/** A tick's label: 0, 0.25, 1k, 2.5M, 1e−5. */
export function shortNumber(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : String(value);
  const size = Math.abs(value);
  let said = general(value, 4);
  for (const [unit, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (size >= unit && size < 1e13) {
      said = general(value / unit, 4) + letter;
      break;
    }
  }
  if (size < 1e-3 || size >= 1e13) {
    const [mantissa, power] = value.toExponential(2).split("e");
    said = `${Number(mantissa)}e${Number(power)}`;
  }
  return said.replace(/-/g, MINUS);
}

/** A measured number to three significant digits; a dash where there is none. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return MISSING;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : MINUS + "∞";
  const size = Math.abs(value);
  const said = size >= 1e3 && size < 1e15 ? separated(Math.round(value)) : general(value, digits);
  return said.replace(/-/g, MINUS);
}

/** A whole number with separators; steps and counters. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return MISSING;
  return Number.isFinite(value) ? separated(Math.round(value)) : number(value);
}

function separated(whole: number): string {
  return String(whole).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A p-value; very small ones as a bound. */
export function probability(value: number | null): string {
  if (value === null || Number.isNaN(value)) return MISSING;
  return value < 1e-4 ? "< 0.0001" : general(value, 2);
}

/** An interval of steps; an open side is an ellipsis. */
export function interval(pair: (number | null)[] | null): string {
  if (!pair) return MISSING;
  return pair.map((side) => (side === null || Number.isNaN(side) ? "…" : count(side))).join(" – ");
}

/** `1 head`, `1,200 heads`. */
export function plural(many: number, noun: string, nouns = noun + "s"): string {
  return `${count(many)} ${many === 1 ? noun : nouns}`;
}
