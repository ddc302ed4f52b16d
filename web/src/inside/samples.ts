/** What the model wrote, checkpoint by checkpoint. */

import { append, fill, h, shown } from "../figure/dom";
import { nearest, Scrubber } from "./controls";
import { count, plural } from "../figure/numbers";
import { begin, say } from "./said";
import type { Memory, Sample, Shown, Source } from "./source";

/** Mounts the view: one text large, under a scrubber, and all of them below. */
export function samplesView(element: HTMLElement, source: Source, memory: Memory): Shown {
  let scrubber: Scrubber | null = null;
  let stop = () => {};
  const start = async () => {
    const samples = (await source.samples?.()) ?? [];
    if (!samples.length) return say(element, "No text was sampled while it was trained.");
    const steps = [...new Set(samples.map((one) => one.step))].sort((a, b) => a - b);
    const now = h("div", { class: "inside-samples" });
    const at = memory.get("step") ? nearest(steps, Number(memory.get("step"))) : steps.length - 1;
    const show = () => fill(now, ...samples.filter((one) => one.step === scrubber!.step).map(sampleElement));
    scrubber = new Scrubber(steps, at, () => {
      show();
      memory.set({ step: String(scrubber!.step) });
    });
    stop = memory.watch(() => memory.get("step") && scrubber!.near(Number(memory.get("step"))));
    fill(element, scrubber.element, now, everything(samples));
    show();
  };
  begin(element, start());
  return {
    destroy: () => {
      stop();
      scrubber?.destroy();
      element.replaceChildren();
    },
  };
}

function sampleElement(sample: Sample): HTMLElement {
  const text = h("pre", { class: "inside-text" });
  if (sample.prompt) append(text, [h("mark", {}, shown(sample.prompt))]);
  append(text, [shown(sample.text)]);
  return text;
}

function everything(samples: Sample[]): HTMLElement {
  const list = h("dl", { class: "inside-written" });
  for (const sample of samples) {
    list.append(h("dt", {}, `step ${count(sample.step)}`), h("dd", {}, sampleElement(sample)));
  }
  return h(
    "details",
    { class: "figure-tools" },
    h("summary", {}, `All ${plural(samples.length, "sample")}`),
    list,
  );
}
