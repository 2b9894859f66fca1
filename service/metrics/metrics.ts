import { readFileSync } from "node:fs";
import { z } from "zod";
import type { JobEvents } from "../queue/events";
import { delayTime, executionTime } from "../queue/job";
import type { SystemClock } from "../steady-clock";
import { writeAtomically } from "../store/data-folder";
import { createRanges, type Range, type Ranges, type StoredRanges, storedRanges } from "./ranges";

/** Sampling interval of the queues, ms. */
const sampleInterval = 1000;

/** The ranges of all endpoints as JSON. */
const storedMetrics = z.record(z.string(), storedRanges);

/** Upper bounds of the buckets of a job's times, s. The last bucket has no bound. */
export const timeBounds = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800] as const;

/** Times of jobs: their number in each bucket, and their sum, s. */
export interface Times {
  counts: number[];
  sum: number;
}

/** The numbers of an endpoint's jobs and workers. The store counts ended jobs, because these counts outlive the service. */
export interface EndpointMetrics {
  ranges: Ranges;
  /** From the submission of a job to its start at a worker, since the start of the service. */
  queueTimes: Times;
  /** From the start of a job at a worker to its end, since the start of the service. */
  executionTimes: Times;
  /** Workers that ended before they requested a job, or could not be started, since the start of the service. */
  startFailures: number;
}

const emptyTimes = (): Times => ({ counts: Array.from({ length: timeBounds.length + 1 }, () => 0), sum: 0 });

function addTime(times: Times, ms: number): void {
  const seconds = Math.max(0, ms) / 1000;
  const bound = timeBounds.findIndex((upper) => seconds <= upper);
  const bucket = bound === -1 ? timeBounds.length : bound;
  times.counts[bucket] = (times.counts[bucket] ?? 0) + 1;
  times.sum += seconds;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Collects the numbers of the job path by endpoint, for Prometheus and the console. `waiting` counts an endpoint's jobs in the queue; `file`
 * keeps the ranges while the service is stopped.
 */
export function createMetrics({
  events,
  waiting,
  exists,
  clock,
  file,
}: {
  events: JobEvents;
  waiting(endpointId: string): number;
  exists(endpointId: string): boolean;
  clock: SystemClock;
  file: string;
}) {
  const metrics = new Map<string, EndpointMetrics>();
  let samplingTimer: NodeJS.Timeout | undefined;

  function add(endpointId: string, stored?: StoredRanges): EndpointMetrics {
    const ranges = createRanges(clock, stored);
    const added = { ranges, queueTimes: emptyTimes(), executionTimes: emptyTimes(), startFailures: 0 };
    metrics.set(endpointId, added);
    return added;
  }
  const metricsOf = (endpointId: string): EndpointMetrics => metrics.get(endpointId) ?? add(endpointId);

  events.on("queued", ({ endpointId }) => void metricsOf(endpointId));
  events.on("startFailed", (endpointId) => {
    metricsOf(endpointId).startFailures++;
  });
  events.on("ended", (job) => {
    const { ranges, queueTimes, executionTimes } = metricsOf(job.endpointId);
    ranges.recordEnd(job);
    if (job.startedAt === undefined) return;
    addTime(queueTimes, delayTime(job, job.finishedAt));
    addTime(executionTimes, executionTime(job, job.finishedAt));
  });

  /** Records the number of queued jobs, and removes deleted endpoints. */
  function sample(): void {
    for (const [endpointId, { ranges }] of metrics) {
      if (exists(endpointId)) ranges.recordQueue(waiting(endpointId));
      else metrics.delete(endpointId);
    }
  }

  return {
    /** The numbers of an endpoint; undefined before its first job. */
    find: (endpointId: string): EndpointMetrics | undefined => metrics.get(endpointId),
    /** The numbers of an endpoint by range, the shortest first. */
    readRanges: (endpointId: string): Range[] => metricsOf(endpointId).ranges.read(),
    sample,
    /** Loads the ranges of the previous run, and samples the queues. */
    start(): void {
      try {
        const stored = storedMetrics.parse(JSON.parse(readFileSync(file, "utf8")));
        for (const [endpointId, ranges] of Object.entries(stored)) if (exists(endpointId)) add(endpointId, ranges);
      } catch {
        // The ranges begin again: the file does not exist, or is damaged.
      }
      samplingTimer = setInterval(sample, sampleInterval).unref();
    },
    /** Stops sampling, and stores the ranges. */
    close(): void {
      // After a failed start, the file still has the ranges of the previous run.
      if (samplingTimer === undefined) return;
      clearInterval(samplingTimer);
      const stored = Object.fromEntries([...metrics].map(([endpointId, { ranges }]) => [endpointId, ranges.save()]));
      try {
        writeAtomically(file, JSON.stringify(stored));
      } catch {
        // Without space on the disk, the ranges begin again at the next start.
      }
    },
  };
}
