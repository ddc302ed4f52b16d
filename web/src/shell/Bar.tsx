/** The sticky bar: pages, axes, smoothing, and the search for metrics. */

import type { ComponentChildren } from "preact";
import { pages } from "../pages";
import { marks, neighbour } from "../marks";
import { view, type View } from "../state";
import { useStore } from "../store";
import { whole } from "../format";
import { cycleTheme, SMOOTH } from "./keys";

function Choice<K extends "x" | "xs" | "y" | "band">(props: {
  name: K;
  label: string;
  /** Said to those who listen to the page only. */
  silent?: boolean;
  options: readonly (readonly [View[K], string])[];
}) {
  const now = useStore(view);
  return (
    <fieldset class="choice">
      <legend class={props.silent ? "visually-hidden" : ""}>{props.label}</legend>
      {props.options.map(([key, title]) => (
        <button
          key={key}
          aria-pressed={now[props.name] === key}
          onClick={() =>
            view.set({ [props.name]: key, ...(props.name === "x" ? { from: null, to: null } : {}) })
          }
        >
          {title}
        </button>
      ))}
    </fieldset>
  );
}

export function Bar({ help }: { help(): void }) {
  const now = useStore(view);
  const charts = (pages.find((page) => page.key === now.page) ?? pages[0]).charts;
  return (
    <header class="bar">
      <nav aria-label="Pages">
        {pages.map((page) => (
          <button
            key={page.key}
            title={page.hint}
            aria-current={page.key === now.page ? "page" : undefined}
            onClick={() => view.set({ page: page.key })}
          >
            {page.title}
          </button>
        ))}
        <span class="spread" />
        {charts && <Scrubber />}
        <button onClick={cycleTheme} title="Light, dark or as the system (d)">
          {now.theme === "auto" ? "auto" : now.theme}
        </button>
        <button onClick={help} title="Help (?)" aria-label="Help">
          ?
        </button>
      </nav>
      {charts && <Controls />}
    </header>
  );
}

function Search() {
  const { m } = useStore(view);
  return (
    <input
      type="search"
      id="find-metrics"
      placeholder="Search metrics  /"
      aria-label="Search metrics"
      value={m}
      onInput={(event) => view.set({ m: event.currentTarget.value })}
    />
  );
}

function Controls() {
  const now = useStore(view);
  return (
    <div class="controls">
      <Search />
      <Choice
        name="x"
        label="x"
        options={[
          ["step", "step"],
          ["tokens", "tokens"],
          ["time", "time"],
        ]}
      />
      <Choice
        name="xs"
        label="x scale"
        silent
        options={[
          ["linear", "linear"],
          ["log", "log"],
        ]}
      />
      <Choice
        name="y"
        label="y"
        options={[
          ["linear", "linear"],
          ["log", "log"],
          ["arcsinh", "arcsinh"],
        ]}
      />
      <Smoothing />
      <Seeds />
      {(now.from !== null || now.to !== null) && (
        <button class="reset" onClick={() => view.set({ from: null, to: null })}>
          whole range
        </button>
      )}
    </div>
  );
}

function Labelled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <label class="choice">
      <span>{label}</span>
      {children}
    </label>
  );
}

function Smoothing() {
  const { smooth, x } = useStore(view);
  const index = Math.max(
    0,
    SMOOTH.findLastIndex((one) => one <= smooth),
  );
  return (
    <Labelled label="smooth">
      <input
        type="range"
        id="smoothing"
        min={0}
        max={SMOOTH.length - 1}
        value={index}
        aria-valuetext={smooth ? `mean over ${Math.round(smooth * 100)} percent of the ${x}` : "none"}
        title={`Mean of the raw values over a window that is this share of the ${x}`}
        onInput={(event) => view.set({ smooth: SMOOTH[Number(event.currentTarget.value)] })}
      />
      <output>{smooth ? `${Math.round(smooth * 100)} % of ${x}` : "none"}</output>
    </Labelled>
  );
}

function Seeds() {
  const { grouped, band } = useStore(view);
  return (
    <Labelled label="seeds">
      <select
        value={grouped ? band : "each"}
        onChange={({ currentTarget: { value } }) =>
          view.set(value === "each" ? { grouped: false } : { grouped: true, band: value as View["band"] })
        }
      >
        <option value="range">mean, min–max</option>
        <option value="sd">mean ± sd</option>
        <option value="ci">mean, 95 % CI</option>
        <option value="each">one by one</option>
      </select>
    </Labelled>
  );
}

/** The step that views of the inside show, moved from checkpoint to checkpoint. */
function Scrubber() {
  const { step } = useStore(view);
  const any = [...useStore(marks).details.values()].some((run) => run.checkpoints.length);
  if (!any) return null;
  const move = (direction: 1 | -1) => view.set({ step: neighbour(direction) });
  return (
    <span class="choice" role="group" aria-label="Checkpoint">
      <span>checkpoint</span>
      <button onClick={() => move(-1)} aria-label="Earlier checkpoint" title="[">
        ‹
      </button>
      <output>{step === null ? "last" : whole(step)}</output>
      <button onClick={() => move(1)} aria-label="Later checkpoint" title="]">
        ›
      </button>
    </span>
  );
}
