/** The first page: every metric of the drawn runs, a panel each, in sections that fold. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Run } from "../api";
import type { PageProps } from "../pages";
import { whole } from "../format";
import { whenIdle } from "../idle";
import { version, versions } from "../live";
import { runs as known } from "../runs";
import { view } from "../state";
import { useSelected, useStore } from "../store";
import { firstNames, loadNames, PAGE, type Names, type Section } from "./metrics";
import { likely, panelWidth } from "./early";
import { Panel } from "./Panel";
import "./panels.css";

/** Where some names are known already, the first lines are asked for before the other names. */
const PATIENCE = 300;

/** The names of the drawn runs' metrics: those their last values tell, then those the server tells. */
function useNames(runs: Run[], m: string): { names: Names | undefined; failed: string } {
  const ids = runs.map((run) => run.id);
  const changed = version("metrics", ids, useStore(versions));
  const [found, setFound] = useState<{ key: string; names: Names } | null>(null);
  const [failed, setFailed] = useState("");
  const key = ids.join() + "\n" + m;
  const names = found?.key === key ? found.names : (firstNames(runs, m) ?? found?.names);
  useEffect(() => {
    const stop = new AbortController();
    const ask = () =>
      loadNames(runs, m, stop.signal)
        .then((names) => (setFound({ key, names }), setFailed("")))
        .catch((reason: Error) => stop.signal.aborted || setFailed(reason.message));
    const waiting = names ? setTimeout(() => whenIdle(ask), PATIENCE) : void ask();
    return () => {
      clearTimeout(waiting);
      stop.abort();
    };
    // New metrics may appear at any change, but seldom do: a tenth of the changes is enough to look again.
  }, [key, Math.floor(changed / 10)]);
  return { names, failed };
}

export function MetricsPage({ runs }: PageProps) {
  const m = useSelected(view, (now) => now.m);
  const { loaded, error } = useStore(known);
  const first = useMemo(likely, []);
  const { names, failed } = useNames(runs, m);
  if (error || failed) return <p class="empty">{error || failed}</p>;
  if (!loaded || !names) return <p class="empty quiet">Loading</p>;
  if (!runs.length) return <p class="empty quiet">No run is drawn. Choose runs in the table on the left.</p>;
  if (!names.loaded) {
    const reason = m ? `No metric matches “${m}”.` : "These runs recorded no metric.";
    return <p class="empty quiet">{reason}</p>;
  }
  let near = first;
  return (
    <>
      {names.sections.map((section) => {
        const group = <Group key={section.prefix} section={section} runs={runs} near={near} />;
        near -= Math.min(section.names.length, PAGE);
        return group;
      })}
      {names.total > names.loaded && (
        <p class="empty quiet">
          {`${whole(names.loaded)} of ${whole(names.total)} metrics are listed; search for others (press /).`}
        </p>
      )}
    </>
  );
}

interface GroupProps extends PageProps {
  section: Section;
  /** As many of its panels are likely to be in view. */
  near: number;
}

function Group({ section, runs, near }: GroupProps) {
  const folded = useSelected(view, (now) => now.folded);
  const [shown, setShown] = useState(PAGE);
  const { prefix, names } = section;
  const key = prefix || "-";
  const width = useMemo(panelWidth, []);
  const shut = folded.includes(key);
  const fold = () => view.set({ folded: shut ? folded.filter((one) => one !== key) : [...folded, key] });
  return (
    <section class="group" aria-label={prefix || "general"}>
      <h2>
        <button aria-expanded={!shut} onClick={fold}>
          <span class="arrow" aria-hidden="true" />
          {prefix || "general"} <span class="quiet">{whole(names.length)}</span>
        </button>
      </h2>
      {!shut && (
        <div class="grid">
          {names.slice(0, shown).map((name, index) => (
            <Panel key={name} metric={name} runs={runs} near={index < near} width={width} />
          ))}
        </div>
      )}
      {!shut && names.length > shown && (
        <button class="more" onClick={() => setShown(shown + PAGE)}>
          {`Show ${whole(Math.min(PAGE, names.length - shown))} more of ${whole(names.length)}`}
        </button>
      )}
    </section>
  );
}
