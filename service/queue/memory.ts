import { ShortLivedMap } from "../short-lived-map";
import type { SteadyClock } from "../steady-clock";
import type { GroupCommit } from "../store/group-commit";
import type { JobDelivery, JobWorker, LiveJob, QueuedJob, RunningJob } from "./job";

/** A worker that waits for jobs. */
export interface WaitingWorker {
  workerId: string;
  /** The worker gets a job only if no other worker waits. */
  isLastResort?: boolean;
  /** The worker ends with the service, so it may start a job before the commit; a kill requeues the job in both cases. */
  endsWithService?: boolean;
  /** Maximum number of jobs; defaults to 1. */
  max?: number;
  /** Receives the assigned jobs, at least one; called once. */
  deliver(deliveries: readonly JobDelivery[]): void;
}

export type ActiveJobs = ReturnType<typeof createActiveJobs>;

/**
 * Unfinished jobs in memory, loaded from the store at start, and the workers that wait for them. Changes are made within the transaction that
 * makes them durable; the start of a job at a worker that ends with the service precedes its transaction. A failed transaction undoes its
 * changes in memory.
 */
export function createActiveJobs(onRollback: GroupCommit["onRollback"], clock: SteadyClock) {
  const jobs = new ShortLivedMap<string, LiveJob>();
  const queues = new Map<string, ReadyQueue>();

  /** The endpoint's jobs and waiting workers. */
  function ready(endpointId: string): ReadyQueue {
    const existing = queues.get(endpointId) ?? createReadyQueue();
    queues.set(endpointId, existing);
    return existing;
  }

  function insert(job: LiveJob): void {
    jobs.set(job.id, job);
    if (job.status === "IN_PROGRESS") ready(job.endpointId).running++;
    else ready(job.endpointId).add(job);
  }
  /** Removes a job and returns it. */
  function extract(id: string): LiveJob | undefined {
    const job = jobs.get(id);
    if (!job) return undefined;
    jobs.delete(id);
    if (job.status === "IN_QUEUE") ready(job.endpointId).remove(job);
    else ready(job.endpointId).running--;
    return job;
  }
  /** Inserts a copy, because a queue accepts each object only once. */
  const restore = (job: LiveJob | undefined): void => void (job && insert({ ...job }));

  return {
    get: (id: string): LiveJob | undefined => jobs.get(id),
    all: (): Iterable<LiveJob> => jobs.values(),
    byEndpoint: (endpointId: string): LiveJob[] => [...jobs.values()].filter((job) => job.endpointId === endpointId),
    /** The job, if it runs on this worker and its ttl has not expired. */
    runningAt(id: string, worker: JobWorker): RunningJob | undefined {
      const job = jobs.get(id);
      if (job?.status !== "IN_PROGRESS" || job.expiresAt <= clock.system.now()) return undefined;
      return job.workerId === worker.id && job.endpointId === worker.endpointId ? job : undefined;
    },
    running: (endpointId: string): number => queues.get(endpointId)?.running ?? 0,
    waiting: (endpointId: string): number => queues.get(endpointId)?.size ?? 0,
    ready,
    /** The endpoint's first waiting job. Expired jobs leave the queue before they are removed. */
    first(endpointId: string): QueuedJob | undefined {
      const queue = ready(endpointId);
      for (let job = queue.first; job; job = queue.first) {
        if (job.expiresAt > clock.system.now()) return job;
        queue.remove(job);
      }
      return undefined;
    },
    /** Adds the stored jobs at start. */
    load(stored: LiveJob[]): void {
      for (const job of stored.sort((a, b) => a.position - b.position)) {
        // A time in the future means that the system time was set back since; deadlines must not wait for it.
        const ahead = Math.max(0, (job.startedAt ?? job.queuedAt) - clock.now());
        job.queuedAt -= ahead;
        if (job.status === "IN_PROGRESS") job.startedAt -= ahead;
        insert(job);
      }
    },
    /** Adds a job, or replaces its earlier state. */
    put(job: LiveJob): void {
      const before = extract(job.id);
      insert(job);
      onRollback(() => {
        extract(job.id);
        restore(before);
      });
    },
    /** Removes a finished or deleted job. */
    remove(id: string): void {
      const before = extract(id);
      onRollback(() => restore(before));
    },
    /** Removes and returns a waiting worker. */
    nextWaiter(endpointId: string): WaitingWorker | undefined {
      const queue = ready(endpointId);
      const waiter = queue.nextWaiter();
      if (waiter) onRollback(() => queue.addWaiter(waiter));
      return waiter;
    },
    /** Removes the queue of a deleted endpoint without jobs and workers. */
    removeEndpoint: (endpointId: string): void => void queues.delete(endpointId),
  };
}

type ReadyQueue = ReturnType<typeof createReadyQueue>;

/** Waiting jobs or waiting workers of one endpoint, never both, and the number of its running jobs. */
export function createReadyQueue() {
  const normalPriorityJobs = createOrderedQueue<QueuedJob>();
  // Low-priority jobs do not start workers, and a search for jobs that do must not read thousands of them.
  const lowPriorityJobs = createOrderedQueue<QueuedJob>();
  const waiters: WaitingWorker[] = [];
  const queueOf = ({ lowPriority }: QueuedJob) => (lowPriority ? lowPriorityJobs : normalPriorityJobs);
  return {
    running: 0,
    get size(): number {
      return normalPriorityJobs.size + lowPriorityJobs.size;
    },
    add: (job: QueuedJob): void => queueOf(job).add(job),
    remove: (job: QueuedJob): void => queueOf(job).remove(job),
    /** The first job in the order of the queue. */
    get first(): QueuedJob | undefined {
      const [normal, low] = [normalPriorityJobs.first, lowPriorityJobs.first];
      return normal && (!low || normal.position < low.position) ? normal : low;
    },
    /** Waiting jobs that may start workers (all except low-priority jobs), in queue order. */
    get jobsForScaling(): Iterable<QueuedJob> {
      return normalPriorityJobs;
    },
    get hasWaiter(): boolean {
      return waiters.length > 0;
    },
    addWaiter: (waiter: WaitingWorker): void =>
      void (waiter.isLastResort ? waiters.unshift(waiter) : waiters.push(waiter)),
    removeWaiter(waiter: WaitingWorker): void {
      const index = waiters.lastIndexOf(waiter);
      if (index !== -1) waiters.splice(index, 1);
    },
    /**
     * Removes and returns the worker that began to wait most recently, so that the others may become idle and stop. Workers with `isLastResort`
     * come after all others.
     */
    nextWaiter: (): WaitingWorker | undefined => waiters.pop(),
  };
}

/**
 * A queue ordered by position. Appending and removing take about constant time. A removed object cannot be added again; add a
 * copy instead. The queue must not change during an iteration.
 */
interface OrderedQueue<Entry> extends Iterable<Entry> {
  readonly size: number;
  readonly first: Entry | undefined;
  add(entry: Entry): void;
  remove(entry: Entry): void;
}

/** Number of removed entries that may stay in memory, in addition to the number of present entries. */
const maxRemovedEntries = 64;

/** Creates a queue; the entry with the lowest position is first. */
export function createOrderedQueue<Entry extends { position: number }>(): OrderedQueue<Entry> {
  // Sorted by position from `head` on. Entries missing from `present` were removed and are skipped.
  let sorted: Entry[] = [];
  let head = 0;
  const present = new ShortLivedMap<Entry, true>();

  /** Index of the first entry after `position`. */
  function indexAfter(position: number): number {
    let low = head;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.position ?? position) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  const isPresent = (entry: Entry | undefined): entry is Entry => entry !== undefined && present.has(entry);

  function compact(): void {
    while (head < sorted.length && !isPresent(sorted[head])) head++;
    if (sorted.length <= 2 * present.size + maxRemovedEntries) return;
    sorted = sorted.slice(head).filter(isPresent);
    head = 0;
  }

  return {
    get size() {
      return present.size;
    },
    get first() {
      return sorted[head];
    },
    add(entry) {
      present.set(entry, true);
      const last = sorted.at(-1);
      const index = last && last.position > entry.position ? indexAfter(entry.position) : sorted.length;
      if (index === sorted.length) sorted.push(entry);
      else if (index === head && head > 0) sorted[--head] = entry;
      else sorted.splice(index, 0, entry);
    },
    remove(entry) {
      if (present.delete(entry)) compact();
    },
    *[Symbol.iterator]() {
      for (let index = head; index < sorted.length; index++) {
        const entry = sorted[index];
        if (isPresent(entry)) yield entry;
      }
    },
  };
}
