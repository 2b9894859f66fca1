import { pollFile } from "../file-poll";

/** Interval of the checks, ms. */
const interval = 1000;

/** Reports each change of a seed file. The check of the file's time finds every way in which an editor saves. */
export const watchSeedFile = (file: string, onNotice: (text: string) => void): { close(): void } =>
  pollFile(
    file,
    ({ mtimeMs }) => mtimeMs,
    interval,
    () =>
      onNotice(
        `${file}: changed; run "serverless-compute-local apply", because a restart only creates missing objects`,
      ),
  );
