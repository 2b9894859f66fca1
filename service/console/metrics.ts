import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import type { JobEvents } from "../queue/events";
import type { FinalJob } from "../queue/job";

/** Slots of a range of time. */
export const slotCount = 90;
/** Lengths of a slot, ms, by range: 15 minutes, 3 hours and 24 hours. An endpoint requires 35 kB of memory per range. */
export const slotLengths = [10_000, 120_000, 960_000] as const;

/** Non-zero counts as pairs of index and count. */
const sparse = z.array(z.tuple([z.int().min(0), z.int().min(0)]));
const storedRange = z.object({
  slotLength: z.number(),
  newestSlot: z.int(),
  activeSlot: z.int(),
  queue: sparse,
  completed: sparse,
  failed: sparse,
  times: sparse,
});
/** The metrics of all endpoints as JSON. */
const storedMetrics = z.record(z.string(), z.array(storedRange));

/** Buckets per octave of time, and in total up to 2^24 ms (4.7 hours). A bucket extends 9 % to each side. */
const perOctave = 4;
const bucketCount = 24 * perOctave;

/** Metrics of an endpoint in one range: a value per slot, oldest first. Times in ms; null if no job ended. */
interface RangeMetrics {
  /** End of the last slot, ms since the epoch. */
  until: number;
  slotLength: number;
  /** Maximum number of queued jobs. */
  queue: number[];
  completed: number[];
  failed: number[];
  /** From submission to completion. */
  p50: (number | null)[];
  p95: (number | null)[];
}

export type JobMetrics = ReturnType<typeof createJobMetrics>;

interface RingBuffer {
  /** Length of a slot, ms. */
  slotLength: number;
  /** Number of the newest slot, counted from the epoch. */
  newestSlot: number;
  /** The newest slot with activity. */
  activeSlot: number;
  queue: Uint32Array;
  completed: Uint32Array;
  failed: Uint32Array;
  /** `bucketCount` numbers for each slot. */
  times: Uint32Array;
}

const bucketOf = (ms: number): number => Math.min(bucketCount - 1, Math.floor(Math.log2(Math.max(1, ms)) * perOctave));

/** The quantile of the times in `buckets`: the middle of its bucket. */
function quantile(buckets: Uint32Array, fraction: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  let remaining = Math.ceil(total * fraction);
  if (remaining === 0) return null;
  const bucket = buckets.findIndex((count) => {
    remaining -= count;
    return remaining <= 0;
  });
  return Math.round(2 ** ((bucket + 0.5) / perOctave));
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
  const rings = new Map<string, RingBuffer[]>();
  const currentSlot = (slotLength: number): number => Math.floor(clock.now() / slotLength);

  function createRings(endpointId: string): RingBuffer[] {
    const counts = (length: number): Uint32Array => new Uint32Array(length);
    const ranges = slotLengths.map((slotLength) => ({
      slotLength,
      newestSlot: currentSlot(slotLength),
      activeSlot: currentSlot(slotLength),
      queue: counts(slotCount),
      completed: counts(slotCount),
      failed: counts(slotCount),
      times: counts(slotCount * bucketCount),
    }));
    rings.set(endpointId, ranges);
    return ranges;
  }

  /** Advances to the current slot, which starts empty; returns its index. If the clock was set back, stays in the newest slot. */
  function advance(ringBuffer: RingBuffer): number {
    const now = currentSlot(ringBuffer.slotLength);
    const { queue, completed, failed, times } = ringBuffer;
    for (let slot = Math.max(ringBuffer.newestSlot + 1, now - slotCount + 1); slot <= now; slot++) {
      const index = slot % slotCount;
      for (const counts of [queue, completed, failed]) counts[index] = 0;
      times.fill(0, index * bucketCount, (index + 1) * bucketCount);
    }
    ringBuffer.newestSlot = Math.max(ringBuffer.newestSlot, now);
    return ringBuffer.newestSlot % slotCount;
  }
  const increment = (counts: Uint32Array, index: number): void => {
    counts[index] = (counts[index] ?? 0) + 1;
  };

  function recordEnd({ endpointId, status, queuedAt, finishedAt }: FinalJob): void {
    if (status === "CANCELLED") return;
    for (const ringBuffer of rings.get(endpointId) ?? createRings(endpointId)) {
      const index = advance(ringBuffer);
      ringBuffer.activeSlot = ringBuffer.newestSlot;
      increment(status === "COMPLETED" ? ringBuffer.completed : ringBuffer.failed, index);
      if (status === "COMPLETED") increment(ringBuffer.times, index * bucketCount + bucketOf(finishedAt - queuedAt));
    }
  }
  events.on("ended", recordEnd);
  events.on("queued", ({ endpointId }) => {
    if (!rings.has(endpointId)) createRings(endpointId);
  });

  function readRange(ringBuffer: RingBuffer): RangeMetrics {
    advance(ringBuffer);
    const { slotLength } = ringBuffer;
    const slotOrder = Array.from({ length: slotCount }, (_, slot) => (ringBuffer.newestSlot + 1 + slot) % slotCount);
    const inOrder = (counts: Uint32Array): number[] => slotOrder.map((index) => counts[index] ?? 0);
    const quantiles = (fraction: number): (number | null)[] =>
      slotOrder.map((index) =>
        quantile(ringBuffer.times.subarray(index * bucketCount, (index + 1) * bucketCount), fraction),
      );
    return {
      until: (ringBuffer.newestSlot + 1) * slotLength,
      slotLength,
      queue: inOrder(ringBuffer.queue),
      completed: inOrder(ringBuffer.completed),
      failed: inOrder(ringBuffer.failed),
      p50: quantiles(0.5),
      p95: quantiles(0.95),
    };
  }

  return {
    /** The metrics as JSON, for `load` after a restart. */
    save(): string {
      const pairs = (counts: Uint32Array): [number, number][] =>
        [...counts].flatMap((count, index): [number, number][] => (count > 0 ? [[index, count]] : []));
      const ranges = (list: RingBuffer[]): z.output<typeof storedMetrics>[string] =>
        list.map(({ queue, completed, failed, times, ...range }) => ({
          ...range,
          queue: pairs(queue),
          completed: pairs(completed),
          failed: pairs(failed),
          times: pairs(times),
        }));
      return JSON.stringify(Object.fromEntries([...rings].map(([endpointId, list]) => [endpointId, ranges(list)])));
    },
    /** Reads the result of `save`. Throws if it is invalid; ranges of another length are ignored. */
    load(text: string): void {
      const stored = storedMetrics.parse(JSON.parse(text));
      for (const [endpointId, ranges] of Object.entries(stored)) {
        if (!exists(endpointId)) continue;
        for (const ringBuffer of createRings(endpointId)) {
          const range = ranges.find(({ slotLength }) => slotLength === ringBuffer.slotLength);
          if (!range) continue;
          ringBuffer.newestSlot = Math.min(range.newestSlot, ringBuffer.newestSlot);
          ringBuffer.activeSlot = Math.min(range.activeSlot, ringBuffer.newestSlot);
          for (const name of ["queue", "completed", "failed", "times"] as const)
            for (const [index, count] of range[name]) ringBuffer[name][index] = count;
          advance(ringBuffer);
        }
      }
    },
    /** Metrics of an endpoint by range, the shortest first. */
    read: (endpointId: string): RangeMetrics[] => (rings.get(endpointId) ?? createRings(endpointId)).map(readRange),
    /** Records the number of queued jobs, and removes deleted endpoints and endpoints without jobs in the last day; call it every second. */
    sample(): void {
      for (const [endpointId, ranges] of rings) {
        if (!exists(endpointId)) {
          rings.delete(endpointId);
          continue;
        }
        const waitingCount = waiting(endpointId);
        for (const ringBuffer of ranges) {
          const index = advance(ringBuffer);
          if (waitingCount > 0) ringBuffer.activeSlot = ringBuffer.newestSlot;
          ringBuffer.queue[index] = Math.max(ringBuffer.queue[index] ?? 0, waitingCount);
        }
        if (ranges.every(({ newestSlot, activeSlot }) => newestSlot - activeSlot >= slotCount))
          rings.delete(endpointId);
      }
    },
  };
}
