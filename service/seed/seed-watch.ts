import { unwatchFile, watchFile } from "node:fs";

/** Interval of the checks, ms. */
const interval = 1000;

/** Reports each change of a seed file. The check of the file's time finds every way in which an editor saves. */
export function watchSeedFile(file: string, onNotice: (text: string) => void): { close(): void } {
  const onChange = ({ mtimeMs }: { mtimeMs: number }, previous: { mtimeMs: number }): void => {
    // 0 means that the file does not exist, for example while an editor replaces it.
    if (mtimeMs !== 0 && mtimeMs !== previous.mtimeMs)
      onNotice(
        `${file}: changed; run "serverless-compute-local apply", because a restart only creates missing objects`,
      );
  };
  watchFile(file, { interval, persistent: false }, onChange);
  return { close: () => unwatchFile(file, onChange) };
}
