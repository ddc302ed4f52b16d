/** Mounted only when near: one observer tells every panel whether it can be seen soon. */

import { useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** This far outside the window a panel is still kept. */
export const MARGIN = 500;

const callbacks = new WeakMap<Element, (near: boolean) => void>();

const observer = new IntersectionObserver(
  (entries) => entries.forEach((entry) => callbacks.get(entry.target)?.(entry.isIntersecting)),
  { rootMargin: `${MARGIN}px 0px` },
);

/** Whether the element is near; `first` says what to take it for until the observer speaks, a frame later. */
export function useNear(element: RefObject<Element | null>, first: boolean): boolean {
  const [near, setNear] = useState(first);
  useLayoutEffect(() => {
    const target = element.current!;
    callbacks.set(target, setNear);
    observer.observe(target);
    return () => observer.unobserve(target);
  }, [element]);
  return near;
}
