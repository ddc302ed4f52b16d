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

/** A question, apart from the metric. */
export interface Question {
  path: string;
  query: Query;
}

/** Answers that were asked for before anyone waits for them. */
const early = new Map<string, Promise<Frame<unknown>>>();
/** Milliseconds for which they are kept. */
const KEPT = 2000;

const keyOf = ({ path, query }: Question, metric: string): string => address(path, query) + "\n" + metric;

/** Asks for what will soon be asked for: the first who does is given the answer. */
export function ahead<Header>(question: Question, metrics: string[]): void {
  const { signal } = new AbortController();
  for (const metric of metrics) {
    const answer = getTogether<Header>(question, metric, signal);
    answer.catch(() => undefined);
    early.set(keyOf(question, metric), answer);
  }
  setTimeout(() => metrics.forEach((metric) => early.delete(keyOf(question, metric))), KEPT);
}

/** The frame of a metric. */
export function getTogether<Header>(
  question: Question,
  metric: string,
  signal: AbortSignal,
): Promise<Frame<Header>> {
  const given = early.get(keyOf(question, metric));
  if (given && early.delete(keyOf(question, metric))) return given as Promise<Frame<Header>>;
  return new Promise((resolve, fail) => {
    const key = address(question.path, question.query);
    const others = asked.get(key);
    const mine = { metric, signal, take: (buffer: ArrayBuffer) => resolve(readFrame(buffer)), fail };
    if (others) return void others.push(mine);
    asked.set(key, [mine]);
    queueMicrotask(() => {
      const all = asked.get(key)!;
      asked.delete(key);
      for (let from = 0; from < all.length; from += MOST)
        void first(send(question, all.slice(from, from + MOST)));
    });
  });
}

async function send({ path, query }: Question, all: Waiting[]): Promise<void> {
  const stop = new AbortController();
  // Nobody waits any more: the server need not go on.
  const left = () => all.every(({ signal }) => signal.aborted) && stop.abort();
  for (const { signal } of all) signal.addEventListener("abort", left, { once: true });
  const waiting = [...all];
  try {
    const answer = await open(path, { ...query, metric: all.map(({ metric }) => metric) }, stop.signal);
    if (all.length === 1) return waiting.shift()!.take(await answer.arrayBuffer());
    await split(
      answer.body!,
      inWaves((buffer) => waiting.shift()?.take(buffer)),
    );
    if (waiting.length) throw new Error("the server's answer ended early");
  } catch (error) {
    for (const one of waiting) one.fail(error);
  } finally {
    for (const { signal } of all) signal.removeEventListener("abort", left);
  }
}

/** Milliseconds between two waves of drawing: a page of charts that is put on the screen one by one takes longer. */
const WAVE = 150;

/** Hands things over at once, then not sooner than a wave after the last; those left over, when there is no more. */
function inWaves<T>(take: (one: T) => void): (one: T | null) => void {
  let held: T[] = [];
  let last = -Infinity;
  return (one) => {
    if (one !== null) held.push(one);
    if (one !== null && performance.now() - last < WAVE) return;
    held.forEach(take);
    held = [];
    last = performance.now();
  };
}

/** Bytes before each frame of several: its length, then zeros. */
const PREFIX = 8;

/** Hands over each frame of a body as soon as all of it is there, and null at its end. */
async function split(
  body: ReadableStream<Uint8Array>,
  take: (frame: ArrayBuffer | null) => void,
): Promise<void> {
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
  take(null);
}
