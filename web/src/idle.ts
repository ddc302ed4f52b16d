/** What may wait until lines are drawn. */

let asked = 0;
const waiting = new Set<() => void>();

/** Work that comes first: what may wait does so until it is done. */
export async function first<T>(work: Promise<T>): Promise<T> {
  asked++;
  try {
    return await work;
  } finally {
    if (--asked === 0) for (const act of [...waiting]) act();
  }
}

/** Calls `act` when the page has nothing better to do, at the latest after so many milliseconds. */
export function whenIdle(act: () => void, most = 1500): void {
  if (!asked) return whenFree(act, most);
  const once = () => {
    clearTimeout(late);
    if (waiting.delete(once)) whenFree(act, most);
  };
  const late = setTimeout(once, most);
  waiting.add(once);
}

function whenFree(act: () => void, most: number): void {
  if ("requestIdleCallback" in window) requestIdleCallback(act, { timeout: most });
  else setTimeout(act, most / 3);
}
