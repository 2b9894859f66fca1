import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { systemClock } from "serverless-compute-api/clock";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createContainers } from "../../../../service/workers/containers/containers";

/** A Docker Engine that rejects a size limit with a message, and ends each container immediately. */
async function useEngine(refusal: { status: number; message: string }) {
  const creates: boolean[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const path = request.url?.split("?")[0] ?? "";
    const send = (status: number, json: unknown): unknown => response.writeHead(status).end(JSON.stringify(json));
    if (path === "/info") return send(200, { NCPU: 2 });
    if (path === "/networks" || path === "/containers/json") return send(200, []);
    if (path === "/containers/create") {
      const hasLimit = body.includes("StorageOpt");
      creates.push(hasLimit);
      return hasLimit ? send(refusal.status, { message: refusal.message }) : send(201, { Id: "c1" });
    }
    if (path.endsWith("/attach")) return response.writeHead(200).end();
    return send(200, { StatusCode: 0 });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const dataFolder = await mkdtemp(join(tmpdir(), "disk-limits-"));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const notes: unknown[] = [];
  const note = (...words: unknown[]): void => void notes.push(words.at(-1));
  const containers = createContainers({
    address: () => ({ shown: "the engine of this test", host: "127.0.0.1", port }),
    ...{ dataFolder, gpuMode: "none", clock: systemClock, log: { info: note, warn: note } },
    listen: async () => 1,
  });
  onTestFinished(async () => {
    await containers.close();
    server.closeAllConnections();
    server.close();
    await rm(dataFolder, { recursive: true });
  });
  await containers.open(true);
  const run = () =>
    containers.start({
      ...{ endpointId: "e1", workerId: "w1", image: "acme/echo:1", cmd: [], env: () => ({}), onLine: () => undefined },
      needs: {
        ...{ entrypoint: [], registryAuth: undefined, volumeId: undefined, mountPaths: [], cpu: undefined },
        ...{ diskInGb: 5, gpus: 0 },
      },
    }).ended;
  return { creates, notes, run };
}

test.each([
  ["vfs", 501, "Filesystem does not support, or has not enabled quotas"],
  ["vfs of an older engine", 500, "error creating read-write layer: quota not supported on this filesystem"],
  ["overlay2", 400, "--storage-opt is supported only for overlay over xfs with 'pquota' mount option"],
])("a container starts without a size limit if the storage driver %s has none", async (_driver, status, message) => {
  const { creates, notes, run } = await useEngine({ status, message });
  expect(await run()).toMatchObject({ clean: true });
  expect(await run()).toMatchObject({ clean: true });
  expect(creates).toEqual([true, false, false]);
  expect(notes).toEqual([expect.stringContaining("containerDiskInGb has no effect")]);
});

test("a full disk does not remove the size limit", async () => {
  const { creates, run } = await useEngine({ status: 500, message: "mkdir /var/lib/docker: disk quota exceeded" });
  await expect(run()).resolves.toMatchObject({ clean: false });
  expect(creates).toEqual([true]);
});
