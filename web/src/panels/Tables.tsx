/** The numbers behind a chart: few for those who listen to the page, all for those who ask. */

import { useEffect, useState } from "preact/hooks";
import { lastIn } from "../charts/draw";
import type { Trace } from "../charts/trace";
import { value, whole } from "../format";
import { whenIdle } from "../idle";
import { runs } from "../runs";

const nameOf = (trace: Trace): string =>
  (trace.role === "mean" ? trace.label : runs.get().byId.get(trace.run)?.name) ?? trace.label;

const extremes = (column: Float32Array, pick: (a: number, b: number) => number): number =>
  column.reduce((best, one) => (Number.isNaN(one) ? best : Number.isNaN(best) ? one : pick(best, one)), NaN);

/** A row for every line: for screen readers, there as soon as there is time. */
export function Ends({ title, traces }: { title: string; traces: Trace[] }) {
  const [told, setTold] = useState<Trace[] | null>(null);
  useEffect(() => whenIdle(() => setTold(traces)), [traces]);
  if (!told) return null;
  return (
    <table class="visually-hidden">
      <caption>{title}</caption>
      <thead>
        <tr>
          {["run", "lowest", "highest", "last", "points", "non-finite"].map((head) => (
            <th key={head}>{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {told.map((trace) => {
          const last = lastIn(trace, Infinity);
          return (
            <tr key={trace.key}>
              <th>{nameOf(trace) + (trace.info.superseded ? " (superseded)" : "")}</th>
              <td>{value(extremes(trace.low, Math.min))}</td>
              <td>{value(extremes(trace.high, Math.max))}</td>
              <td>{last < 0 ? "none" : value(trace.line[last])}</td>
              <td>{whole(trace.info.points ?? 0)}</td>
              <td>{whole(trace.info.nonfinite ?? 0)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** As many rows are put on the page; the CSV has them all. */
const MOST = 2000;

export function Buckets({ traces, height }: { traces: Trace[]; height: number }) {
  const rows = traces.flatMap((trace) => Array.from(trace.x, (_, at) => ({ trace, at })));
  return (
    <div class="scroll" style={{ height: `${height}px` }} tabIndex={0}>
      <table class="numbers">
        <thead>
          <tr>
            {["run", "from", "to", "low", "high", "line", "points", "non-finite"].map((head) => (
              <th key={head}>{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST).map(({ trace, at }) => (
            <tr key={trace.key + at}>
              <th>{nameOf(trace)}</th>
              <td>{whole(trace.left[at])}</td>
              <td>{whole(trace.right[at])}</td>
              <td>{value(trace.low[at])}</td>
              <td>{value(trace.high[at])}</td>
              <td>{value(trace.line[at])}</td>
              <td>{whole(trace.count[at] ?? 0)}</td>
              <td>{whole(trace.nonfinite[at] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST && <p class="quiet">{`${whole(rows.length - MOST)} more rows are in the CSV.`}</p>}
    </div>
  );
}
