import { writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { useLocalService } from "../../../support/local-service";
import { OffsetClock } from "../../../support/offset-clock";
import { images, scratchFile, shortTimings } from "./support/programs";

/** A test timeout in ms, longer than the response timeout of the engine. */
const tooLong = 10_000;

/** Starts a service whose Docker Engine accepts connections and never responds; `connectionCount` returns their number. */
async function useSilentEngine() {
  const path = scratchFile("docker.sock");
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    // A socket that is not read does not detect a disconnection.
    sockets.push(socket.on("error", () => undefined).resume());
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  vi.stubEnv("DOCKER_HOST", `unix://${path}`);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const clock = new OffsetClock();
  const rig = await useLocalService({ images, timings: { ...shortTimings, pollHold: 100 }, runtime: "auto", clock });
  return { rig, clock, jobs: await rig.jobsOn("tool"), connectionCount: () => sockets.length };
}

test("an unresponsive engine is not used for images with a command, and delays no other endpoint", async () => {
  const { rig, clock, jobs, connectionCount } = await useSilentEngine();
  expect(await jobs.reaches(await jobs.submit({ do: "pid" }))).toMatchObject({ status: "COMPLETED" });
  expect(connectionCount()).toBe(0);

  const container = await rig.jobsOn("acme/container:1");
  const waiting = await container.submit({});
  await expect.poll(connectionCount).toBe(1);
  // The image may still run, so /health reports no problem.
  expect(await container.health()).not.toHaveProperty("message");
  expect(await jobs.reaches(await jobs.submit({ do: "pid" }))).toMatchObject({ status: "COMPLETED" });
  await clock.advance(tooLong);
  await container.healthBecomes(({ message = "" }) =>
    /the Docker Engine at .* does not respond: .*in time/.test(message),
  );
  expect(await container.reaches(waiting, "IN_QUEUE")).not.toHaveProperty("error");
});

test("an engine that may run containers of a killed service is checked before any worker starts", async () => {
  const { rig, clock, jobs, connectionCount } = await useSilentEngine();
  await rig.stop();
  writeFileSync(join(rig.dataFolder, "containers"), "");
  await rig.restart();
  const id = await jobs.submit({ do: "pid" });
  await expect.poll(connectionCount).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await jobs.health()).workers).toMatchObject({ initializing: 0, idle: 0, running: 0 });
  await clock.advance(tooLong);
  expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED" });
});
