import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Answer, expectAnswer, send, stringAt } from "../../../support/raw-http";
import { type StartedService, startService, useFolder } from "../cli/command";
import { isAlive, program } from "../workers/support/programs";

const folder = await useFolder();
const rounds = process.env["FULL"] === "1" ? 50 : 2;
/** Submissions under way at a time. */
const lanes = 4;
const record = z.looseObject({ id: z.string(), status: z.string(), output: z.unknown() });
const page = z.object({ requests: z.array(record), cursor: z.string().nullable() });
const health = z.looseObject({ jobs: z.record(z.string(), z.number()) });

const start = (): Promise<StartedService> =>
  startService(join(folder, "data"), "--image", `tool="${program("tool.mjs")}"`);
const call = ({ addresses, apiKey }: StartedService, method: string, path: string, json?: unknown): Promise<Answer> =>
  send(method, `${addresses.serverlessUrl}${path}`, { key: apiKey, json });

/** Submits jobs continuously until the service ends. Returns the ids of acknowledged jobs. */
async function load(service: StartedService, root: string): Promise<string[]> {
  const acknowledged: string[] = [];
  const lane = async (): Promise<void> => {
    for (;;) {
      const answer = await call(service, "POST", `${root}/run`, { input: { do: "pid" } }).catch(() => undefined);
      if (!answer) return;
      if (answer.status === 200) acknowledged.push(stringAt(answer, "id"));
      else expect(answer.status).toBe(429);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return acknowledged;
}

/** All jobs of the endpoint's record. */
async function jobsOf(service: StartedService, root: string): Promise<z.output<typeof record>[]> {
  const all: z.output<typeof record>[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer = await call(service, "GET", `${root}/requests?limit=1000${cursor && `&cursor=${cursor}`}`);
    if (answer.status === 429) {
      // Ten pages in ten seconds: the long form has more of them.
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(answer.headers.get("retry-after"))));
      continue;
    }
    expectAnswer(answer, 200);
    const { requests, cursor: next } = page.parse(answer.json);
    all.push(...requests);
    cursor = next;
  }
  return all;
}

test(
  `no acknowledged job is lost in ${rounds} kills of the service under load, and no worker outlives it`,
  async () => {
    let service = await start();
    const rest = (path: string, json: unknown) =>
      send("POST", `${service.addresses.baseUrl}${path}`, { key: service.apiKey, json });
    const templateId = stringAt(
      await rest("/templates", { name: "tool", imageName: "tool", isServerless: true }),
      "id",
    );
    const scaling = { scalerType: "REQUEST_COUNT", scalerValue: 1, workersMax: 2, idleTimeout: 60 };
    const made = await rest("/endpoints", { name: "tool", templateId, ...scaling });
    expectAnswer(made, 200);
    const root = `/v2/${stringAt(made, "id")}`;
    const acknowledged = new Set<string>();
    const jobs = async () => health.parse((await call(service, "GET", `${root}/health`)).json).jobs;
    let completed = 0;
    for (let round = 0; round < rounds; round++) {
      const loading = load(service, root);
      // Its workers are at it when it is killed, so that there is something to outlive it.
      await expect.poll(async () => (await jobs())["completed"], { timeout: 20_000 }).toBeGreaterThan(completed);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
      service.child.kill("SIGKILL");
      await service.ended;
      const ids = await loading;
      expect(ids.length, `jobs of round ${round + 1}`).toBeGreaterThan(0);
      for (const id of ids) acknowledged.add(id);
      service = await start();
      completed = (await jobs())["completed"] ?? 0;
    }
    const over = async (): Promise<boolean> => {
      const { inQueue, inProgress } = await jobs();
      return inQueue === 0 && inProgress === 0;
    };
    await expect.poll(over, { timeout: 60_000, interval: 100 }).toBe(true);
    const all = await jobsOf(service, root);
    const kept = new Set(all.map(({ id }) => id));
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
    // What is kept beyond those is what each lane of the load had under way when the service was killed.
    expect(kept.size - acknowledged.size).toBeLessThanOrEqual(rounds * lanes);
    expect(kept.size, "no job twice").toBe(all.length);
    expect(all.filter(({ status }) => status !== "COMPLETED")).toEqual([]);
    expect(await jobs()).toMatchObject({ completed: all.length, failed: 0 });
    const pids = [...new Set(all.map(({ output }) => z.number().parse(output)))];
    service.child.kill("SIGKILL");
    await service.ended;
    expect(pids.length, "workers").toBeGreaterThanOrEqual(rounds);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  },
  60_000 + rounds * 10_000,
);
