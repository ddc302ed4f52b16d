/** A button with a few things to do, worked by mouse and keyboard. */

import { useEffect, useRef, useState } from "preact/hooks";

export interface Item {
  title: string;
  act(): void;
}

export function Menu({ label, items }: { label: string; items: Item[] }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    root.current!.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = (event: Event) => root.current!.contains(event.target as Node) || setOpen(false);
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    root.current!.querySelector("button")!.focus();
  };
  const key = (event: KeyboardEvent) => {
    const entries = [...root.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) entries[(at + step + entries.length) % entries.length].focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={root} onKeyDown={open ? key : undefined}>
      <button aria-haspopup="menu" aria-expanded={open} aria-label={label} onClick={() => setOpen(!open)}>
        ⋯
      </button>
      {open && (
        <div role="menu">
          {items.map(({ title, act }) => (
            <button role="menuitem" key={title} onClick={() => (close(), act())}>
              {title}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
