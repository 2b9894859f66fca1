import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "serverless-compute-api/shapes";
import { createCommitter } from "../../../../../service/jobs/commit";
import { createDeadlines } from "../../../../../service/jobs/due";
import { createJobEvents } from "../../../../../service/jobs/events";
import { createLedger } from "../../../../../service/jobs/stored-ledger";
import { defaultTimings } from "../../../../../service/jobs/timings";
import { openDatabase } from "../../../../../service/store/database";
import { createJobChunkStore } from "../../../../../service/store/job-chunks";
import { createJobCounterStore } from "../../../../../service/store/job-counters";
import { createJobStore, type NewJob } from "../../../../../service/store/jobs";
import { createWebhookStore } from "../../../../../service/store/webhooks";
import { ManualClock } from "../../../../support/manual-clock";

/** The ledger on a real store in a folder of its own, with a clock that stands still. `close` takes all of it away. */
export function openLedger() {
  const folder = mkdtempSync(join(tmpdir(), "ledger-"));
  const database = openDatabase(folder);
  const clock = new ManualClock();
  const committer = createCommitter(database);
  const events = createJobEvents();
  const stores = {
    jobs: createJobStore(database),
    chunks: createJobChunkStore(database),
    counters: createJobCounterStore(database),
    webhooks: createWebhookStore(database),
  };
  const deadlines = createDeadlines(() => undefined, defaultTimings);
  const ledger = createLedger({ ...stores, committer, events, clock, exists: () => true, deadlines });
  let made = 0;
  return {
    ...{ database, clock, committer, events, deadlines, ledger },
    ...stores,
    /** A submission; what a test does not say is the interface's default. */
    newJob: (fields: Partial<NewJob> = {}): NewJob => ({
      id: `job-${++made}`,
      endpointId: "endpoint",
      operation: "run",
      lowPriority: false,
      executionTimeout: undefined,
      createdAt: clock.now(),
      expiresAt: clock.now() + limits.ttl.default,
      webhook: undefined,
      s3Config: undefined,
      input: "{}",
      ...fields,
    }),
    close() {
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
