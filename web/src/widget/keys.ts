/** Keys in JupyterLab, which takes them before any cell does: there, 0 0 restarts the kernel. */

const PLOT = ".figure-plot";
const SCROLLED = ".figure-heat, .figure-table, .figure-behind";
const PRESSED = "button, summary";
/** What keeps a key for itself; all others are the notebook's. */
const KEPT: Record<string, string> = {
  ArrowLeft: PLOT,
  ArrowRight: PLOT,
  ArrowUp: SCROLLED,
  ArrowDown: SCROLLED,
  Home: PLOT,
  End: PLOT,
  "+": PLOT,
  "=": PLOT,
  "-": PLOT,
  "0": PLOT,
  Escape: PLOT,
  Enter: PRESSED,
  " ": PRESSED,
};
/** Lumino, on which JupyterLab is built, has no shortcuts inside of what carries it. */
const SUPPRESSED = "data-lm-suppress-shortcuts";

/** Keeps a figure's own keys from the notebook's shortcuts; returns how to stop. */
export function keepKeys(place: HTMLElement): () => void {
  // The window hears a key before the document, where the notebook listens.
  const decide = (event: KeyboardEvent) => place.toggleAttribute(SUPPRESSED, isKept(event));
  window.addEventListener("keydown", decide, true);
  return () => window.removeEventListener("keydown", decide, true);
}

function isKept(event: KeyboardEvent): boolean {
  const shifted = event.shiftKey && event.key !== "+";
  if (event.ctrlKey || event.metaKey || event.altKey || shifted) return false;
  const by = KEPT[event.key];
  return by !== undefined && event.target instanceof Element && event.target.closest(by) !== null;
}
