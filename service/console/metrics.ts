import type { Clock } from "serverless-compute-api/clock";
import type { JobEvents } from "../jobs/events";
import type { FinalJob } from "../jobs/job";

/** Slots of a range of time. */
export const slotCount = 90;
/** Lengths of a slot, ms, by range: 15 minutes, 3 hours and 24 hours. An endpoint requires 35 kB of memory per range. */
export const slotLengths = [10_000, 120_000, 960_000] as const;

/** Buckets of an octave of time, and in all: up to 2^24 ms, four hours and a half. A bucket is 9 % wide to each side. */
const perOctave = 4;
const bucketCount = 24 * perOctave;

/** Metrics of an endpoint in one range: a value per slot, oldest first. Times in ms; null if no job ended. */
interface RangeMetrics {
  /** End of the last slot, ms since the epoch. */
  until: number;
  slotLength: number;
  /** The most jobs that waited. */
  queue: number[];
  completed: number[];
  failed: number[];
  /** From submission to completion. */
  p50: (number | null)[];
  p95: (number | null)[];
}

export type JobMetrics = ReturnType<typeof createJobMetrics>;

interface Ring {
  /** Length of a slot, ms. */
  slotLength: number;
  /** Number of the newest slot, counted from the epoch. */
  newest: number;
  /** The newest slot in which anything happened. */
  active: number;
  queue: Uint32Array;
  completed: Uint32Array;
  failed: Uint32Array;
  /** `bucketCount` numbers for each slot. */
  times: Uint32Array;
}

const bucketOf = (ms: number): number => Math.min(bucketCount - 1, Math.floor(Math.log2(Math.max(1, ms)) * perOctave));

/** The time of the bucket that has a part of all jobs below it: the middle of its bounds. */
function quantile(buckets: Uint32Array, part: number): number | null {
  const all = buckets.reduce((sum, count) => sum + count, 0);
  let left = Math.ceil(all * part);
  if (left === 0) return null;
  const found = buckets.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return Math.round(2 ** ((found + 0.5) / perOctave));
}

/**
 * Numbers of the job path over the last day, in memory, in ranges of increasing length. `waiting` counts an endpoint's jobs in
 * the queue. A job costs an increment per range at its end, and the check of a map when it is queued.
 */
export function createJobMetrics({
  events,
  waiting,
  exists,
  clock,
}: {
  events: JobEvents;
  waiting(endpointId: string): number;
  exists(endpointId: string): boolean;
  clock: Clock;
}) {
  /** Rings by endpoint, one per range, the shortest range first. */
  const rings = new Map<string, Ring[]>();
  const slotNow = (slotLength: number): number => Math.floor(clock.now() / slotLength);

  function begin(endpointId: string): Ring[] {
    const numbers = (length: number): Uint32Array => new Uint32Array(length);
    const ranges = slotLengths.map((slotLength) => ({
      slotLength,
      newest: slotNow(slotLength),
      active: slotNow(slotLength),
      queue: numbers(slotCount),
      completed: numbers(slotCount),
      failed: numbers(slotCount),
      times: numbers(slotCount * bucketCount),
    }));
    rings.set(endpointId, ranges);
    return ranges;
  }

  /** Moves on to the slot of now, which begins empty, and returns its place. A clock that was set back stays in the newest one. */
  function advance(ring: Ring): number {
    const now = slotNow(ring.slotLength);
    const { queue, completed, failed, times } = ring;
    for (let slot = Math.max(ring.newest + 1, now - slotCount + 1); slot <= now; slot++) {
      const at = slot % slotCount;
      for (const numbers of [queue, completed, failed]) numbers[at] = 0;
      times.fill(0, at * bucketCount, (at + 1) * bucketCount);
    }
    ring.newest = Math.max(ring.newest, now);
    return ring.newest % slotCount;
  }
  const add = (numbers: Uint32Array, at: number): void => {
    numbers[at] = (numbers[at] ?? 0) + 1;
  };

  function noteEnd({ endpointId, status, queuedAt, finishedAt }: FinalJob): void {
    if (status === "CANCELLED") return;
    for (const ring of rings.get(endpointId) ?? begin(endpointId)) {
      const at = advance(ring);
      ring.active = ring.newest;
      add(status === "COMPLETED" ? ring.completed : ring.failed, at);
      if (status === "COMPLETED") add(ring.times, at * bucketCount + bucketOf(finishedAt - queuedAt));
    }
  }
  events.on("ended", noteEnd);
  events.on("queued", ({ endpointId }) => {
    if (!rings.has(endpointId)) begin(endpointId);
  });

  function rangeOf(ring: Ring): RangeMetrics {
    advance(ring);
    const { slotLength } = ring;
    const places = Array.from({ length: slotCount }, (_, slot) => (ring.newest + 1 + slot) % slotCount);
    const of = (numbers: Uint32Array): number[] => places.map((at) => numbers[at] ?? 0);
    const timesOf = (part: number): (number | null)[] =>
      places.map((at) => quantile(ring.times.subarray(at * bucketCount, (at + 1) * bucketCount), part));
    return {
      until: (ring.newest + 1) * slotLength,
      slotLength,
      queue: of(ring.queue),
      completed: of(ring.completed),
      failed: of(ring.failed),
      p50: timesOf(0.5),
      p95: timesOf(0.95),
    };
  }

  return {
    /** Metrics of an endpoint by range, the shortest first. */
    read: (endpointId: string): RangeMetrics[] => (rings.get(endpointId) ?? begin(endpointId)).map(rangeOf),
    /** Records the number of queued jobs, and forgets deleted endpoints and those without jobs in the last day; call it every second. */
    sample(): void {
      for (const [endpointId, ranges] of rings) {
        if (!exists(endpointId)) rings.delete(endpointId);
        const now = waiting(endpointId);
        for (const ring of ranges) {
          const at = advance(ring);
          if (now > 0) ring.active = ring.newest;
          ring.queue[at] = Math.max(ring.queue[at] ?? 0, now);
        }
        if (ranges.every(({ newest, active }) => newest - active >= slotCount)) rings.delete(endpointId);
      }
    },
  };
}
