import { z } from "zod";

/** A line that the public Python SDK logs on stdout. */
const logLine = z.object({ requestId: z.string().nullable(), message: z.string(), level: z.string() });

/** An error in a line that the SDK logs, with the job that it concerns; undefined for any other line. */
function errorIn(line: string): { jobId: string | null; message: string } | undefined {
  if (!line.startsWith('{"requestId": ')) return undefined;
  try {
    const { requestId, message, level } = logLine.parse(JSON.parse(line));
    return level === "ERROR" ? { jobId: requestId, message } : undefined;
  } catch {
    return undefined;
  }
}

/** Messages of Python's JSON encoder and UTF-8 codec about a value that they cannot encode. */
const encodingErrors =
  /JSON serializable|^keys must be |Circular reference detected|maximum recursion depth|codec can't encode/;

/**
 * The reason why the SDK cannot return a job's result, from a line that it logs. It sends nothing to the service then, takes another
 * job, and would fail with every further attempt.
 */
export function unsentResult(line: string): { jobId: string; reason: string } | undefined {
  const { jobId = null, message = "" } = errorIn(line) ?? {};
  const reason = /^Error (?:while returning job result\. \||handling job:) (.*)$/s.exec(message)?.[1] ?? "";
  return jobId !== null && encodingErrors.test(reason) ? { jobId, reason } : undefined;
}

/** A text in Python's notation, in single or double quotes. */
const pythonText = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/gs;
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** The lines of an error that the SDK logs in one line, such as the traceback of an uncaught exception; undefined for any other line. */
export function errorLines(line: string): string[] | undefined {
  const { message } = errorIn(line) ?? {};
  if (message === undefined) return undefined;
  const parts = /^Uncaught exception \| \[(.*)\]$/s.exec(message)?.[1];
  if (parts === undefined) return message.split("\n");
  const texts = [...parts.matchAll(pythonText)].map(([, single, double]) => single ?? double ?? "");
  return texts
    .join("")
    .replace(/\\(.)/gs, (_escape, code: string) => escapes[code] ?? code)
    .trimEnd()
    .split("\n");
}
