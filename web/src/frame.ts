/** The binary frame of the server: "ONTO", header length, JSON header, then little-endian columns. */

export type Column = Float64Array | Float32Array | Uint32Array | Uint8Array;

export interface Slot {
  name: string;
  type: "f8" | "f4" | "u4" | "u1";
  length: number;
  series?: number;
  /** Place in the layout of an earlier column that is equal; it is sent once. */
  same?: number;
}

export interface Frame<Header> {
  header: Header & { layout: Slot[] };
  /** Columns in the order of the layout. */
  columns: Column[];
  /** Columns by name, one record for each `series` index (a frame without series has one record). */
  series: Record<string, Column>[];
}

const MAGIC = 0x4f544e4f; // "ONTO" as a little-endian word
const SIZES = { f8: 8, f4: 4, u4: 4, u1: 1 } as const;
const VIEWS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u1: Uint8Array } as const;

/** Reads a frame; the columns are views into `buffer`, nothing is copied; equal columns are one view. */
export function readFrame<Header>(buffer: ArrayBuffer): Frame<Header> {
  const words = new DataView(buffer);
  if (buffer.byteLength < 8 || words.getUint32(0, true) !== MAGIC) throw new Error("not a frame of numbers");
  const length = words.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const columns: Column[] = [];
  const series: Record<string, Column>[] = [];
  let offset = 8 + length;
  for (const slot of header.layout as Slot[]) {
    const sent = slot.same === undefined;
    const column = sent ? new VIEWS[slot.type](buffer, offset, slot.length) : columns[slot.same!];
    columns.push(column);
    (series[slot.series ?? 0] ??= {})[slot.name] = column;
    if (sent) offset += Math.ceil((slot.length * SIZES[slot.type]) / 8) * 8;
  }
  return { header, columns, series };
}

/** A number of strict JSON: "NaN", "Infinity" and "-Infinity" are written as strings. */
export function number(value: unknown): number {
  return value === null || value === undefined ? NaN : Number(value);
}
