/** What a chart shows, as files: the numbers, the picture, the drawing. */

import type { Chart } from "../charts/chart";
import type { Trace } from "../charts/trace";
import { drawing } from "../charts/svg";

/** Opens the browser's saving of a file. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A file's name from a metric's: whatever could mean a folder becomes a dash. */
export const fileName = (title: string, ending: string): string =>
  (title.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[.-]+/, "") || "chart").slice(0, 80) + "." + ending;

/** A cell that no spreadsheet takes for a formula or for two cells. */
function cell(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const HEAD = [
  "run",
  "name",
  "attempt",
  "superseded",
  "left",
  "right",
  "low",
  "high",
  "line",
  "points",
  "nonfinite",
];

export function csv(list: Trace[], names: ReadonlyMap<string, string>): string {
  const rows = [HEAD.join()];
  for (const trace of list) {
    const who = [
      cell(trace.run),
      cell(names.get(trace.run) ?? trace.label),
      trace.info.attempt ?? "",
      trace.info.superseded ? 1 : 0,
    ];
    for (let at = 0; at < trace.x.length; at++) {
      const numbers = [
        trace.left,
        trace.right,
        trace.low,
        trace.high,
        trace.line,
        trace.count,
        trace.nonfinite,
      ];
      rows.push([...who, ...numbers.map((column) => (at < column.length ? String(column[at]) : ""))].join());
    }
  }
  return rows.join("\r\n") + "\r\n";
}

export async function savePicture(chart: Chart): Promise<void> {
  const source = chart.plot!.ctx.canvas;
  const { paper } = chart.options.theme;
  const canvas = document.createElement("canvas");
  const head = Math.round(26 * devicePixelRatio);
  canvas.width = source.width;
  canvas.height = source.height + head;
  const ctx = canvas.getContext("2d")!;
  ctx.fillStyle = paper;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = chart.options.theme.ink;
  ctx.font = `600 ${13 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.fillText(chart.options.title, 8 * devicePixelRatio, 18 * devicePixelRatio);
  ctx.drawImage(source, 0, head);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  if (blob) save(fileName(chart.options.title, "png"), blob);
}

export function saveDrawing(chart: Chart): void {
  const text = new XMLSerializer().serializeToString(drawing(chart));
  save(fileName(chart.options.title, "svg"), new Blob([text], { type: "image/svg+xml" }));
}
