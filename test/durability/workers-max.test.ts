import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gpuTypeIds } from "serverless-compute-api/catalog";
import { createService } from "serverless-compute-local";
import { afterAll, expect, test } from "vitest";
import { serviceFolder } from "../support/folders";
import { expectResponse, send, stringAt } from "../support/raw-http";
import { type Chance, chosenSeed, createChance, isFull } from "./chance";
import { drained, type ServiceAccess } from "./endpoint";
import { processesNaming } from "./processes";

const folder = serviceFolder(afterAll);
const handler = join(folder, "storm.mjs");
await copyFile(fileURLToPath(new URL("handlers/storm.mjs", import.meta.url)), handler);
const image = "durability/storm:1";

/** Minimum duration of the random changes, ms, and minimum number of workers that they start. */
const length = isFull ? 120_000 : 2_000;
const starts = 20;

/** An endpoint whose workers are distinguishable from all other processes. */
interface Watched {
  id: string;
  templateId: string;
  /** Text in the command lines of its workers. */
  mark: string;
  /** Each workersMax so far, with the end of its validity. */
  maxima: { value: number; until: number }[];
}

async function makeWatched(service: ServiceAccess, workersMax: number, fields: object): Promise<Watched> {
  const mark = `storm-${process.pid}-${Math.random()}`;
  const post = async (path: string, json: object): Promise<string> => {
    const response = await send("POST", `${service.baseUrl}${path}`, { key: service.apiKey, json });
    expectResponse(response, 200);
    return stringAt(response, "id");
  };
  const template = { name: mark, imageName: image, isServerless: true, volumeInGb: 0, dockerStartCmd: [mark] };
  const templateId = await post("/templates", template);
  const id = await post("/endpoints", { name: mark, templateId, workersMax, idleTimeout: 1, ...fields });
  return { id, templateId, mark, maxima: [{ value: workersMax, until: Number.POSITIVE_INFINITY }] };
}

/** Maximum age of the workersMax of a worker start, ms: the time between two polls on a busy machine. */
const memory = 500;

/** Polls the processes until stopped, and records each worker beyond the limit. */
function watch(endpoints: Watched[]) {
  const pids = new Set<number>();
  const breaches: string[] = [];
  let polling = true;
  const ended = (async () => {
    for (let startTime = Date.now(); polling; ) {
      const before = Date.now();
      for (const { id, mark, maxima } of endpoints) {
        const alive = processesNaming(mark);
        const fresh = alive.filter((pid) => !pids.has(pid));
        const max = Math.max(...maxima.filter(({ until }) => until > startTime - memory).map(({ value }) => value));
        if (fresh.length > 0 && alive.length > max)
          breaches.push(`${fresh.join(", ")} of ${id} started, so ${alive.length} workers exceed workersMax ${max}`);
        for (const pid of fresh) pids.add(pid);
      }
      startTime = before;
      await pause(3);
    }
  })();
  return {
    breaches,
    pids,
    stop(): Promise<void> {
      polling = false;
      return ended;
    },
  };
}

/** Makes a random change that may start or end workers. */
async function stir(service: ServiceAccess, endpoint: Watched, chance: Chance): Promise<void> {
  const { id, templateId, mark, maxima } = endpoint;
  const call = (method: string, url: string, json: object) => send(method, url, { key: service.apiKey, json });
  const jobs = `${service.serverlessUrl}/v2/${id}`;
  const run = (input: object) => call("POST", `${jobs}/run`, { input });
  const change = (fields: object) => call("PATCH", `${service.baseUrl}/endpoints/${id}`, fields);
  switch (chance.whole(0, 9)) {
    case 0:
      await call("PATCH", `${service.baseUrl}/templates/${templateId}`, { env: { N: String(chance.whole(0, 999)) } });
      return;
    case 1:
      await change({ gpuTypeIds: [chance.oneOf(gpuTypeIds)] });
      return;
    case 2: {
      const workersMax = chance.whole(1, 3);
      const last = maxima.at(-1);
      if (maxima.length === 1 && last?.value !== 3) return;
      maxima.push({ value: workersMax, until: Number.POSITIVE_INFINITY });
      expectResponse(await change({ workersMax, workersMin: chance.whole(0, 1) }), 200);
      if (last) last.until = Date.now();
      return;
    }
    case 3: {
      const pid = chance.oneOf(processesNaming(mark));
      try {
        if (pid !== undefined) process.kill(pid, chance.percent(50) ? "SIGKILL" : "SIGTERM");
      } catch {
        // The process ended after the listing.
      }
      return;
    }
    case 4:
      await run({ do: "crash" });
      return;
    case 5:
      await run({ do: "refresh" });
      return;
    case 6: {
      const hanging = await run({ do: "hang" });
      await pause(chance.whole(0, 50));
      if (hanging.status === 200) await call("POST", `${jobs}/cancel/${stringAt(hanging, "id")}`, {});
      return;
    }
    default:
      await run({ do: "work", ms: chance.whole(0, 100) });
  }
}

test(
  "never more than workersMax workers are alive across changes, crashes, restarts and scaling",
  async () => {
    const chance = createChance(chosenSeed());
    const timings = { stopGrace: 200, killGrace: 200, startBackoff: 10, startBackoffMax: 50 };
    const data = join(folder, "data");
    const service = await createService({ port: 0, dataFolder: data, images: { [image]: handler }, timings });
    try {
      const byCount = { scalerType: "REQUEST_COUNT", scalerValue: 1 };
      const endpoints = [
        await makeWatched(service, 1, byCount),
        await makeWatched(service, 2, { ...byCount, workersMin: 1 }),
        await makeWatched(service, 3, { scalerType: "QUEUE_DELAY", scalerValue: 1 }),
      ];
      const watching = watch(endpoints);
      const end = Date.now() + length;
      // A busy machine starts fewer workers in that time.
      const enough = (): boolean => watching.pids.size > starts || Date.now() > end + 60_000;
      const lane = async (): Promise<void> => {
        while (Date.now() < end || !enough()) {
          const endpoint = chance.oneOf(endpoints);
          if (endpoint) await stir(service, endpoint, chance);
          await pause(chance.whole(0, 50));
        }
      };
      await Promise.all([lane(), lane(), lane()]);
      const ids = endpoints.map(({ id }) => id);
      const remaining = await drained(service, ids, 60_000);
      await watching.stop();
      const reported = `DURABILITY_SEED=${chance.seed} repeats it; ${watching.pids.size} workers seen`;
      console.info(reported);
      expect(watching.breaches, reported).toEqual([]);
      expect(remaining, reported).toBe("");
      expect(watching.pids.size, reported).toBeGreaterThan(starts);
    } finally {
      await service.stop(0);
    }
  },
  length + 180_000,
);
