/** Choosers above a view, and the scrubber over checkpoints. */

import { h, shown, stillness } from "../figure/dom";
import { count } from "../figure/numbers";

/** A labelled list to choose from; nothing where there is nothing to choose. */
export function chooser(
  label: string,
  values: string[],
  now: string,
  chosen: (value: string) => void,
): HTMLElement | null {
  if (values.length < 2) return null;
  const options = values.map((value) =>
    h("option", { value, selected: value === now }, shown(value.replace(/_/g, " ") || "–", 60)),
  );
  const select = h("select", { class: "figure-choice" }, ...options);
  select.addEventListener("change", () => chosen(select.value));
  return h("label", { class: "inside-chooser" }, label + " ", select);
}

/** A push button. */
export function button(words: string, label: string, press: () => void): HTMLButtonElement {
  const made = h(
    "button",
    { type: "button", class: "figure-button", "aria-label": label, title: label },
    words,
  );
  made.addEventListener("click", press);
  return made;
}

const PACE = 350;

/** One of the measured steps, by a slider, one at a time, or played from first to last. */
export class Scrubber {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly said = h("output", { class: "inside-step" });
  private readonly playing: HTMLButtonElement;
  private timer = 0;

  constructor(
    private readonly steps: number[],
    private index: number,
    private readonly moved: (index: number) => void,
    unit = "step",
  ) {
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: steps.length - 1,
      step: 1,
      value: index,
      "aria-label": unit,
    });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.playing = button("▶", "play", () => this.play());
    // Who asked for less motion moves from checkpoint to checkpoint alone.
    this.playing.hidden = stillness();
    this.element = h(
      "div",
      { class: "inside-scrubber" },
      this.playing,
      button("‹", "earlier checkpoint  [", () => this.go(this.index - 1)),
      button("›", "later checkpoint  ]", () => this.go(this.index + 1)),
      this.slider,
      this.said,
    );
    this.tell();
  }

  get step(): number {
    return this.steps[this.index]!;
  }

  /** Moves to a checkpoint by its place in the row, and says so. */
  go(index: number): void {
    const next = Math.min(Math.max(index, 0), this.steps.length - 1);
    if (next === this.index) return;
    this.index = next;
    this.tell();
    this.moved(next);
  }

  by(many: number): void {
    this.go(this.index + many);
  }

  /** Moves to the checkpoint that is nearest to a step. */
  near(step: number): void {
    this.go(nearest(this.steps, step));
  }

  destroy(): void {
    clearInterval(this.timer);
  }

  private play(): void {
    const running = this.timer !== 0;
    clearInterval(this.timer);
    this.timer = 0;
    if (!running) {
      if (this.index === this.steps.length - 1) this.go(0);
      this.timer = window.setInterval(
        () => (this.index === this.steps.length - 1 ? this.play() : this.by(1)),
        PACE,
      );
    }
    this.playing.textContent = running ? "▶" : "❚❚";
    this.playing.setAttribute("aria-label", running ? "play" : "pause");
  }

  private tell(): void {
    this.slider.value = String(this.index);
    this.slider.setAttribute("aria-valuetext", `step ${count(this.step)}`);
    this.said.textContent = `step ${count(this.step)}`;
  }
}

/** The place of the number nearest to another, by ratio. */
export function nearest(steps: number[], step: number): number {
  const far = steps.map((one) => Math.abs(Math.log1p(one) - Math.log1p(step)));
  return far.indexOf(Math.min(...far));
}
