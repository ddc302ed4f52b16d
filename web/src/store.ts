/** The smallest store that serves: a value, a way to change it, those who want to know. */

import { useEffect, useState } from "preact/hooks";

export class Store<T extends object> {
  private readonly listeners = new Set<(value: T) => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(change: Partial<T>): void {
    const keys = Object.keys(change) as (keyof T)[];
    if (keys.every((key) => Object.is(change[key], this.value[key]))) return;
    this.value = { ...this.value, ...change };
    for (const listener of [...this.listeners]) listener(this.value);
  }

  /** Calls `listener` at every change; returns how to stop. */
  watch(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** The store's value, in a component that draws itself again when it changes. */
export function useStore<T extends object>(store: Store<T>): T {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    setValue(store.get());
    return store.watch(setValue);
  }, [store]);
  return value;
}

/** A part of the store's value: the component draws itself again only when that part changes. */
export function useSelected<T extends object, Part>(store: Store<T>, select: (value: T) => Part): Part {
  const [part, setPart] = useState(select(store.get()));
  useEffect(() => {
    const update = (value: T) => setPart(() => select(value));
    update(store.get());
    return store.watch(update);
  }, [store]);
  return part;
}
