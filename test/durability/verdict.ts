import { at } from "../support/raw-http";
import type { JobRecordBook, RecordedJob, RecordedMove } from "./audit";
import type { AcceptedJob, Knowledge, WorkInput } from "./load";

const finals = new Set<string | null>(["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"]);

function groupMoves(moves: RecordedMove[]): Map<string, RecordedMove[]> {
  const byJob = new Map<string, RecordedMove[]>();
  for (const move of moves) byJob.set(move.jobId, [...(byJob.get(move.jobId) ?? []), move]);
  return byJob;
}

const history = (moves: RecordedMove[]): string => moves.map(({ after }) => after ?? "removed").join(" → ");

/** Returns the fault in the final state of a job with `input`; `crashes` is its number of worker crashes. */
function wrongEnd({ status, output, error, crashes }: RecordedJob, input: WorkInput): string | undefined {
  const result = `ended ${status} with output ${output} and error ${error?.split("\n")[0]}`;
  if (status === "CANCELLED") return undefined;
  if (status === "FAILED" && crashes > 2) return error?.startsWith("the worker") ? undefined : result;
  if (input.fails) return status === "FAILED" && error?.includes(`no square of ${input.n}`) ? undefined : result;
  return status === "COMPLETED" && output === JSON.stringify({ square: input.n ** 2 }) ? undefined : result;
}

/** Returns the fault in a job that the service has acknowledged. */
function wrongPromise(job: AcceptedJob, record: RecordedJob | undefined, { reported }: Knowledge): string | undefined {
  if (!record) return "was lost";
  if (record.input !== JSON.stringify(job.input)) return `has the input ${record.input}`;
  const end = reported.get(job.id);
  if (end && end.status !== record.status) return `was reported as ${end.status} and is ${record.status}`;
  return undefined;
}

/** Returns every breach of the promise that an accepted job ends exactly once, as lines of text. */
export function findBreaches(book: JobRecordBook, knowledge: Knowledge): string[] {
  const breaches = [...knowledge.wrong];
  const moves = groupMoves(book.moves);
  const jobs = new Map(book.jobs.map((job) => [job.id, job]));
  const addBreach = (id: string, fault: string): void => {
    const round = knowledge.accepted.get(id)?.round ?? "unknown";
    breaches.push(`round ${round}, job ${id} ${fault}: ${history(moves.get(id) ?? [])}`);
  };
  for (const accepted of knowledge.accepted.values()) {
    const wrong = wrongPromise(accepted, jobs.get(accepted.id), knowledge);
    if (wrong) addBreach(accepted.id, wrong);
  }
  for (const job of book.jobs) {
    const ends = (moves.get(job.id) ?? []).filter(({ after }) => finals.has(after));
    if (ends.length !== 1) addBreach(job.id, `reached a final state ${ends.length} times`);
    const input: unknown = JSON.parse(job.input);
    const read = { n: Number(at(input, "n")), ms: Number(at(input, "ms")), fails: at(input, "fails") === true };
    const wrong = finals.has(job.status) ? wrongEnd(job, read) : `is stuck ${job.status}`;
    if (wrong) addBreach(job.id, wrong);
  }
  return [...breaches, ...wrongCounters(book)];
}

/** Differences between an endpoint's counters and its jobs. */
function wrongCounters({ jobs, counters }: JobRecordBook): string[] {
  return counters.flatMap(({ endpointId, ...counted }) => {
    const endpointJobs = jobs.filter((job) => job.endpointId === endpointId);
    const having = (status: string): number => endpointJobs.filter((job) => job.status === status).length;
    const real = {
      completed: having("COMPLETED"),
      failed: having("FAILED"),
      cancelled: having("CANCELLED"),
      timedOut: having("TIMED_OUT"),
      retried: endpointJobs.reduce((sum, { retries }) => sum + retries, 0),
    };
    const reported = JSON.stringify(counted);
    return reported === JSON.stringify(real)
      ? []
      : [`endpoint ${endpointId} counts ${reported}, its jobs ${JSON.stringify(real)}`];
  });
}
