/** What keeps a chart supplied: its width, its traces, the chart itself on its element.
 *
 * Effects run before the browser paints, so that a zoom is asked for, and drawn with what there is, at once. */

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { Chart, type ChartOptions } from "../charts/chart";
import type { Trace } from "../charts/trace";
import { cursor } from "../cursor";
import type { Theme } from "../theme";
import { foreseen } from "./brush";
import { keyOf, load, type Wanted } from "./data";

/** The element's width in whole CSS pixels; until it is known, what it is expected to be (0: that is not known). */
export function useWidth(root: RefObject<HTMLElement | null>, expected: number): number {
  const [width, setWidth] = useState(expected);
  useLayoutEffect(() => {
    // The first width is known before the observer speaks: a frame sooner.
    setWidth(root.current!.clientWidth);
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(root.current!);
    return () => observer.disconnect();
  }, [root]);
  return width;
}

/** Before the first answer. */
export const NONE: Trace[] = [];

/** The traces of a question, asked again when it changes, when its runs do, and in other colours. */
export function useTraces(
  wanted: Wanted,
  changed: number,
  colours: Theme,
  failed: (why: string) => void,
): Trace[] {
  const [held, setHeld] = useState({ key: "", traces: NONE });
  const key = wanted.width ? keyOf(wanted) : "";
  // What a brush asked for is drawn at once, and not first what there was before.
  const early = useMemo(() => (key ? foreseen(wanted) : null), [key]);
  useLayoutEffect(() => {
    if (!key) return;
    const stop = new AbortController();
    load(wanted, stop.signal)
      .then((traces) => stop.signal.aborted || setHeld({ key, traces }))
      .catch((error: Error) => stop.signal.aborted || failed(error.message));
    return () => stop.abort();
  }, [key, changed, colours]);
  return held.key === key ? held.traces : (early ?? held.traces);
}

/** A chart on the element, made anew when one of `fixed` changes; it follows the crosshair of all others. */
export function useChart(
  root: RefObject<HTMLElement | null>,
  options: (chart: () => Chart | null) => ChartOptions | null,
  fixed: unknown[],
): RefObject<Chart | null> {
  const chart = useRef<Chart | null>(null);
  useLayoutEffect(() => {
    const chosen = options(() => chart.current);
    if (!chosen) return;
    const made = new Chart(root.current!, chosen);
    chart.current = made;
    const stop = cursor.watch(({ x, axis, run, source }) => {
      if (source === made) made.light(run);
      else made.follow(axis === chosen.axis ? x : null, run);
    });
    return () => {
      stop();
      made.destroy();
      chart.current = null;
    };
  }, fixed);
  return chart;
}
