/**
 * Creates a function that splits the text of a stream into lines, part by part. Memory is bounded: as soon as a line is longer than `limit`
 * characters, `onTooLong` receives its beginning, and the rest is dropped. Every Node worker loads this file, so it imports nothing.
 */
export function createLineSplitter(
  onLine: (line: string) => void,
  limit = Number.POSITIVE_INFINITY,
  onTooLong: (beginning: string) => void = () => undefined,
): { add(text: string): void; unfinishedLine(): string } {
  let line = "";
  let isDropped = false;

  function append(text: string): void {
    if (isDropped) return;
    line += text;
    if (line.length <= limit) return;
    isDropped = true;
    onTooLong(line.slice(0, limit));
    line = "";
  }

  return {
    add(text) {
      let from = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
        append(text.slice(from, end));
        from = end + 1;
        const complete = line;
        line = "";
        if (isDropped) isDropped = false;
        else onLine(complete);
      }
      append(text.slice(from));
    },
    /** The beginning of the last line, which has not ended yet; empty if it was too long. */
    unfinishedLine: () => line,
  };
}
