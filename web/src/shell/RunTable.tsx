/** The runs, and the legend of everything drawn: filter, choose, hide, pin. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { CSSProperties, TargetedKeyboardEvent } from "preact";
import type { Run } from "../api";
import { condition, hueOf } from "../colours";
import { cursor, point } from "../cursor";
import { whole } from "../format";
import { versions } from "../live";
import { chosen, drawn, loadPage, PAGE, runs as store } from "../runs";
import { view } from "../state";
import { useSelected, useStore } from "../store";
import { theme } from "../theme";
import { cell } from "./cells";
import { only, pin, remove, toggle } from "./choose";
import { Menu } from "./Menu";
import { Order } from "./Order";
import { rowsOf, TOGETHER, type Row } from "./rows";

const ROW = 28;
/** Rows kept above and below those in view. */
const SPARE = 12;

export function RunTable() {
  const known = useStore(store);
  const now = useStore(view);
  useStore(theme);
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeight(entry.contentRect.height));
    observer.observe(list.current!);
    return () => observer.disconnect();
  }, []);
  const rows = rowsOf(known, now);
  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + SPARE);
  useEffect(() => need(rows.slice(first, last), known.total), [first, last, known]);
  return (
    <aside class="runs" aria-label="Runs">
      <Head />
      <div
        class="list"
        ref={list}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={walk}
      >
        <ul
          style={{ height: `${rows.length * ROW}px` }}
          onMouseLeave={() => point({ run: null, x: null, source: store })}
        >
          {rows.slice(first, last).map((row, index) => (
            <Line key={row.key} row={row} style={{ transform: `translateY(${(first + index) * ROW}px)` }} />
          ))}
        </ul>
      </div>
    </aside>
  );
}

/** The collection's name, the filter, how many runs are drawn. */
function Head() {
  const known = useStore(store);
  const now = useStore(view);
  const { lost } = useStore(versions);
  const count = drawn(now, known).length;
  return (
    <div class="head">
      <h1 title={known.name}>{known.name || "ontogeny"}</h1>
      <input
        type="search"
        id="find-runs"
        placeholder="Filter runs: name, recipe, key=value"
        aria-label="Filter runs"
        value={now.q}
        onInput={(event) => view.set({ q: event.currentTarget.value })}
      />
      <p class="quiet" aria-live="polite">
        {known.error ||
          (lost && "The server does not answer") ||
          `${whole(count)} of ${whole(known.total)} drawn`}
        <Order />
        <button onClick={() => view.set({ runs: null, hidden: [] })} title="Draw the first ten of the table">
          ten
        </button>
        <button onClick={() => view.set({ runs: [], pinned: [] })} title="Draw none">
          none
        </button>
      </p>
    </div>
  );
}

/** Asks for the pages of the rows in view, and for all of a small collection. */
function need(rows: Row[], total: number): void {
  const pages = new Set(rows.flatMap((row) => (row.kind === "hole" ? [Math.floor(row.index / PAGE)] : [])));
  if (total <= TOGETHER) for (let page = 0; page * PAGE < total; page++) pages.add(page);
  for (const page of pages) void loadPage(page);
}

/** Arrow keys walk through the rows. */
function walk(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = (event.target as Element).closest("li");
  if (!step || !row || (event.target as Element).closest("[role=menu]")) return;
  const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
  next?.querySelector<HTMLElement>("button")?.focus();
  event.preventDefault();
}

function Line({ row, style }: { row: Row; style: CSSProperties }) {
  if (row.kind === "hole") return <li class="hole" style={style} aria-hidden="true" />;
  if (row.kind === "group") return <GroupLine row={row} style={style} />;
  return <RunLine run={row.run} seed={row.seed} pinned={row.pinned} style={style} />;
}

function state(ids: string[]): "on" | "off" | "hidden" {
  const now = view.get();
  const all = chosen(now);
  if (!ids.some((id) => all.includes(id))) return "off";
  return ids.every((id) => !all.includes(id) || now.hidden.includes(id)) ? "hidden" : "on";
}

function Swatch({
  ids,
  colour,
  name,
  bold,
}: {
  ids: string[];
  colour: string;
  name: string;
  bold?: boolean;
}) {
  const now = state(ids);
  return (
    <button
      class={`swatch ${now}${bold ? " bold" : ""}`}
      style={{ "--colour": colour }}
      aria-pressed={now === "on"}
      aria-label={`Draw ${name}`}
      onClick={() => toggle(ids)}
    />
  );
}

function GroupLine({ row, style }: { row: Row & { kind: "group" }; style: CSSProperties }) {
  const ids = row.runs.map((run) => run.id);
  const key = condition(row.runs[0]);
  const lit = useSelected(cursor, (now) => now.run === key);
  return (
    <li
      class={`of-group ${lit ? "lit" : ""}`}
      style={style}
      onMouseEnter={() => point({ run: key, x: null, source: store })}
    >
      <Swatch ids={ids} colour={hueOf(row.runs[0])} name={row.name} bold />
      <span class="name" title={row.name}>
        {row.name}
      </span>
      <span class="quiet">{`n=${ids.length}`}</span>
      <Menu
        label={`What to do with ${row.name}`}
        items={[
          { title: "Draw only these", act: () => only(ids) },
          { title: "Remove from the drawing", act: () => remove(ids) },
        ]}
      />
    </li>
  );
}

const STATUS: Record<Run["status"], string> = {
  running: "is running",
  finished: "finished",
  stopped: "was stopped",
  killed: "was killed",
  unknown: "status unknown",
};

function RunLine({
  run,
  seed,
  pinned,
  style,
}: {
  run: Run;
  seed: boolean;
  pinned: boolean;
  style: CSSProperties;
}) {
  const lit = useSelected(cursor, (now) => now.run === run.id);
  const label = seed && run.seed !== null ? `seed ${run.seed}` : run.name;
  return (
    <li
      class={`${seed ? "seed " : ""}${lit ? "lit" : ""}`}
      style={style}
      onMouseEnter={() => point({ run: run.id, x: null, source: store })}
    >
      <Swatch ids={[run.id]} colour={hueOf(run)} name={run.name} />
      <button class="name" title={run.name} onClick={() => view.set({ open: "run:" + run.id })}>
        {run.parent && <ForkGlyph />}
        {label}
        {pinned && <span class="quiet"> pinned</span>}
      </button>
      <span
        class={`status ${run.status}`}
        title={STATUS[run.status]}
        role="img"
        aria-label={STATUS[run.status]}
      />
      <Last run={run} />
      <Menu
        label={`What to do with ${run.name}`}
        items={[
          { title: "Draw only this", act: () => only([run.id]) },
          { title: pinned ? "Unpin" : "Pin to the top", act: () => pin(run.id) },
          { title: "Remove from the drawing", act: () => remove([run.id]) },
        ]}
      />
    </li>
  );
}

/** What the table is sorted by; else the run's last loss, or how far it came. */
function Last({ run }: { run: Run }) {
  const { sort } = useStore(view);
  const { columns } = useStore(store);
  const loss = Object.keys(run.last).find((name) => /loss/i.test(name));
  const key = sort.replace(/^-/, "") || (loss ? "last." + loss : "steps");
  const column = columns.find((one) => one.key === key);
  const text = cell(run, key, column?.kind ?? "metric");
  return (
    <span class="last" title={`${column?.title ?? key}: ${text}`}>
      {text}
    </span>
  );
}

/** The sign of a branch, the same as on the charts' axes. */
function ForkGlyph() {
  return (
    <svg class="fork" viewBox="0 0 12 12" width="11" height="11" role="img" aria-label="branch">
      <path d="M6 12V7L1.5 1M6 7l4.5-6" fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}
