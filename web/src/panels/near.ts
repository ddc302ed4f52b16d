/** Mounted only when near: one observer tells every panel whether it can be seen soon. */

import { useEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** This far outside the window a panel is still kept. */
const MARGIN = "500px 0px";

const callbacks = new WeakMap<Element, (near: boolean) => void>();

const observer = new IntersectionObserver(
  (entries) => entries.forEach((entry) => callbacks.get(entry.target)?.(entry.isIntersecting)),
  { rootMargin: MARGIN },
);

export function useNear(element: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const target = element.current!;
    callbacks.set(target, setNear);
    observer.observe(target);
    return () => observer.unobserve(target);
  }, [element]);
  return near;
}
