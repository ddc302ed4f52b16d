/** The collection's runs: pages of the table as they are needed, and any run that is asked for by id. */

import { getJson, type Collection, type Run } from "./api";
import { legible } from "./names";
import { view, type View } from "./state";
import { Store } from "./store";

export const PAGE = 100;
/** As many runs are drawn before any is chosen. */
export const FIRST = 10;
/** No more are drawn at once, whatever is chosen: the table says how many are. */
const DRAWN = 400;

export interface Rows {
  name: string;
  /** The question these rows answer. */
  question: string;
  columns: Collection["columns"];
  total: number;
  /** Rows by position in the table; holes are not loaded yet. */
  rows: (Run | undefined)[];
  byId: ReadonlyMap<string, Run>;
  cursor: string;
  error: string;
  loaded: boolean;
}

export const runs = new Store<Rows>({
  name: "",
  question: "",
  columns: [],
  total: 0,
  rows: [],
  byId: new Map(),
  cursor: "",
  error: "",
  loaded: false,
});

const asked = new Set<string>();

const told = (run: Run): Run => ({ ...run, name: legible(run.name) });

/** Filter and order; new ones mean new rows. */
const asking = ({ q, sort }: View): string => `${q}\n${sort}`;

function keep(answer: Collection, question: string, page: number): void {
  const now = runs.get();
  const same = question === now.question && now.total === answer.total;
  const rows = same ? [...now.rows] : new Array<Run | undefined>(answer.total);
  const byId = new Map(now.byId);
  answer.runs.map(told).forEach((run, index) => {
    rows[page * PAGE + index] = run;
    byId.set(run.id, run);
  });
  const { name, total, columns } = answer;
  const cursor = now.cursor || answer.cursor;
  runs.set({ name, total, columns, cursor, question, rows, byId, error: "", loaded: true });
}

/** Loads the page of the table that holds a row. */
export async function loadPage(page: number): Promise<void> {
  const { q, sort } = view.get();
  const question = asking(view.get());
  const key = `${question}\n${page}`;
  if (asked.has(key)) return;
  asked.add(key);
  try {
    const answer = await getJson<Collection>("collection", { q, sort, page, size: PAGE });
    if (asking(view.get()) === question) keep(answer, question, page);
  } catch (error) {
    asked.delete(key);
    runs.set({ error: (error as Error).message, loaded: true });
  }
}

/** Loads single runs that the address names but no loaded page holds. */
export async function loadRuns(ids: string[]): Promise<void> {
  const missing = ids.filter((id) => !runs.get().byId.has(id) && !asked.has(id)).slice(0, 200);
  missing.forEach((id) => asked.add(id));
  const found = await Promise.all(missing.map((id) => getJson<Run>(`runs/${id}`).catch(() => null)));
  const byId = new Map(runs.get().byId);
  for (const run of found) if (run) byId.set(run.id, told(run));
  if (found.some(Boolean)) runs.set({ byId });
}

export function followFilter(): void {
  let question = asking(view.get());
  view.watch((now) => {
    if (asking(now) === question) return;
    question = asking(now);
    asked.clear();
    void loadPage(0);
  });
  void loadPage(0);
}

/** Ids of the runs that are chosen: those the address names, or the first of the table. */
export function chosen(now = view.get(), rows = runs.get()): string[] {
  const ids = now.runs ?? rows.rows.slice(0, FIRST).flatMap((run) => (run ? [run.id] : []));
  return [...now.pinned, ...ids.filter((id) => !now.pinned.includes(id))];
}

/** The runs that are drawn: chosen and not hidden. */
export function drawn(now = view.get(), rows = runs.get()): Run[] {
  return chosen(now, rows)
    .filter((id) => !now.hidden.includes(id))
    .slice(0, DRAWN)
    .flatMap((id) => rows.byId.get(id) ?? []);
}

/** Changes what is known of runs, e.g. by a live event; runs that are not known stay so. */
export function amend(changes: ReadonlyMap<string, Partial<Run>>): void {
  const { byId, rows } = runs.get();
  const amended = new Map(byId);
  for (const [id, change] of changes) {
    const run = byId.get(id);
    if (run) amended.set(id, { ...run, ...change, last: { ...run.last, ...change.last } });
  }
  runs.set({ byId: amended, rows: rows.map((run) => run && amended.get(run.id)) });
}

/** Looks at the table again, from its beginning: runs came or went. */
export function reload(): void {
  asked.clear();
  runs.set({ rows: runs.get().rows.map((run, index) => (index < PAGE ? run : undefined)) });
  void loadPage(0);
}
