/** Views without a framework, as components: mounted once, and again when what they are of changes. */

import { useEffect, useRef } from "preact/hooks";
import type { Links } from "../figure/link";
import { Links as NewLinks } from "../figure/link";
import { setExtra, view } from "../state";
import type { Memory, Shown } from "./source";

/** The memory of views of the inside: the page's address. */
export const address: Memory = {
  get: (key) => (key === "step" ? String(view.get().step ?? "") : (view.get().extra[key] ?? "")),
  set: (change) => {
    const { step, ...extra } = change;
    if (Object.keys(extra).length) setExtra(extra);
    if (step !== undefined) view.set({ step: step === "" ? null : Number(step) });
  },
  watch: (changed) => view.watch(changed),
};

/** Links whose zoom and chosen step are the address's; returns how to part them again. */
export function linked(links: Links): () => void {
  const link = links.of("step");
  const who = {};
  const read = () => {
    const { x, from, to, step } = view.get();
    if (x === "step") link.setRange(from !== null && to !== null ? [from, to] : null, who);
    link.setPlace(step, who);
  };
  const leave = link.join(who, (change) => {
    if (change === "range" && view.get().x === "step") {
      view.set({ from: link.range?.[0] ?? null, to: link.range?.[1] ?? null });
    }
    if (change === "place") view.set({ step: link.place });
  });
  read();
  const stop = view.watch(read);
  return () => {
    leave();
    stop();
  };
}

interface Props {
  /** Puts the view into an element, with the crosshair it shares with others. */
  mount: (element: HTMLElement, links: Links) => Shown;
  /** What the view is of: another text, another view. */
  of: string;
}

export function Mounted({ mount, of }: Props) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const links = new NewLinks();
    const part = linked(links);
    const shown = mount(place.current!, links);
    return () => {
      part();
      shown.destroy();
    };
  }, [of]);
  return <div ref={place} class="inside" />;
}
