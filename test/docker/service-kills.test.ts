import { createClients } from "serverless-compute-api";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { readApiKey } from "../../service/store/api-key";
import { serviceFolder } from "../support/folders";
import { send, stringAt } from "../support/raw-http";
import { command } from "../unit/service/cli/command";
import { containersOf, createEndpoint, useTestEngine } from "./rig";

const rounds = process.env["FULL"] ? 20 : 3;
const firstLine = z.object({ baseUrl: z.string(), graphqlUrl: z.string(), serverlessUrl: z.string() });

/** Starts the service as its own process; resolves when it listens. */
async function startService(host: string, dataFolder: string) {
  const words = ["start", "--port", "0", "--data", dataFolder, "--runtime", "docker", "--json"];
  const service = command(words, { DOCKER_HOST: host });
  const addresses = firstLine.parse(JSON.parse(await service.firstLine()));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    service.child.kill(signal);
    await service.ended;
  };
  return { ...addresses, apiKey: readApiKey(dataFolder) ?? "", end };
}

test(`${rounds} kills (-9) of the service with three containers leave no container, lose no job and run no job twice concurrently`, async (context) => {
  const { host, image, client } = useTestEngine(context);
  const dataFolder = serviceFolder();
  let service = await startService(host, dataFolder);
  onTestFinished(async () => {
    await service.end("SIGTERM");
    expect(await containersOf(client, dataFolder)).toEqual([]);
  });
  // Each run of a job records its beginning and end in the volume.
  const json = { name: "runs", size: 10, dataCenterId: "EU-RO-1" };
  const volume = await send("POST", `${service.baseUrl}/networkvolumes`, { key: service.apiKey, json });
  const networkVolumeId = stringAt(volume, "id");
  const scaling = { workersMin: 3, workersMax: 3, networkVolumeId };
  const id = await createEndpoint(service, { image, endpoint: scaling });

  const ids: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const clients = createClients(service);
    for (let job = 0; job < 6; job++) {
      const { id: jobId } = await clients.jobs.run(id, { input: { do: "trace", ms: 2000 } });
      ids.push(jobId);
    }
    await expect.poll(async () => (await clients.jobs.health(id)).jobs.inProgress).toBe(3);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
    await clients.close();
    const before = await containersOf(client, dataFolder);
    expect(before.length).toBe(3);
    await service.end("SIGKILL");
    service = await startService(host, dataFolder);
    // The service starts no worker before the old containers are removed.
    const old = new Set(before.map(({ Id }) => Id));
    await expect
      .poll(async () => (await containersOf(client, dataFolder)).filter(({ Id }) => old.has(Id)), { timeout: 20_000 })
      .toEqual([]);
  }

  const clients = createClients(service);
  onTestFinished(() => clients.close());
  const runs: { job: string; worker: string; at: number; what: string }[] = [];
  for (const jobId of ids) {
    await expect.poll(async () => (await clients.jobs.status(id, jobId)).status).toBe("COMPLETED");
    const { output } = await clients.jobs.status(id, jobId);
    expect(output).toMatchObject({ job: jobId });
  }
  const traced = await clients.jobs.runsync(id, { input: { do: "read", path: "/runpod-volume/trace" } });
  for (const line of z.string().parse(traced.output).trim().split("\n")) {
    const [what = "", job = "", worker = "", at = ""] = line.split(" ");
    runs.push({ what, job, worker, at: Number(at) });
  }
  for (const jobId of ids) {
    let running: string | undefined;
    for (const { what, worker } of runs.filter(({ job }) => job === jobId)) {
      // A record of another worker after the beginning means that the first worker has ended.
      if (what === "begin") running = worker;
      else expect(worker, `${what} of job ${jobId}`).toBe(running);
    }
  }
}, 900_000);
