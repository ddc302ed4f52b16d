/** Room for names at line ends: the same in every panel of a page, so that their x axes line up. */

export const FACE =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif';

/** Up to this many lines carry their names; of more, the run table is the legend. */
const NAMED = 5;
/** No more than this share of a chart goes to names. */
const SHARE = 0.4;

let measure: CanvasRenderingContext2D | undefined;

/** CSS pixels that the widest name takes; 0 where there are too many names, or none. */
export function roomFor(names: string[], width: number): number {
  if (!names.length || names.length > NAMED) return 0;
  measure ??= document.createElement("canvas").getContext("2d")!;
  measure.font = `11px ${FACE}`;
  const widest = Math.max(...names.map((name) => measure!.measureText(name).width));
  return widest ? Math.min(Math.ceil(widest) + 10, Math.floor(width * SHARE)) : 0;
}
