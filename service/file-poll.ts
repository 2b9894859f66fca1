import { type Stats, statSync } from "node:fs";

/**
 * Calls `onChange` when a property of a file or folder changes; ignores that the path is missing, as while an editor replaces the file.
 * Unlike `watchFile`, which reads the file later for the first time, it notices every change after the call. `interval` is in ms.
 */
export function pollFile(
  path: string,
  property: (stats: Stats) => string | number,
  interval: number,
  onChange: () => void,
): { close(): void } {
  function read(): string | number | undefined {
    try {
      return property(statSync(path));
    } catch {
      return undefined;
    }
  }
  let known = read();
  function check(): void {
    const current = read();
    if (current === undefined || current === known) return;
    known = current;
    onChange();
  }
  const timer = setInterval(check, interval).unref();
  return { close: () => clearInterval(timer) };
}
