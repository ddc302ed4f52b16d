/** A page of one run, chosen among those drawn, and what pages need to ask and to say. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { getJson, type Run, type RunDetail } from "../api";
import { version, versions } from "../live";
import { setExtra, view } from "../state";
import { useStore } from "../store";

/** What a server answers, asked again when `key` changes; undefined while it is under way. */
export function useAnswer<T>(key: string, ask: () => Promise<T>): T | Error | undefined {
  const [answer, setAnswer] = useState<{ key: string; value: T | Error }>();
  useEffect(() => {
    let gone = false;
    const keep = (value: T | Error) => !gone && setAnswer({ key, value });
    ask().then(keep, (error: unknown) => keep(error instanceof Error ? error : new Error(String(error))));
    return () => void (gone = true);
  }, [key]);
  return answer?.key === key ? answer.value : undefined;
}

export function Said({ children }: { children: ComponentChildren }) {
  return <p class="inside-note">{children}</p>;
}

/** A list of runs to choose one from. */
export function Chooser({
  name,
  label,
  runs,
  now,
}: {
  name: string;
  label: string;
  runs: Run[];
  now: string;
}) {
  if (runs.length < 2) return null;
  return (
    <label class="inside-chooser">
      {label}{" "}
      <select
        class="figure-choice"
        value={now}
        onChange={(event) => setExtra({ [name]: event.currentTarget.value })}
      >
        {runs.map((run) => (
          <option key={run.id} value={run.id}>
            {run.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** As many runs are looked at for one that has what a page shows. */
const LOOKED = 12;

/** The first of these runs that a page has something to show of; where none has, the first. */
async function firstOf(runs: Run[], shows: (run: RunDetail) => boolean): Promise<RunDetail | null> {
  let first: RunDetail | null = null;
  for (const { id } of runs) {
    const run = await getJson<RunDetail>(`runs/${id}`);
    if (shows(run)) return run;
    first ??= run;
  }
  return first;
}

interface OfRunProps {
  runs: Run[];
  /** Whether there is something to show of a run: where none was chosen, the page begins with such a one. */
  shows?(run: RunDetail): boolean;
  children(run: RunDetail, key: string): ComponentChildren;
}

/** A page of one run: which, and everything the server knows of it. */
export function OfRun({ runs, shows, children }: OfRunProps) {
  const { extra } = useStore(view);
  useStore(versions);
  const chosen = runs.filter((one) => one.id === extra.of);
  const asked = chosen.length ? chosen : runs.slice(0, shows ? LOOKED : 1);
  const ids = asked.map((one) => one.id);
  const key = `${ids.join()} ${version("rows", ids)} ${version("transitions", ids)}`;
  const found = useAnswer(key, () => firstOf(asked, shows ?? (() => true)));
  if (!runs.length) return <Said>Choose a run in the table.</Said>;
  const now = found && !(found instanceof Error) ? found.id : ids[0]!;
  return (
    <div class="inside-page">
      <Chooser name="of" label="run" runs={runs} now={now} />
      {found instanceof Error ? (
        <Said>{found.message}</Said>
      ) : found ? (
        children(found, key)
      ) : (
        <Said>reading…</Said>
      )}
    </div>
  );
}
