/** A text coloured by how badly each of its tokens was predicted, or by how that changed since another step. */

import { fill, h, named } from "../figure/dom";
import { count, number, plural } from "../figure/numbers";
import { extent } from "../figure/scale";
import { tableElement } from "../figure/table";
import { button, chooser, Scrubber } from "./controls";
import { tokenWords } from "./pattern";
import { reason, say } from "./said";
import type { Memory, Shown, Source, Tokens } from "./source";

/** Mounts the view over the steps that have a checkpoint. */
export function tokensView(element: HTMLElement, source: Source, memory: Memory, steps: number[]): Shown {
  const view = new TokensView(element, source, memory, steps);
  void view.refresh();
  return view;
}

class TokensView implements Shown {
  private readonly scrubber: Scrubber;
  private readonly text = h("div", {
    class: "inside-tokens",
    role: "group",
    tabindex: 0,
    "aria-label": "tokens",
  });
  private readonly said = h("div", { class: "inside-said", role: "status" });
  private readonly behind = h("details", { class: "figure-tools" });
  private readonly legend = h("div", { class: "inside-legend" });
  private readonly choosers = h("div", { class: "inside-choosers" });
  private readonly stop: () => void;
  private shownKey = "";
  private at = 0;
  /** The loss that has the full colour: the largest at the first checkpoint, so that colours keep their meaning. */
  private reach = 0;

  constructor(
    private readonly element: HTMLElement,
    private readonly source: Source,
    private readonly memory: Memory,
    private readonly steps: number[],
  ) {
    this.scrubber = new Scrubber(steps, steps.length - 1, () =>
      memory.set({ step: String(this.scrubber.step) }),
    );
    this.stop = memory.watch(() => void this.refresh());
    this.text.addEventListener("keydown", (event) => this.key(event));
    const top = h("div", { class: "inside-top" }, this.choosers, this.scrubber.element);
    fill(element, top, this.legend, this.text, this.said, this.behind);
  }

  destroy = (): void => {
    this.stop();
    this.scrubber.destroy();
    this.element.replaceChildren();
  };

  private get against(): number | null {
    const said = this.memory.get("against");
    return said === "" ? null : Number(said);
  }

  async refresh(): Promise<void> {
    const step = this.memory.get("step");
    if (step) this.scrubber.near(Number(step));
    const key = `${this.scrubber.step} ${this.against}`;
    if (key === this.shownKey) return;
    this.shownKey = key;
    this.choose();
    if (!this.text.firstChild) say(this.text, "The model reads the text; the first time takes some seconds.");
    try {
      if (!this.reach)
        this.reach = extent(numbers((await this.source.tokens!(this.steps[0]!, null)).loss))[1];
      const found = await this.source.tokens!(this.scrubber.step, this.against);
      if (key === this.shownKey) this.show(found);
    } catch (error) {
      say(this.text, reason(error));
    }
  }

  private choose(): void {
    const before = ["", ...this.steps.map(String)];
    const chosen = (value: string) => this.memory.set({ against: value });
    const list = chooser("change since step", before, this.memory.get("against"), chosen);
    const clear = button("loss alone", "colour by loss alone", () => chosen(""));
    clear.hidden = this.against === null;
    fill(this.choosers, list, clear);
  }

  private show(found: Tokens): void {
    const { loss: now, before } = found;
    const change = before ? now.map((loss, nth) => difference(loss, before[nth] ?? null)) : null;
    const values = change ?? now;
    const reach = this.reach || 1;
    const spans = found.tokens.map((token, nth) => {
      const span = h("span", { class: "inside-token", "data-token": nth }, spaced(token));
      const value = values[nth] ?? null;
      if (value === null) span.classList.add("inside-absent");
      else if (!Number.isFinite(value)) span.classList.add("inside-nonfinite");
      else {
        const share = Math.round(75 * Math.min(Math.abs(value) / reach, 1));
        span.style.background = `color-mix(in srgb, var(--hue-${change && value < 0 ? 0 : 1}) ${share}%, transparent)`;
      }
      return span;
    });
    // Numbers of tokens, as synthetic tasks have them, would run together.
    const between = found.tokens.every((token) => /^\d+$/.test(token)) ? "\u2009" : "";
    fill(this.text, ...spans.flatMap((span) => [span, between]));
    const say = (nth: number) => this.say(found, nth);
    this.text.onpointerover = (event) => {
      const nth = (event.target as Element).closest("[data-token]")?.getAttribute("data-token");
      if (nth) say(Number(nth));
    };
    this.said.replaceChildren();
    this.legendFor(change !== null, reach);
    this.table(found);
  }

  private say(found: Tokens, nth: number): void {
    this.text.querySelector(".inside-at")?.classList.remove("inside-at");
    this.text.children[nth]?.classList.add("inside-at");
    this.at = nth;
    const before = found.before ? `, ${number(found.before[nth])} before` : "";
    fill(
      this.said,
      h("b", {}, `${nth} `),
      named(tokenWords(found.tokens[nth]!)),
      `  ${number(found.loss[nth])} nats${before}`,
    );
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = this.text.children[Math.min(Math.max(this.at + by, 0), this.text.children.length - 1)];
    next?.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    event.preventDefault();
  }

  private legendFor(change: boolean, reach: number): void {
    const strip = h("span", { class: change ? "inside-strip inside-strip-change" : "inside-strip" });
    const words = change
      ? [`fell by ${number(reach)}`, `rose by ${number(reach)} nats since step ${count(this.against)}`]
      : ["0", `${number(reach)} nats`];
    fill(this.legend, words[0], strip, words[1]);
  }

  private table(found: Tokens): void {
    const titles = ["place", "token", "loss", ...(found.before ? ["before", "change"] : [])];
    const columns = titles.map((title, nth) => ({
      title,
      kind: nth === 1 ? ("name" as const) : ("number" as const),
    }));
    const rows = found.tokens.map((token, nth) => {
      const [loss, before] = [found.loss[nth] ?? null, found.before?.[nth] ?? null];
      const change = difference(loss, before);
      return [nth, tokenWords(token), loss, ...(found.before ? [before, change] : [])];
    });
    const summary = h(
      "summary",
      {},
      `${plural(found.tokens.length, "token")} of ${found.stimulus} as a table`,
    );
    fill(
      this.behind,
      summary,
      tableElement({ mark: "Table", columns, rows }, { caption: "Loss of every token" }),
    );
  }
}

function difference(now: number | null, before: number | null): number | null {
  return now === null || before === null ? null : now - before;
}

function numbers(values: (number | null)[]): number[] {
  return values.filter((value): value is number => Number.isFinite(value));
}

/** A token as it stands in a text: its line breaks are shown and kept. */
function spaced(token: string): string {
  return token.includes("\n") ? token.replace(/\n/g, "⏎\n") : token;
}
