/** A chart that keeps itself supplied: asks for buckets, follows the view, the pointer and live runs. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Run } from "../api";
import type { Chart, ChartOptions } from "../charts/chart";
import { roomFor } from "../charts/names";
import type { Trace } from "../charts/trace";
import { point } from "../cursor";
import { version, versions } from "../live";
import { happenings, marks, placed } from "../marks";
import { view, type View } from "../state";
import { useStore } from "../store";
import { theme, type Theme } from "../theme";
import { brushing } from "./brush";
import { lineNames } from "./data";
import { NONE, useChart, useTraces, useWidth } from "./hooks";
import { zoomTo } from "./zoom";

export interface PlotProps {
  metric: string;
  runs: Run[];
  height: number;
  /** The width it will probably have; 0 if that is not known. */
  width: number;
  /** Axes are named in a large chart. */
  large?: boolean;
  onState(state: PlotState): void;
}

export interface PlotState {
  chart: Chart | null;
  traces: Trace[];
  excluded: number;
  busy: boolean;
  error: string;
}

export const IDLE: PlotState = { chart: null, traces: [], excluded: 0, busy: true, error: "" };

/** All of the x axis: what the drawn runs span, or what is zoomed to. */
export function domain(runs: Run[], now: View, list: Trace[]): [number, number] {
  const key = now.x === "step" ? "steps" : now.x === "tokens" ? "tokens" : "seconds";
  const known = Math.max(0, ...runs.map((run) => run[key] ?? 0));
  const seen = Math.max(0, ...list.map((trace) => trace.right.at(-1) ?? 0));
  return [now.from ?? 0, now.to ?? (known || seen || 1)];
}

function words(metric: string, now: View): { x: string; y: string } {
  const smooth = now.smooth ? `, mean over ${Math.round(now.smooth * 100)} % of the ${now.x}` : "";
  return { x: (now.x === "time" ? "time since the start" : now.x) + smooth, y: metric };
}

/** How a chart is to be made; null while its width is not known. */
function optionsOf(props: PlotProps, now: View, colours: Theme, width: number, room: number) {
  return (chart: () => Chart | null): ChartOptions | null =>
    width === 0
      ? null
      : {
          title: props.metric,
          axis: now.x,
          xKind: now.xs,
          yKind: now.y,
          theme: colours,
          width,
          height: props.height,
          room,
          words: props.large ? words(props.metric, now) : undefined,
          onPoint: (x, run) => point({ x, run, axis: now.x, source: chart() }),
          onBrush: (range) => brushing({ metric: props.metric, runs: props.runs, width, view: now }, range),
          onZoom: (range) => zoomTo(range, now.x),
          onCheckpoint: (at) => view.set({ step: nearestCheckpoint(at) }),
        };
}

export function Plot(props: PlotProps) {
  const { metric, runs, height, large, onState } = props;
  const root = useRef<HTMLDivElement>(null);
  const now = useStore(view);
  const colours = useStore(theme);
  const ids = runs.map((run) => run.id);
  const changed = version("metrics", ids, useStore(versions));
  const width = useWidth(root, props.width);
  const state = useRef(IDLE);
  const tell = (change: Partial<PlotState>) => onState((state.current = { ...state.current, ...change }));
  const failed = (error: string) => tell({ busy: false, error });
  const traces = useTraces({ metric, runs, width, view: now }, changed, colours, failed);
  const room = width ? roomFor(lineNames(runs, now.grouped), width) : 0;
  const fixed = [metric, now.x, now.xs, now.y, colours, height, room, large, large && now.smooth, width > 0];
  const chart = useChart(root, optionsOf(props, now, colours, width, room), fixed);
  const happened = happenings(now.x, runs, useStore(marks), now.step);
  const range = domain(runs, now, traces);
  useLayoutEffect(() => {
    if (!chart.current) return;
    chart.current.resize(width, height);
    chart.current.set(traces, range, happened);
    if (traces === NONE) return;
    tell({ chart: chart.current, traces, excluded: chart.current.excluded, busy: false, error: "" });
  }, [traces, width, ...fixed]);
  useLayoutEffect(() => chart.current?.show(range, happened), [...range, JSON.stringify(happened)]);
  return <div ref={root} class="plot" style={{ height: `${height}px` }} />;
}

/** The step of the checkpoint whose tick is at this place of the axis. */
function nearestCheckpoint(at: number): number {
  const axis = view.get().x;
  if (axis === "step") return at;
  let best = 0;
  let distance = Infinity;
  for (const run of marks.get().details.values()) {
    for (const [step, place] of placed(axis, run)) {
      const away = Math.abs(place - at);
      if (away < distance) [best, distance] = [step, away];
    }
  }
  return best;
}
