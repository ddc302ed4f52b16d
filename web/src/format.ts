/** Numbers as people read them. */

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** A count or a step in full: 20,000. */
export function whole(value: number): string {
  return Number.isFinite(value) ? GROUPED.format(value) : special(value);
}

/** Names of what is not a number on any axis. */
export function special(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
}

/** Four significant digits, an exponent where zeros would have to be counted. */
export function value(number: number, digits = 4): string {
  if (!Number.isFinite(number)) return special(number);
  const size = Math.abs(number);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) {
    const [mantissa, exponent] = number.toExponential(digits - 2).split("e");
    return `${trimmed(mantissa)}e${exponent.replace("+", "")}`.replace("-", "−").replace("e-", "e−");
  }
  if (size >= 1e4) return GROUPED.format(number).replace("-", "−");
  return trimmed(number.toPrecision(digits)).replace("-", "−");
}

const trimmed = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

const SUFFIXES: [number, string][] = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "k"],
];

/** A count for an axis: 20k, 1.5M. */
export function compact(number: number): string {
  const size = Math.abs(number);
  for (const [unit, suffix] of SUFFIXES) {
    if (size >= unit) return trimmed((number / unit).toPrecision(4)) + suffix;
  }
  return trimmed(number.toPrecision(4));
}

/** A duration of seconds: 45 s, 12 min, 3.5 h, 2.1 d. */
export function duration(seconds: number): string {
  if (seconds < 120) return trimmed(seconds.toPrecision(3)) + " s";
  if (seconds < 7200) return trimmed((seconds / 60).toPrecision(3)) + " min";
  if (seconds < 172_800) return trimmed((seconds / 3600).toPrecision(3)) + " h";
  return trimmed((seconds / 86_400).toPrecision(3)) + " d";
}

/** "1 point", "2 points". */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}
