import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { readWorkerToken } from "../../service/workers/tokens";
import { freePort } from "../support/loopback";
import { command, type StartedService, startService, useFolder } from "../unit/service/cli/command";
import { countRequeues, installAudit, readRecordBook } from "./audit";
import { type Chance, chosenSeed, createChance, isFull } from "./chance";
import { countCompleted, drained, makeEndpoint, type ServiceAccess, workImage } from "./endpoint";
import { newKnowledge, runHangingJob, runLoad } from "./load";
import { processesLeft } from "./processes";
import { startRemoteWorker } from "./remote-worker";
import { findBreaches } from "./verdict";

const folder = useFolder();
const rounds = isFull ? 50 : 2;
const perRound = 30_000;

const accessOf = ({ addresses, apiKey }: StartedService): ServiceAccess => ({ ...addresses, apiKey });

/** Random moment of the kill: immediately, after a number of responses, or while jobs run. */
function drawMoment(chance: Chance) {
  return {
    accepted: chance.whole(0, 60),
    completed: chance.percent(60) ? chance.whole(1, 30) : 0,
    late: chance.whole(0, 40),
  };
}

test(
  `${rounds} kills (-9) of the service: every accepted job ends exactly once and correctly`,
  async () => {
    const chance = createChance(chosenSeed());
    const data = join(folder, "data");
    const handler = join(folder, "work.mjs");
    await copyFile(fileURLToPath(new URL("handlers/work.mjs", import.meta.url)), handler);
    installAudit(data);
    // The service keeps its port across restarts, like a developer's.
    const flags = ["--port", String(await freePort()), "--image", `${workImage}=${handler}`];
    const first = await startService(data, ...flags);
    const endpointIds = [await makeEndpoint(accessOf(first), "two", 2), await makeEndpoint(accessOf(first), "one", 1)];
    // An endpoint whose jobs run only on remote workers.
    const far = await makeEndpoint(accessOf(first), "far", 0);
    endpointIds.push(far);
    const stopRemoteWorkers = new AbortController();
    onTestFinished(() => stopRemoteWorkers.abort());
    const token = readWorkerToken(data, far) ?? "";
    const remoteWorkers = ["far-1", "far-2"].map((name) =>
      startRemoteWorker(`${first.addresses.serverlessUrl}/v2/${far}`, token, name, stopRemoteWorkers.signal),
    );
    const knowledge = newKnowledge();
    const orphans: string[] = [];
    let stderr = "";

    async function kill(service: Pick<StartedService, "child" | "ended">, round: number): Promise<void> {
      service.child.kill("SIGKILL");
      stderr += (await service.ended).stderr;
      const remaining = await processesLeft(handler);
      if (remaining.length > 0)
        orphans.push(`round ${round}: worker processes ${remaining.join(", ")} outlived their service`);
    }

    let service = first;
    for (let round = 1; round <= rounds; round++) {
      const moment = drawMoment(chance);
      const ending = new AbortController();
      const access = accessOf(service);
      const acceptedBefore = knowledge.accepted.size;
      const completedBefore = await countCompleted(access, endpointIds);
      const target = { ...access, endpointIds };
      const load = runLoad(6, { target, chance, knowledge, round, longestJob: 60, cancels: 10, until: ending.signal });
      const end = Date.now() + perRound / 2;
      while (knowledge.accepted.size - acceptedBefore < moment.accepted && Date.now() < end) await pause(2);
      while ((await countCompleted(access, endpointIds)) - completedBefore < moment.completed && Date.now() < end)
        await pause(10);
      await pause(moment.late);
      // On any machine, the first kill happens while a job runs.
      if (round === 1) await runHangingJob({ target, knowledge, round }, endpointIds[0] ?? "", handler);
      ending.abort();
      await kill(service, round);
      await load;
      if (chance.percent(30)) {
        const starting = command(["start", "--data", data, "--json", ...flags]);
        await pause(chance.whole(0, 1500));
        await kill(starting, round);
      }
      service = await startService(data, ...flags);
    }

    const remainingJobs = await drained(accessOf(service), endpointIds, 120_000);
    await kill(service, rounds + 1);
    stopRemoteWorkers.abort();
    await Promise.all(remoteWorkers.map(({ ended }) => ended));
    const book = readRecordBook(data);
    const requeued = countRequeues(book);
    const reported = `DURABILITY_SEED=${chance.seed} repeats it; ${knowledge.accepted.size} jobs accepted, ${book.jobs.length} in the record, ${requeued} requeues, ${knowledge.throttled} throttled; stderr: ${stderr}`;
    console.info(reported);
    expect([remainingJobs, ...orphans, ...findBreaches(book, knowledge)].filter(Boolean), reported).toEqual([]);
    expect(book.jobs.length, reported).toBeGreaterThanOrEqual(knowledge.accepted.size);
    expect(requeued, `no kill happened while a job ran; ${reported}`).toBeGreaterThan(0);
    const runs = remoteWorkers.flatMap((worker) => [...worker.runs]);
    expect(new Set(runs.map(([id]) => id)).size, `jobs ran twice on remote workers; ${reported}`).toBe(runs.length);
    expect(runs.filter(([, times]) => times > 1)).toEqual([]);
    expect(runs.length).toBeGreaterThan(0);
  },
  rounds * perRound + 180_000,
);
