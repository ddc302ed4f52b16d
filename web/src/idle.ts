/** What may wait until lines are drawn. */

/** Calls `act` when the page has nothing better to do, at the latest after so many milliseconds. */
export function whenIdle(act: () => void, most = 1500): void {
  if ("requestIdleCallback" in window) requestIdleCallback(act, { timeout: most });
  else setTimeout(act, most / 3);
}
