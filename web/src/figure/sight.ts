/** What is out of sight waits: a page of a hundred drawings moves as fast as one of ten. */

import type { Change, Link } from "./link";

const AROUND = "200px";

const watched = new Map<Element, (seen: boolean) => void>();
let observer: IntersectionObserver | null = null;

function watch(element: Element, tell: (seen: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => entries.forEach((entry) => watched.get(entry.target)?.(entry.isIntersecting)),
    { rootMargin: AROUND },
  );
  watched.set(element, tell);
  observer.observe(element);
  return () => {
    watched.delete(element);
    observer!.unobserve(element);
  };
}

/** Joins a link; while `element` is out of sight, changes are kept and told, each kind once, when it is seen. */
export function joinInSight(
  link: Link,
  who: object,
  element: Element,
  hear: (change: Change) => void,
): () => void {
  let seen = true;
  const missed = new Set<Change>();
  const leave = link.join(who, (change) => {
    if (seen) hear(change);
    else missed.add(change);
  });
  const stop = watch(element, (now) => {
    seen = now;
    if (!seen) return;
    for (const change of ["range", "place", "cursor"] as const) if (missed.delete(change)) hear(change);
  });
  return () => {
    leave();
    stop();
  };
}
