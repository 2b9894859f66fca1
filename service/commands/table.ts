/** What a name must not do to a terminal. */
const control = /\p{Cc}/gu;

/** Rows under a head as lines, each column as wide as its widest cell; numbers stand to the right. */
export function tableText(head: string[], rows: (string | number)[][]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => String(cell).replace(control, "?")))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const isNumeric = head.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"));
  const line = (row: string[]): string =>
    row
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return cells.map(line).join("\n");
}
