/** One metric: title and latest value, chart, footer, and what can be done with it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Run } from "../api";
import { cursor } from "../cursor";
import { runs as known } from "../runs";
import { view } from "../state";
import { useSelected } from "../store";
import { value } from "../format";
import { bucketAt } from "../charts/trace";
import { Menu } from "../shell/Menu";
import { csv, fileName, save, saveDrawing, savePicture } from "./files";
import { useNear } from "./near";
import { IDLE, Plot, type PlotState } from "./Plot";
import { banded, latest, made, reading, spoken } from "./readout";
import { steer } from "./steer";
import { Buckets, Ends } from "./Tables";

export interface PanelProps {
  metric: string;
  runs: Run[];
  height?: number;
  large?: boolean;
  /** Whether it is likely to be in view from the beginning, and the width it will probably have. */
  near?: boolean;
  width?: number;
}

export const HEIGHT = 170;

export function Panel(props: PanelProps) {
  const { metric, runs, height = HEIGHT, large = false, near: first = large, width = 0 } = props;
  const element = useRef<HTMLElement>(null);
  const near = useNear(element, first);
  const [state, setState] = useState<PlotState>(IDLE);
  const [tabled, setTabled] = useState(false);
  const open = () => view.set({ open: "metric:" + metric });
  const key = (event: KeyboardEvent) => {
    if (!state.chart || event.ctrlKey || event.metaKey || event.altKey || !steer(state.chart, event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section class={"panel" + (large ? " large" : "")} ref={element} aria-label={metric} data-metric={metric}>
      <header>
        <h3>
          <button class="title" onClick={open} onKeyDown={key} title={`${metric}: open beside`}>
            {metric}
          </button>
        </h3>
        <Latest state={state} />
        <Menu label={`What to do with ${metric}`} items={actions(metric, state, tabled, setTabled, open)} />
      </header>
      {near ? (
        <div hidden={tabled}>
          <Plot {...{ metric, runs, height, width, large }} onState={setState} />
        </div>
      ) : (
        <div class="plot" style={{ height: `${height}px` }} />
      )}
      <Foot state={state} large={large} />
      {tabled ? (
        <Buckets traces={state.traces} height={height} />
      ) : (
        <Ends title={metric} traces={state.traces} />
      )}
    </section>
  );
}

function actions(
  metric: string,
  state: PlotState,
  tabled: boolean,
  setTabled: (on: boolean) => void,
  open: () => void,
) {
  const { chart, traces } = state;
  const names = () => new Map([...known.get().byId].map(([id, run]) => [id, run.name]));
  return [
    { title: "Open beside", act: open },
    { title: tabled ? "Show as chart" : "Show as table", act: () => setTabled(!tabled) },
    { title: "Save PNG", act: () => chart && void savePicture(chart) },
    { title: "Save SVG", act: () => chart && saveDrawing(chart) },
    {
      title: "Save CSV",
      act: () => save(fileName(metric, "csv"), new Blob([csv(traces, names())], { type: "text/csv" })),
    },
  ];
}

/** The latest value, or the value under the crosshair. */
function Latest({ state }: { state: PlotState }) {
  const element = useRef<HTMLSpanElement>(null);
  const words = latest(state.traces);
  useEffect(() => {
    const write = () => {
      // The last news may come while the panel is being taken away.
      if (!element.current) return;
      const { x, run, axis } = cursor.get();
      const trace = x === null || axis !== view.get().x ? undefined : spoken(state.traces, run);
      const at = trace && x !== null ? bucketAt(trace, x) : -1;
      const text = trace && at >= 0 ? value(trace.line[at]) : words;
      if (element.current.textContent !== text) element.current.textContent = text;
      element.current.style.color = trace && state.traces.length > 1 ? trace.colour : "";
    };
    write();
    return cursor.watch(write);
  }, [state.traces, words]);
  return <span class="latest" ref={element} />;
}

/** What the drawing is made of, or what is under the crosshair. */
function Foot({ state, large }: { state: PlotState; large: boolean }) {
  const element = useRef<HTMLParagraphElement>(null);
  const band = useSelected(view, (now) => now.band);
  const words = state.error || (state.traces.length || !state.busy ? footer(state, large ? band : null) : "");
  useEffect(() => {
    const write = () => {
      if (!element.current) return;
      const { x, run, axis, source } = cursor.get();
      const here = source === state.chart && x !== null && axis === view.get().x;
      const trace = here ? spoken(state.traces, run) : undefined;
      const text = trace ? reading(trace, axis, x!) : words;
      if (element.current.textContent !== text) element.current.textContent = text;
    };
    write();
    return cursor.watch(write);
  }, [state, words]);
  return <p class="foot" ref={element} title={words} />;
}

const footer = (state: PlotState, band: "sd" | "ci" | "range" | null): string =>
  [made(state.traces, state.excluded), band && banded(state.traces, band)].filter(Boolean).join("; ");
