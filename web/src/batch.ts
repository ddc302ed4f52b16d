/** Frames of many metrics in one answer: what is asked for in one moment, and differs only in the metric. */

import { address, open, type Query } from "./api";
import { readFrame, type Frame } from "./frame";
import { first } from "./idle";

/** As many metrics go into one question; the server takes no more. */
const MOST = 64;

interface Waiting {
  metric: string;
  signal: AbortSignal;
  take(buffer: ArrayBuffer): void;
  fail(error: unknown): void;
}

const asked = new Map<string, Waiting[]>();

/** The frame of a metric, at `path` and for what else is in the query. */
export function getTogether<Header>(
  path: string,
  query: Query,
  metric: string,
  signal: AbortSignal,
): Promise<Frame<Header>> {
  return new Promise((resolve, fail) => {
    const key = address(path, query);
    const others = asked.get(key);
    const mine = { metric, signal, take: (buffer: ArrayBuffer) => resolve(readFrame(buffer)), fail };
    if (others) return void others.push(mine);
    asked.set(key, [mine]);
    queueMicrotask(() => {
      const all = asked.get(key)!;
      asked.delete(key);
      for (let from = 0; from < all.length; from += MOST)
        void first(send(path, query, all.slice(from, from + MOST)));
    });
  });
}

async function send(path: string, query: Query, all: Waiting[]): Promise<void> {
  const stop = new AbortController();
  // Nobody waits any more: the server need not go on.
  const left = () => all.every(({ signal }) => signal.aborted) && stop.abort();
  for (const { signal } of all) signal.addEventListener("abort", left, { once: true });
  const waiting = [...all];
  try {
    const answer = await open(path, { ...query, metric: all.map(({ metric }) => metric) }, stop.signal);
    if (all.length === 1) return waiting.shift()!.take(await answer.arrayBuffer());
    await split(answer.body!, (buffer) => waiting.shift()?.take(buffer));
    if (waiting.length) throw new Error("the server's answer ended early");
  } catch (error) {
    for (const one of waiting) one.fail(error);
  } finally {
    for (const { signal } of all) signal.removeEventListener("abort", left);
  }
}

/** Bytes before each frame of several: its length, then zeros. */
const PREFIX = 8;

/** Hands over each frame of a body as soon as all of it is there. */
async function split(body: ReadableStream<Uint8Array>, take: (frame: ArrayBuffer) => void): Promise<void> {
  const prefix = new DataView(new ArrayBuffer(PREFIX));
  let target = new Uint8Array(prefix.buffer);
  let filled = 0;
  const reader = body.getReader();
  for (let part = await reader.read(); part.value; part = await reader.read()) {
    for (let from = 0; from < part.value.length;) {
      const piece = part.value.subarray(from, from + target.length - filled);
      target.set(piece, filled);
      from += piece.length;
      filled += piece.length;
      if (filled < target.length) continue;
      filled = 0;
      if (target.buffer === prefix.buffer) target = new Uint8Array(prefix.getUint32(0, true));
      else {
        take(target.buffer);
        target = new Uint8Array(prefix.buffer);
      }
    }
  }
}
