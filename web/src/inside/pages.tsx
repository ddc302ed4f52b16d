/** The pages of what is inside: each is of one run, chosen among those drawn, or of all of them. */

import "../figure/figure.css";
import "./inside.css";
import { getJson, type Run, type RunDetail } from "../api";
import { colourOf, hueOf } from "../colours";
import type { Figure } from "../figure/description";
import { drawFigure } from "../figure/draw";
import type { Links } from "../figure/link";
import { version, versions } from "../live";
import { marks } from "../marks";
import type { PageProps } from "../pages";
import { runs as known } from "../runs";
import { setExtra, view } from "../state";
import { useSelected, useStore } from "../store";
import { readTheme, theme } from "../theme";
import { comparison } from "./compare";
import { headsView } from "./heads";
import { layersView } from "./layers";
import { leading, type Known } from "./leads";
import { address, Mounted } from "./Mounted";
import { Chooser, OfRun, Said, useAnswer } from "./OfRun";
import { samplesView } from "./samples";
import { branches, pair, serverSource } from "./server";
import type { Memory, Pair, Part, Shown, Transition } from "./source";
import { spectraView } from "./spectra";
import { tokensView } from "./tokens";
import { transitionsView } from "./transitions";
import { treeView } from "./tree";

function sourceFor(run: RunDetail) {
  return serverSource(run.id, partsOf(run), run.has);
}

export function HeadsPage({ runs }: PageProps) {
  return (
    <OfRun runs={runs}>
      {(run, key) => (
        <Mounted of={key} mount={(element, links) => headsView(element, sourceFor(run), address, links)} />
      )}
    </OfRun>
  );
}

export function LayersPage({ runs }: PageProps) {
  return (
    <OfRun runs={runs}>
      {(run, key) => (
        <Mounted of={key} mount={(element, links) => layersView(element, sourceFor(run), address, links)} />
      )}
    </OfRun>
  );
}

/** A figure of a view part, as the report draws it. */
function FigureOf({ run, query }: { run: string; query: Record<string, string> }) {
  const key = JSON.stringify([run, query]);
  const found = useAnswer(key, () => getJson<Figure>("figures", { runs: run, ...query }));
  if (!found) return <Said>drawing…</Said>;
  if (found instanceof Error) return <Said>{found.message}</Said>;
  return <Mounted of={key} mount={(element, links) => drawFigure(element, found, { links })} />;
}

export function SpectraPage({ runs }: PageProps) {
  const { extra } = useStore(view);
  return (
    <OfRun runs={runs}>
      {(run, key) => {
        const parts = run.parts.filter((part) => part.axes.includes("matrix"));
        const part = parts.find((one) => one.name === extra.part) ?? parts[0];
        if (!part) return <Said>No part was measured on weight matrices.</Said>;
        return (
          <>
            <label class="inside-chooser">
              part{" "}
              <select
                class="figure-choice"
                value={part.name}
                onChange={(event) => setExtra({ part: event.currentTarget.value })}
              >
                {parts.map((one) => (
                  <option key={one.name} value={one.name}>
                    {one.title}
                  </option>
                ))}
              </select>
            </label>
            {partsOf(run).some(keepsSpectra) && (
              <Mounted of={key} mount={(element, links) => arraysView(element, run, links)} />
            )}
            <FigureOf run={run.id} query={{ view: "spectra_over_time", parts: part.name }} />
          </>
        );
      }}
    </OfRun>
  );
}

function partsOf(run: RunDetail): Part[] {
  return run.parts as unknown as Part[];
}

/** Whether a part keeps arrays of its own at single places; a null's draws are no spectrum. */
function keepsSpectra(part: Part): boolean {
  return part.arrays && part.axes.length > 0 && !part.components.some((name) => name.startsWith("null"));
}

/** The parts that keep arrays, at every place they have any. */
function arraysView(element: HTMLElement, run: RunDetail, links: Links): Shown {
  const source = sourceFor(run);
  let shown: Shown | null = null;
  let gone = false;
  const begin = async () => {
    const parts = (await source.parts()).filter(keepsSpectra);
    const first = parts[0]!;
    const [stimulus, component, settings] = [first.stimuli, first.components, first.settings].map(
      (all) => all[0] ?? "",
    );
    const rows = await source.rows({
      part: first.name,
      stimulus: stimulus!,
      component: component!,
      settings: settings!,
    });
    const places = rows.places.map((place) =>
      Object.entries(place)
        .map(([axis, at]) => `${axis}:${at}`)
        .join(","),
    );
    if (!gone) shown = spectraView(element, source, address, parts, places, links);
  };
  begin().catch((error: Error) => element.replaceChildren(error.message));
  return { destroy: () => ((gone = true), shown?.destroy()) };
}

export function TextPage({ runs }: PageProps) {
  return (
    <OfRun runs={runs} shows={({ has }) => has.tokens || has.samples}>
      {(run, key) => {
        const steps = run.checkpoints.map((point) => point.step);
        return (
          <>
            <h2>Loss of every token</h2>
            {run.has.tokens && steps.length ? (
              <Mounted of={key} mount={(element) => tokensView(element, sourceFor(run), address, steps)} />
            ) : (
              <Said>The losses of single tokens were not kept in this run.</Said>
            )}
            <h2>What it wrote</h2>
            <Mounted of={key} mount={(element) => samplesView(element, sourceFor(run), address)} />
          </>
        );
      }}
    </OfRun>
  );
}

export function TransitionsPage({ runs }: PageProps) {
  const ids = runs.map((run) => run.id);
  useStore(versions);
  const key = ids.join() + version("transitions", ids);
  const found = useAnswer(key, async () =>
    ids.length ? getJson<Transition[]>("transitions", { runs: ids.join() }) : [],
  );
  if (!found) return <Said>reading…</Said>;
  if (found instanceof Error) return <Said>{found.message}</Said>;
  const names = new Map(runs.map((run) => [run.id, run.name]));
  const leads = () => leading(found, knownOf(ids));
  return (
    <div class="inside-page">
      <Mounted
        of={key}
        mount={(element, links) => transitionsView(element, found, names, informed, links, leads)}
      />
    </div>
  );
}

/** The address, for a view that also shows what is known of runs. */
const informed: Memory = {
  ...address,
  watch: (changed) => {
    const stops = [address.watch(changed), marks.watch(changed), known.watch(changed)];
    return () => stops.forEach((stop) => stop());
  },
};

/** Runs as they are known by now, and their parts; of a run not asked for in full, the parts of the others. */
function knownOf(ids: string[]): Map<string, Known> {
  const { details } = marks.get();
  const others = [...details.values()].flatMap(partsOf);
  return new Map(
    ids.map((id) => {
      const detail = details.get(id);
      return [id, { last: known.get().byId.get(id)?.last ?? {}, parts: detail ? partsOf(detail) : others }];
    }),
  );
}

export function TreePage() {
  const found = useAnswer("tree", branches);
  const colours = useStore(theme);
  const many = useSelected(known, (now) => now.byId.size);
  if (!found) return <Said>reading…</Said>;
  if (found instanceof Error) return <Said>{found.message}</Said>;
  const pick = (id: string) => view.set({ open: `run:${id}` });
  const colour = (id: string) => colourOf(id, colours);
  return (
    <div class="inside-page">
      <Mounted
        of={`${found.length} ${many} ${colours.dark}`}
        mount={(element) => treeView(element, found, pick, colour)}
      />
    </div>
  );
}

export function ComparePage({ runs }: PageProps) {
  const { extra } = useStore(view);
  const second = runs.find((run) => run.id === extra.b) ?? runs.find((run) => run.parent !== null) ?? runs[1];
  const first =
    runs.find((run) => run.id === extra.a) ?? runs.find((run) => run.id === second?.parent) ?? runs[0];
  if (!first || !second || runs.length < 2) return <Said>Choose two runs in the table.</Said>;
  const metrics = Object.keys(first.last).filter((name) => name in second.last);
  const metric = metrics.includes(extra.metric ?? "")
    ? extra.metric!
    : metrics.includes("loss")
      ? "loss"
      : metrics[0];
  return (
    <div class="inside-page">
      <div class="inside-choosers">
        <Chooser name="a" label="run" runs={runs} now={first.id} />
        <Chooser name="b" label="against" runs={runs} now={second.id} />
        <label class="inside-chooser">
          metric{" "}
          <select
            class="figure-choice"
            value={metric}
            onChange={(event) => setExtra({ metric: event.currentTarget.value })}
          >
            {metrics.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {metric ? (
        <Compared a={first} b={second} metric={metric} />
      ) : (
        <Said>These two have no metric in common.</Said>
      )}
    </div>
  );
}

/** The colours the runs have in the table; two others where they share one. */
function huesOf(a: Run, b: Run): [number, number] {
  const [first, second] = [a, b].map((run) => readTheme().hues.indexOf(hueOf(run)));
  return first! >= 0 && second! >= 0 && first !== second ? [first!, second!] : [0, 1];
}

function Compared({ a, b, metric }: { a: Run; b: Run; metric: string }) {
  const key = `${a.id} ${b.id} ${metric}`;
  const found = useAnswer<Pair>(key, () => pair(a.id, b.id, metric));
  if (!found) return <Said>reading…</Said>;
  if (found instanceof Error) return <Said>{found.message}</Said>;
  const forked = b.parent === a.id ? b.forked_at : a.parent === b.id ? a.forked_at : null;
  const figure = comparison(found, [a.name, b.name], huesOf(a, b), metric, forked);
  return <Mounted of={key} mount={(element, links) => drawFigure(element, figure, { links })} />;
}
