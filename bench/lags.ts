import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createClients, systemClock } from "serverless-compute-api";
import type { Properties } from "../provider/engine/values";
import { kinds } from "../provider/resources";
import { naming } from "../test/support/naming";
import { quietContext } from "../test/support/quiet-context";
import { totalOf } from "./deploy-results";
import { type Counter, startCounter } from "./deploy-usage";
import { stopProcess } from "./processes";
import { startService } from "./service";
import { median } from "./statistics";

/** Time between an event and the end of the verb that waits for it. */
export interface LagRow {
  /** The event and the verb that waits for it. */
  of: string;
  /** Number of measurements. */
  count: number;
  /** Median and longest, ms. */
  lag: number;
  longest: number;
  /** Requests of one wait; the mean. */
  requests: number;
}

type Kind = "JobInvoke" | "ServerlessEndpoint" | "Template";

/** Resources of one process with a counter of its requests. */
interface Deployed {
  counter: Counter;
  create(kind: Kind, inputs: Properties): Promise<{ id: string; outputs: Properties }>;
  destroy(kind: Kind, created: { id: string; outputs: Properties }): Promise<void>;
}

/** Runs a callback with resources on a new service. */
async function onService<Result>(flags: string[], work: (deployed: Deployed) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "bench-lags-"));
  const cleanups: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const service = await startService(join(folder, "data"), ["--rate-limits", "off", ...flags]);
    cleanups.unshift(() => stopProcess(service.child));
    const counter = await startCounter(new URL(service.baseUrl).origin);
    cleanups.unshift(() => counter.close());
    const clients = createClients({
      apiKey: (await readFile(service.apiKeyFile, "utf8")).trim(),
      baseUrl: counter.origin + new URL(service.baseUrl).pathname,
      graphqlUrl: `${counter.origin}/graphql`,
      serverlessUrl: counter.origin,
    });
    cleanups.unshift(() => clients.close());
    const context = quietContext({ clients, clock: systemClock });
    return await work({
      counter,
      create(kind, news) {
        const { inputs, failures } = kinds[kind].check({}, news, naming());
        if (failures.length > 0) throw new Error(`lags: ${kind}: ${JSON.stringify(failures)}`);
        return kinds[kind].create(inputs, context);
      },
      destroy: (kind, { id, outputs }) => kinds[kind].delete(id, outputs, context),
    });
  } finally {
    for (const close of cleanups) await close();
  }
}

function rowOf(of: string, lags: number[], requests: number): LagRow {
  return { of, count: lags.length, lag: median(lags), longest: Math.max(...lags), requests: requests / lags.length };
}

/**
 * Deletes templates, each at a different time after its endpoint, so that the attempts are spread over the retry
 * interval.
 */
function ofRelease(seconds: number, count: number): Promise<LagRow> {
  return onService(["--template-release", String(seconds)], async ({ counter, create, destroy }) => {
    const template = async (at: number) => {
      const created = await create("Template", { name: `lag-${at}`, imageName: "bench/wait:1" });
      const inputs = { name: `lag-${at}`, templateId: created.id, workersMax: 0 };
      await destroy("ServerlessEndpoint", await create("ServerlessEndpoint", inputs));
      return { created, released: Date.now() + seconds * 1000 };
    };
    const templates = await Promise.all(Array.from({ length: count }, (_, at) => template(at)));
    counter.drain();
    const lags = templates.map(async ({ created, released }, at) => {
      await pause((at / count) * 10_000);
      await destroy("Template", created);
      return Date.now() - released;
    });
    return rowOf(
      `a template's release after ${seconds} s → its delete`,
      await Promise.all(lags),
      totalOf(counter.drain()),
    );
  });
}

/** Runs jobs of 1 to 3 s in each mode, several at a time, after a warm-up job for each worker. */
function ofJobs(count: number): Promise<LagRow[]> {
  const flags = ["--image", `bench/wait:1=${join(__dirname, "wait.mjs")}`];
  return onService(flags, async ({ counter, create }) => {
    const workers = Math.min(4, count);
    const { id: templateId } = await create("Template", { name: "lag", imageName: "bench/wait:1" });
    const scaling = { workersMin: workers, workersMax: workers };
    const { id: endpointId } = await create("ServerlessEndpoint", { name: "lag", templateId, ...scaling });
    const lagOf = async (mode: string, ms: number): Promise<number> => {
      const { outputs } = await create("JobInvoke", { endpointId, mode, input: { ms } });
      return Date.now() - Number(outputs["output"]);
    };
    const each = <Result>(work: (at: number) => Promise<Result>) =>
      Promise.all(Array.from({ length: workers }, (_, at) => work(at)));
    await each(() => lagOf("sync", 500));
    const rows: LagRow[] = [];
    for (const mode of ["async", "sync"]) {
      counter.drain();
      const lags: number[] = [];
      await each(async (worker) => {
        // The golden ratio spreads the lengths evenly for any number.
        for (let at = worker; at < count; at += workers) lags.push(await lagOf(mode, 1000 + ((at * 1236) % 2000)));
      });
      rows.push(rowOf(`the end of a job of 1 to 3 s → JobInvoke, ${mode}`, lags, totalOf(counter.drain())));
    }
    return rows;
  });
}

/** Measures both waits of a deployment in this process. `quick` measures each in a few seconds, as a smoke test. */
export async function measureLags(isQuick: boolean): Promise<LagRow[]> {
  const jobs = await ofJobs(isQuick ? 2 : 40);
  // Both mostly wait, so they do not disturb each other.
  const releases = isQuick ? [ofRelease(3, 1)] : [ofRelease(20, 10), ofRelease(120, 10)];
  return [...jobs, ...(await Promise.all(releases))];
}
