import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createService } from "serverless-compute-local";
import { afterAll, expect, test } from "vitest";
import { serviceFolder } from "../support/folders";
import { at, send } from "../support/raw-http";
import { logTails } from "../support/service-artefacts";
import { countRequeues, installAudit, type JobRecordBook, readRecordBook } from "./audit";
import { chosenSeed, createChance, isFull } from "./chance";
import { drained, makeEndpoint, workersReady, workImage } from "./endpoint";
import { newKnowledge, runHangingJob, runLoad } from "./load";
import { processesLeft, processesNaming } from "./processes";
import { findBreaches } from "./verdict";

const folder = serviceFolder(afterAll);
const rounds = isFull ? 50 : 2;
const perRound = 30_000;
const timings = { startBackoff: 10, startBackoffMax: 50 };

/** Differences between the records and the counts of retried and finished jobs in /health. */
function wrongHealth(endpointId: string, health: unknown, { jobs }: JobRecordBook): string[] {
  const endpointJobs = jobs.filter((job) => job.endpointId === endpointId);
  const real = {
    completed: endpointJobs.filter(({ status }) => status === "COMPLETED").length,
    failed: endpointJobs.filter(({ status }) => status === "FAILED").length,
    retried: endpointJobs.reduce((sum, { retries }) => sum + retries, 0),
    inProgress: 0,
    inQueue: 0,
  };
  const wrong = Object.entries(real).filter(([name, count]) => at(health, "jobs", name) !== count);
  if (wrong.length === 0) return [];
  return [`/health of ${endpointId} says ${JSON.stringify(health)}, the records ${JSON.stringify(real)}`];
}

test(
  `${rounds} rounds of worker kills (-9): every job ends correctly, and /health matches the records`,
  async () => {
    const chance = createChance(chosenSeed());
    const data = join(folder, "data");
    const handler = join(folder, "work.mjs");
    await copyFile(fileURLToPath(new URL("handlers/work.mjs", import.meta.url)), handler);
    installAudit(data);
    const service = await createService({ port: 0, dataFolder: data, images: { [workImage]: handler }, timings });
    const endpointIds = [await makeEndpoint(service, "two", 2), await makeEndpoint(service, "one", 1)];
    const knowledge = newKnowledge();
    const stuck: string[] = [];
    let kills = 0;

    function kill(pid: number | undefined): void {
      if (pid === undefined) return;
      try {
        process.kill(pid, "SIGKILL");
        kills++;
      } catch {
        // The process ended after the listing.
      }
    }

    for (let round = 1; round <= rounds && stuck.length === 0; round++) {
      const ending = new AbortController();
      const target = { ...service, endpointIds };
      // Workers of short jobs are killed while they request or finish jobs, workers of long jobs while they run them.
      const longestJob = chance.percent(50) ? 3 : 30;
      const load = runLoad(4, { target, chance, knowledge, round, longestJob, cancels: 5, until: ending.signal });
      for (let remaining = chance.whole(2, 5); remaining > 0; remaining--) {
        // Another rule: three consecutive workers that end before they request a job fail the queued jobs.
        await workersReady(service, endpointIds, 30_000);
        await pause(chance.whole(0, 200));
        kill(chance.oneOf(processesNaming(handler)));
      }
      // On any machine, one kill happens while a job runs.
      if (round === 1) {
        await runHangingJob({ target, knowledge, round }, endpointIds[0] ?? "", handler);
        for (const pid of processesNaming(handler)) kill(pid);
      }
      ending.abort();
      await load;
      const remainingJobs = await drained(service, endpointIds, 120_000);
      if (remainingJobs) stuck.push(`round ${round}: ${remainingJobs}`);
    }

    const healthResponses = await Promise.all(
      endpointIds.map((id) => send("GET", `${service.serverlessUrl}/v2/${id}/health`, { key: service.apiKey })),
    );
    const logs = await logTails(data);
    await service.stop(0);
    const orphans = await processesLeft(handler);
    const book = readRecordBook(data);
    const requeues = countRequeues(book);
    const reported = `DURABILITY_SEED=${chance.seed} repeats it; ${kills} workers killed, ${knowledge.accepted.size} jobs accepted, ${requeues} requeues\n${logs}`;
    console.info(reported.split("\n")[0]);
    expect([...stuck, ...findBreaches(book, knowledge)], reported).toEqual([]);
    expect(
      healthResponses.flatMap(({ json }, index) => wrongHealth(endpointIds[index] ?? "", json, book)),
      reported,
    ).toEqual([]);
    expect(orphans, "workers outlived the service").toEqual([]);
    expect(requeues, `no worker was killed while it ran a job; ${reported}`).toBeGreaterThan(0);
  },
  rounds * perRound + 180_000,
);
