/** The script of a report: draws the figures a page carries. */

export function draw(): void {}
