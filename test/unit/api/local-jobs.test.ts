import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClients, type JobRecord, type StreamChunk } from "serverless-compute-api";
import { createService } from "serverless-compute-local";
import { expect, onTestFinished, test } from "vitest";
import { templateInput } from "../../support/records";
import { discardServiceFolder } from "../../support/service-artefacts";

const image = "h/stream";
const images = { [image]: fileURLToPath(new URL("../../conformance/handlers/stream.mjs", import.meta.url)) };

/** Clients of a fresh local service with one endpoint that runs the handler "stream". */
async function startEndpoint(stream: "array" | "envelope") {
  const dataFolder = await mkdtemp(join(tmpdir(), "jobs-"));
  const service = await createService({ port: 0, dataFolder, images, stream });
  const clients = createClients(service);
  onTestFinished(async () => {
    await clients.close();
    await service.stop(0);
    await discardServiceFolder(dataFolder);
  });
  const template = await clients.management.createTemplate({ ...templateInput, imageName: image, isServerless: true });
  const endpoint = await clients.management.createEndpoint({ name: "jobs", templateId: template.id, workersMax: 1 });
  const until = async (jobId: string, ...states: JobRecord["status"][]) => {
    await expect.poll(async () => (await clients.jobs.status(endpoint.id, jobId)).status).toBeOneOf(states);
    return clients.jobs.status(endpoint.id, jobId);
  };
  return { ...clients, id: endpoint.id, until };
}

test.each(["array", "envelope"] as const)("a stream of the form %s returns each chunk once", async (form) => {
  const { jobs, id, until } = await startEndpoint(form);
  const { id: jobId } = await jobs.run(id, { input: { chunks: ["a", "b", "c", "d"], pause: 20 } });
  const chunks: StreamChunk[] = [];
  for await (const chunk of jobs.stream(id, jobId)) chunks.push(chunk);
  const record = await until(jobId, "COMPLETED");
  expect(chunks.map(({ output }) => output)).toEqual(["a", "b", "c", "d"]);
  expect(record.status).toBe("COMPLETED");
});
