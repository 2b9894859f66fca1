import { z } from "zod";
import type { FinalJob } from "../queue/job";
import type { SystemClock } from "../steady-clock";

/** Slots of a range of time. */
export const slotCount = 90;
/** Lengths of a slot, ms, by range: 15 minutes, 3 hours and 24 hours. An endpoint requires 35 kB of memory per range. */
export const slotLengths = [10_000, 120_000, 960_000] as const;

/** Non-zero counts as pairs of index and count. */
const sparse = z.array(z.tuple([z.int().min(0), z.int().min(0)]));
/** The ranges of an endpoint as JSON. */
export const storedRanges = z.array(
  z.object({
    slotLength: z.number(),
    newestSlot: z.int(),
    queue: sparse,
    failed: sparse,
    times: sparse,
  }),
);
export type StoredRanges = z.output<typeof storedRanges>;

/** Buckets per octave of time, and in total up to 2^24 ms (4.7 hours). A bucket extends 9 % to each side. */
const perOctave = 4;
const bucketCount = 24 * perOctave;

/** Counts of an endpoint in one range: a value per slot, oldest first. Times in ms; null if no job completed. */
export interface Range {
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

interface RingBuffer {
  /** Length of a slot, ms. */
  slotLength: number;
  /** Number of the newest slot, counted from the epoch. */
  newestSlot: number;
  queue: Uint32Array;
  failed: Uint32Array;
  /** Completed jobs by their time: `bucketCount` numbers for each slot. */
  times: Uint32Array;
}

const bucketOf = (ms: number): number => Math.min(bucketCount - 1, Math.floor(Math.log2(Math.max(1, ms)) * perOctave));

const total = (counts: Uint32Array): number => counts.reduce((sum, count) => sum + count, 0);

/** The quantile of the times in `buckets`: the middle of its bucket. */
function quantile(buckets: Uint32Array, fraction: number): number | null {
  let remaining = Math.ceil(total(buckets) * fraction);
  if (remaining === 0) return null;
  const bucket = buckets.findIndex((count) => {
    remaining -= count;
    return remaining <= 0;
  });
  return Math.round(2 ** ((bucket + 0.5) / perOctave));
}

const increment = (counts: Uint32Array, index: number): void => {
  counts[index] = (counts[index] ?? 0) + 1;
};

/** The counts of an endpoint's jobs by time. */
export type Ranges = ReturnType<typeof createRanges>;

/**
 * Counts an endpoint's jobs over the last day, in memory, in ranges of increasing length. A job costs an increment per range at its end.
 * `stored` is the result of `save`; ranges of another length are ignored.
 */
export function createRanges(clock: SystemClock, stored: StoredRanges = []) {
  const currentSlot = (slotLength: number): number => Math.floor(clock.now() / slotLength);
  const ringBuffers = slotLengths.map((slotLength): RingBuffer => {
    const counts = (length: number): Uint32Array => new Uint32Array(length);
    const ringBuffer = {
      slotLength,
      newestSlot: currentSlot(slotLength),
      queue: counts(slotCount),
      failed: counts(slotCount),
      times: counts(slotCount * bucketCount),
    };
    const range = stored.find((one) => one.slotLength === slotLength);
    if (!range) return ringBuffer;
    for (const name of ["queue", "failed", "times"] as const)
      for (const [index, count] of range[name]) ringBuffer[name][index] = count;
    return { ...ringBuffer, newestSlot: Math.min(range.newestSlot, ringBuffer.newestSlot) };
  });

  /** Advances to the current slot, which starts empty; returns its index. If the clock was set back, stays in the newest slot. */
  function advance(ringBuffer: RingBuffer): number {
    const now = currentSlot(ringBuffer.slotLength);
    const { queue, failed, times } = ringBuffer;
    for (let slot = Math.max(ringBuffer.newestSlot + 1, now - slotCount + 1); slot <= now; slot++) {
      const index = slot % slotCount;
      for (const counts of [queue, failed]) counts[index] = 0;
      times.fill(0, index * bucketCount, (index + 1) * bucketCount);
    }
    ringBuffer.newestSlot = Math.max(ringBuffer.newestSlot, now);
    return ringBuffer.newestSlot % slotCount;
  }

  function read(ringBuffer: RingBuffer): Range {
    advance(ringBuffer);
    const { slotLength, newestSlot } = ringBuffer;
    const slotOrder = Array.from({ length: slotCount }, (_, slot) => (newestSlot + 1 + slot) % slotCount);
    const inOrder = (counts: Uint32Array): number[] => slotOrder.map((index) => counts[index] ?? 0);
    const times = slotOrder.map((index) => ringBuffer.times.subarray(index * bucketCount, (index + 1) * bucketCount));
    return {
      until: (newestSlot + 1) * slotLength,
      slotLength,
      queue: inOrder(ringBuffer.queue),
      completed: times.map(total),
      failed: inOrder(ringBuffer.failed),
      p50: times.map((buckets) => quantile(buckets, 0.5)),
      p95: times.map((buckets) => quantile(buckets, 0.95)),
    };
  }

  return {
    /** Counts a job; cancelled jobs are not counted. */
    recordEnd({ status, queuedAt, finishedAt }: FinalJob): void {
      if (status === "CANCELLED") return;
      for (const ringBuffer of ringBuffers) {
        const index = advance(ringBuffer);
        if (status === "COMPLETED") increment(ringBuffer.times, index * bucketCount + bucketOf(finishedAt - queuedAt));
        else increment(ringBuffer.failed, index);
      }
    },
    recordQueue(waiting: number): void {
      for (const ringBuffer of ringBuffers) {
        const index = advance(ringBuffer);
        ringBuffer.queue[index] = Math.max(ringBuffer.queue[index] ?? 0, waiting);
      }
    },
    /** The counts by range, the shortest first. */
    read: (): Range[] => ringBuffers.map(read),
    /** The ranges as JSON. */
    save(): StoredRanges {
      const pairs = (counts: Uint32Array): [number, number][] =>
        [...counts].flatMap((count, index): [number, number][] => (count > 0 ? [[index, count]] : []));
      return ringBuffers.map(({ queue, failed, times, ...range }) => ({
        ...range,
        queue: pairs(queue),
        failed: pairs(failed),
        times: pairs(times),
      }));
    },
  };
}
