/** One run beside the page: where it comes from, how far it came, how it differs from the others drawn. */

import { useEffect, useState } from "preact/hooks";
import { getJson, type Run, type RunDetail as Told } from "../api";
import { compact, counted, duration, whole } from "../format";
import { written } from "../names";
import type { DetailProps } from "../pages";
import { runs as known } from "../runs";
import { view } from "../state";
import { useStore } from "../store";

export function RunDetail({ subject, runs }: DetailProps) {
  const [run, setRun] = useState<Told | null>(null);
  const [error, setError] = useState("");
  const { byId } = useStore(known);
  useEffect(() => {
    const stop = new AbortController();
    getJson<Told>(`runs/${encodeURIComponent(subject)}`, {}, stop.signal)
      .then((told) => (setRun(told), setError("")))
      .catch((reason: Error) => stop.signal.aborted || setError(reason.message));
    return () => stop.abort();
  }, [subject]);
  if (error) return <p class="empty">{error}</p>;
  if (!run) return <p class="empty quiet">Loading</p>;
  const parent = run.parent ? byId.get(run.parent) : undefined;
  return (
    <div class="run-detail">
      <dl class="facts">
        {facts(run).map(([name, told]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{told}</dd>
          </div>
        ))}
        {parent && (
          <div>
            <dt>branch of</dt>
            <dd>
              <button class="link" onClick={() => view.set({ open: "run:" + parent.id })}>
                {parent.name}
              </button>
              {` at step ${whole(run.forked_at ?? 0)}`}
            </dd>
          </div>
        )}
      </dl>
      <Configuration run={run} others={runs.filter((other) => other.id !== run.id).slice(0, 4)} />
    </div>
  );
}

function facts(run: Told): [string, string][] {
  const told: [string, string | null][] = [
    ["status", run.status],
    ["grade", run.grade],
    ["steps", run.steps === null ? null : whole(run.steps)],
    ["tokens", run.tokens === null ? null : compact(run.tokens)],
    ["time", run.seconds === null ? null : duration(run.seconds)],
    ["parameters", run.parameters === null ? null : compact(run.parameters)],
    ["seed", run.seed === null ? null : String(run.seed)],
    ["checkpoints", run.checkpoints.length ? whole(run.checkpoints.length) : null],
    ["metrics", whole(run.metrics)],
    ["transitions", run.transitions ? whole(run.transitions) : null],
    ["attempts", run.attempts.length > 1 ? counted(run.attempts.length, "attempt") : null],
    ["interventions", run.interventions.join(", ") || null],
  ];
  return told.flatMap(([name, value]) => (value === null ? [] : [[name, value] as [string, string]]));
}

/** The settings, beside those of other drawn runs; rows that differ come first. */
function Configuration({ run, others }: { run: Run; others: Run[] }) {
  const keys = [...new Set([run, ...others].flatMap((one) => Object.keys(one.config)))].sort();
  const same = (key: string) =>
    others.every((other) => written(other.config[key]) === written(run.config[key]));
  const order = [...keys.filter((key) => !same(key)), ...keys.filter(same)];
  return (
    <div class="scroll" tabIndex={0}>
      <table class="numbers config">
        <thead>
          <tr>
            <th>setting</th>
            {[run, ...others].map((one) => (
              <th key={one.id}>{one.name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {order.map((key) => (
            <tr key={key} class={same(key) ? "" : "differs"}>
              <th>{key}</th>
              {[run, ...others].map((one) => (
                <td key={one.id}>{written(one.config[key])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
