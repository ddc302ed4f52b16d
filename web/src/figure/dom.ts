/** Elements made by name. Text only ever becomes text nodes: no markup is parsed anywhere. */

export type Child = Node | string | number | null | undefined | false;
type Attribute = string | number | boolean | null | undefined | ((event: any) => void);

/** An element with attributes (`onclick: …` adds a listener) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(made, children);
  return made;
}

/** Adds children; what is empty is left out. */
export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === "") continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces everything inside an element. */
export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/** A name somebody else chose: its writing direction stays its own, control characters become visible. */
export function named(text: unknown): HTMLElement {
  return h("bdi", {}, shown(text));
}

/** Text whose control characters, and marks that turn the writing direction, are seen and do nothing. */
export function shown(text: unknown, longest = Infinity): string {
  const clean = String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, "\ufffd")
    .replace(TURNS, (mark) => "\\u" + mark.charCodeAt(0).toString(16));
  return clean.length <= longest ? clean : clean.slice(0, longest - 1) + "…";
}

const TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A label for a drawing: one line, cut to a length that fits. */
export function label(text: string, longest = 34): string {
  const clean = shown(text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ")).trim();
  const letters = [...clean];
  return letters.length <= longest ? clean : letters.slice(0, longest - 1).join("") + "…";
}

/** Whether the reader asked for less motion. */
export function stillness(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Runs `done` with the element's width now and whenever it changes; returns how to stop. */
export function onWidth(element: Element, done: (width: number) => void): () => void {
  let last = -1;
  let pending = 0;
  const look = () => {
    pending = 0;
    const width = Math.floor(element.getBoundingClientRect().width);
    if (width > 0 && width !== last) done((last = width));
  };
  const observer = new ResizeObserver(() => {
    if (!pending) pending = requestAnimationFrame(look);
  });
  observer.observe(element);
  look();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(pending);
  };
}
