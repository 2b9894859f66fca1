import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { useJobRig } from "../jobs/support/job-rig";
import { images, shortTimings } from "./support/programs";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** A socket that accepts connections and never responds, in place of the container engine's. */
async function useSilentEngine() {
  const folder = await mkdtemp(join(tmpdir(), "silent-engine-"));
  const path = join(folder, "docker.sock");
  const sockets: Socket[] = [];
  const ends: number[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => undefined).on("close", () => ends.push(Date.now())));
    // Unread, it would not notice that the other side is gone.
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const before = process.env["DOCKER_HOST"];
  process.env["DOCKER_HOST"] = `unix://${path}`;
  onTestFinished(async () => {
    process.env["DOCKER_HOST"] = before;
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });
  return {
    /** How many connections there were. */
    asked: () => sockets.length,
    /** Times at which finished requests were aborted. */
    ends,
  };
}

test("an unresponsive engine is not used for images with a command, and delays no other endpoint", async () => {
  const { asked } = await useSilentEngine();
  const rig = await useJobRig({ images, timings: { ...shortTimings, takeHold: 100 }, runtime: "auto" });
  const mapped = await rig.endpoint("tool");
  expect(await mapped.reaches(await mapped.run({ do: "pid" }))).toMatchObject({ status: "COMPLETED" });
  expect(asked()).toBe(0);

  const container = await rig.endpoint("acme/container:1");
  const waiting = await container.run({});
  await expect.poll(asked, { timeout: 20_000 }).toBe(1);
  // Whether it will run is unknown, so /health reports no problem.
  expect(await container.health()).not.toHaveProperty("message");
  expect(await mapped.reaches(await mapped.run({ do: "pid" }))).toMatchObject({ status: "COMPLETED" });
  await container.healthBecomes(({ message = "" }) => /no Docker Engine responds at .*in time/.test(message));
  expect(await container.reaches(waiting, "IN_QUEUE")).not.toHaveProperty("error");
});

test("an engine that may run containers of a killed service is checked before any worker starts", async () => {
  const { asked, ends } = await useSilentEngine();
  const rig = await useJobRig({ images, timings: shortTimings, runtime: "auto" });
  const jobs = await rig.endpoint("tool");
  await rig.stop();
  writeFileSync(join(rig.dataFolder, "containers"), "");
  await rig.restart();
  await expect.poll(asked, { timeout: 20_000 }).toBe(1);
  expect(await jobs.reaches(await jobs.run({ do: "pid" }))).toMatchObject({ status: "COMPLETED" });
  // The engine has 3 s, and this process notices the closed connection a moment later.
  const [startedAt = ""] = (await rig.workerLog(jobs.id)).split(" ");
  expect(Date.parse(startedAt)).toBeGreaterThan((ends[0] ?? Number.POSITIVE_INFINITY) - 1000);
});
