import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createEndpoint } from "../docker/rig";
import { countRequeues, installAudit, readRecordBook } from "../durability/audit";
import { chosenSeed, createChance } from "../durability/chance";
import { serviceFolder } from "../support/folders";
import { send, stringAt } from "../support/raw-http";
import { type Result, resultShape, useRecorder } from "./recorder";
import { namesIn, programsWith, useCluster, useNamespace } from "./rig";
import { useServiceProcess } from "./service-process";

/** Number of jobs; CRASH_JOBS=n overrides it. */
const jobCount = Number(process.env["CRASH_JOBS"] ?? 200);
/** Number of workers. */
const workers = 4;
/** Number of jobs that wait or run. */
const backlog = 20;

const finals = new Set<string | null>(["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"]);
test(
  `${jobCount} jobs under kills (-9) of service, kubelet, API server and pods: none is lost, none has two results`,
  async (context) => {
    const cluster = await useCluster(context);
    const namespace = await useNamespace(cluster.admin);
    const dataFolder = serviceFolder();
    installAudit(dataFolder);
    const recorder = await useRecorder(cluster.address);
    const service = await useServiceProcess(context, { ...cluster, namespace, dataFolder });
    const key = service.apiKey;
    const id = await createEndpoint(service, {
      image: cluster.image,
      env: { PINGS: "1" },
      endpoint: { workersMax: workers, idleTimeout: 60 },
    });

    const accepted = new Set<string>();
    const finished = (): number => [...accepted].filter((job) => recorder.webhooks.has(job)).length;
    const isDone = (): boolean => finished() === jobCount;
    const chance = createChance(chosenSeed());

    async function submitJobs(): Promise<void> {
      const durations = createChance(chance.seed + 1);
      while (accepted.size < jobCount) {
        if (accepted.size - finished() >= backlog) {
          await pause(20);
          continue;
        }
        const input = { do: "token", ms: durations.whole(50, 1000), url: recorder.url };
        const json = { input, webhook: recorder.url };
        const response = await send("POST", `${service.serverlessUrl}/v2/${id}/run`, { key, json }).catch(() => null);
        if (response?.status === 200) accepted.add(stringAt(response, "id"));
        else await pause(50);
      }
    }

    /** Kills a component, which starts again by itself; it is missing shortly after an earlier kill. */
    async function killComponent(component: string): Promise<void> {
      try {
        await cluster.send(component, "KILL");
      } catch (error) {
        if (!/No such process/.test(String(error))) throw error;
        await pause(100);
        await killComponent(component);
      }
    }

    const kills: Record<string, () => Promise<unknown>> = {
      service: async () => {
        await service.end("SIGKILL");
        await service.start();
      },
      kubelet: () => killComponent("kubelet"),
      "API server": () => killComponent("apiserver"),
      pod: async () => {
        const pid = chance.oneOf(await programsWith(`RUNPOD_ENDPOINT_ID=${id}`));
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      },
    };
    const killed: Record<string, number> = {};
    /** Kills in random order, each kind equally often. */
    let turn: string[] = [];
    async function killNext(): Promise<void> {
      if (turn.length === 0) turn = Object.keys(kills);
      const victim = chance.oneOf(turn) ?? "";
      turn = turn.filter((name) => name !== victim);
      await kills[victim]?.();
      killed[victim] = (killed[victim] ?? 0) + 1;
    }
    async function killInTurn(): Promise<void> {
      for (let next = 10; !isDone(); next = finished() + chance.whole(3, 15)) {
        while (finished() < next && !isDone()) await pause(10);
        await killNext();
        if (chance.percent(25)) await killNext();
      }
    }

    const begin = performance.now();
    await Promise.all([submitJobs(), killInTurn()]);
    const seconds = Math.round((performance.now() - begin) / 1000);
    const statuses = new Map<string, Result>();
    for (const job of accepted) {
      const { json } = await send("GET", `${service.serverlessUrl}/v2/${id}/status/${job}`, { key });
      statuses.set(job, resultShape.parse(json));
    }
    await service.end("SIGTERM");

    const book = readRecordBook(dataFolder);
    const records = new Map(book.jobs.map((job) => [job.id, job]));
    const lost: string[] = [];
    const doubled: string[] = [];
    const wrong: string[] = [];
    for (const job of new Set([...accepted, ...records.keys()])) {
      const record = records.get(job);
      if (!record || !finals.has(record.status)) lost.push(job);
      const ends = book.moves.filter(({ jobId, after }) => jobId === job && finals.has(after));
      const status = statuses.get(job);
      const results = [...(recorder.webhooks.get(job) ?? []), ...(status ? [status] : [])];
      const stored = record?.output && JSON.stringify(JSON.parse(record.output));
      const different = new Set([stored, ...results.map(({ output }) => output && JSON.stringify(output))]);
      if (ends.length !== 1 || different.size > 1) doubled.push(job);
      // A job that has crashed three workers fails.
      const isCompleted = record?.status === "COMPLETED" && status?.status !== "FAILED";
      const tokens = recorder.executions.get(job) ?? [];
      const token = results[0]?.output?.token ?? "";
      if (isCompleted ? !tokens.includes(token) : (record?.crashes ?? 0) <= 2) wrong.push(JSON.stringify(record));
    }
    const count = (status: string): number => book.jobs.filter((job) => job.status === status).length;
    const runs = [...recorder.executions.values()];
    const figures = {
      seed: chance.seed,
      seconds,
      accepted: accepted.size,
      completed: count("COMPLETED"),
      failedAfterThreeCrashes: count("FAILED"),
      executions: runs.flat().length,
      ranTwice: runs.filter(({ length }) => length > 1).length,
      requeues: countRequeues(book),
      kills: killed,
    };
    console.info(`DURABILITY_SEED=${chance.seed} repeats the order of kills: ${JSON.stringify(figures)}`);
    expect({ lost, doubled, wrong }, JSON.stringify(figures)).toEqual({ lost: [], doubled: [], wrong: [] });
    expect(figures.requeues).toBeGreaterThan(0);
    // A kill may have prevented the removal of a pod: the next start removes it.
    await service.start();
    await service.end("SIGTERM");
    await expect.poll(() => namesIn(cluster.admin, namespace, "pods"), { timeout: 60_000 }).toEqual([]);
    await expect.poll(() => namesIn(cluster.admin, namespace, "secrets"), { timeout: 60_000 }).toEqual([]);
  },
  jobCount * 5000 + 180_000,
);
