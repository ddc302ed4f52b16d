/** Mounted only when near: one observer tells every panel whether it can be seen soon. */

import { useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** This far outside the window a panel is still kept. */
const MARGIN = 500;

const callbacks = new WeakMap<Element, (near: boolean) => void>();

const observer = new IntersectionObserver(
  (entries) => entries.forEach((entry) => callbacks.get(entry.target)?.(entry.isIntersecting)),
  { rootMargin: `${MARGIN}px 0px` },
);

export function useNear(element: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(false);
  useLayoutEffect(() => {
    const target = element.current!;
    // The observer speaks a frame later; what is near at first is asked for at once.
    const { top, bottom } = target.getBoundingClientRect();
    if (bottom > top && bottom > -MARGIN && top < innerHeight + MARGIN) setNear(true);
    callbacks.set(target, setNear);
    observer.observe(target);
    return () => observer.unobserve(target);
  }, [element]);
  return near;
}
