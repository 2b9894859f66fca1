import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { type Clock, systemClock } from "serverless-compute-api/clock";
import { expect, onTestFinished, test, vi } from "vitest";
import { steadyClock } from "../../../../service/steady-clock";
import { createContainers } from "../../../../service/workers/runtimes/container/containers";
import { splitOutput } from "../../../../service/workers/runtimes/container/output";
import { openPulledImages } from "../../../../service/workers/runtimes/container/pulled-images";
import type { ServerPorts } from "../../../../service/workers/worker-server";
import { scratchFolder } from "../../../support/folders";
import { useLocalService } from "../../../support/local-service";
import { OffsetClock } from "../../../support/offset-clock";
import { plainNeeds } from "./support/container-needs";
import { useDockerEngine } from "./support/docker-engine";

/** Creates the containers of an engine; `notes` receives the log. */
function containersAt(port: number, notes: unknown[] = [], clock: Clock = systemClock) {
  const log = (...words: unknown[]): void => void notes.push(words.at(-1));
  const dataFolder = scratchFolder();
  const containers = createContainers({
    address: () => ({ displayUrl: "the engine of this test", host: "127.0.0.1", port }),
    dataFolder,
    gpuMode: "auto",
    clock: steadyClock(clock),
    log: { info: log, warn: log },
    listen: async () => 1,
    isRequired: true,
    withoutEngine: (_request, reason) => ({ error: reason }),
  });
  onTestFinished(() => containers.close().catch(() => undefined));
  return { ...containers, dataFolder };
}

/** Creates containers with an engine that rejects a size limit with a message. */
async function useEngine(
  rejection?: { status: number; message: string },
  state: Parameters<typeof useDockerEngine>[1] = {},
  clock?: Clock,
) {
  const creates: boolean[] = [];
  const bodies: unknown[] = [];
  const port = await useDockerEngine((body) => {
    const hasLimit = body.includes("StorageOpt");
    creates.push(hasLimit);
    bodies.push(JSON.parse(body));
    return hasLimit && rejection ? { status: rejection.status, json: rejection } : { status: 201, json: { Id: "c1" } };
  }, state);
  const notes: unknown[] = [];
  const containers = containersAt(port, notes, clock);
  const opened = containers.open();
  opened.catch(() => undefined);
  if (!state.intercept) expect((await opened).survivors).toEqual([]);
  const environment = {
    image: "acme/echo:1",
    dockerArgs: "",
    env: {},
    secretValues: [],
    container: { ...plainNeeds, gpus: 1 },
  };
  const lines: string[] = [];
  const prepare = (serverPorts?: ServerPorts) =>
    containers.prepare({ ...environment, serverPorts, program: undefined });
  const start = (workerId = "w1", serverPorts?: ServerPorts) => {
    const preparation = prepare(serverPorts);
    if (!("start" in preparation)) throw new Error("no engine responds");
    const worker = {
      endpointId: "e1",
      workerId,
      environment,
      env: () => ({}),
      configuration: "",
      onLine: (line: string) => void lines.push(line),
    };
    return preparation.start(worker);
  };
  return { containers, opened, creates, bodies, notes, lines, prepare, start, run: () => start().ended };
}

test.each([
  ["vfs", 501, "Filesystem does not support, or has not enabled quotas"],
  ["vfs of an older engine", 500, "error creating read-write layer: quota not supported on this filesystem"],
  ["overlay2", 400, "--storage-opt is supported only for overlay over xfs with 'pquota' mount option"],
])(
  "a container starts without a size limit if the storage driver %s does not support it",
  async (_driver, status, message) => {
    const { creates, notes, run } = await useEngine({ status, message });
    expect(await run()).toMatchObject({ clean: true });
    expect(await run()).toMatchObject({ clean: true });
    expect(creates).toEqual([true, false, false]);
    expect(notes).toEqual([expect.stringContaining("containerDiskInGb has no effect")]);
  },
);

test("a full disk does not remove the size limit", async () => {
  const { creates, run } = await useEngine({ status: 500, message: "mkdir /var/lib/docker: disk quota exceeded" });
  await expect(run()).resolves.toMatchObject({ clean: false });
  expect(creates).toEqual([true]);
});

test("containers of an earlier service are removed at the start", async () => {
  const ids = ["a", "b"];
  const { notes } = await useEngine(undefined, { ids });
  expect([ids, notes]).toEqual([[], ["removed containers left by an earlier service"]]);
});

test.each(["GET /images/", "GET /networks/"])(
  "containers of the service run on while it connects again after a failed call %s",
  async (failed) => {
    let isAway = false;
    const [ids, calls]: [string[], string[]] = [[], []];
    const intercept = (call: string, request: IncomingMessage): boolean => {
      if (!isAway || !call.startsWith(failed)) return false;
      request.socket.destroy();
      return true;
    };
    const { opened, start, prepare } = await useEngine(undefined, { ids, calls, killStatus: 204, intercept });
    await opened;
    await start("w1").started;
    ids.push("c1");
    isAway = true;
    expect((await start("w2").ended).description).toContain("could not be started: the Docker Engine");
    isAway = false;
    await expect.poll(() => prepare()).toHaveProperty("start");
    expect(ids).toEqual(["c1"]);
    expect(calls.filter((call) => call.startsWith("DELETE"))).toEqual([]);
  },
);

test("a failed call of one worker interrupts no pull of another", async () => {
  let imageCalls = 0;
  const pulls: ServerResponse[] = [];
  const intercept = (call: string, request: IncomingMessage, response: ServerResponse): boolean => {
    if (call === "POST /images/create") pulls.push(response);
    else if (!call.startsWith("GET /images/")) return false;
    else if (++imageCalls > 1) request.destroy();
    else response.writeHead(404).end("{}");
    return true;
  };
  const { opened, start } = await useEngine(undefined, { intercept });
  await opened;
  const pulling = start("w1");
  await expect.poll(() => pulls).toHaveLength(1);
  expect((await start("w2").ended).description).toContain("does not respond");
  pulls[0]?.end("{}\n");
  expect(await pulling.ended).toMatchObject({ clean: true });
});

const silentCalls = [
  "GET /info",
  "GET /containers/json",
  "DELETE /containers/old",
  "GET /networks",
  "GET /networks/",
  "GET /images/acme/echo:1/json",
  "POST /images/create",
  "POST /containers/create",
  "POST /containers/serverless-compute-w1/wait",
  "POST /containers/serverless-compute-w1/attach",
  "POST /containers/serverless-compute-w1/start",
  "POST /containers/serverless-compute-w1/kill",
  "GET /containers/serverless-compute-w1/json",
  "DELETE /containers/serverless-compute-w1",
  "GET /events",
  "DELETE /images/unused",
];
test.each(silentCalls)("an engine that never responds to %s delays no start and no end for ever", async (silent) => {
  const clock = new OffsetClock();
  let ticks: NodeJS.Timeout | undefined;
  const intercept = (call: string, _request: IncomingMessage, response: ServerResponse): boolean => {
    if (call === silent || (silent.endsWith("/") && call.startsWith(silent))) {
      ticks ??= setInterval(() => void clock.advance(100_000), 20);
      return true;
    }
    if (silent !== "POST /images/create" || !call.startsWith("GET /images/")) return false;
    response.writeHead(404).end("{}");
    return true;
  };
  onTestFinished(() => clearInterval(ticks));
  // The engine is called for events of a container that ended itself.
  const end = silent === "GET /events" ? {} : { killStatus: 204 };
  const state = { ids: ["old"], exitCode: 137, intercept, ...end };
  const { containers, opened, start, prepare } = await useEngine(undefined, state, clock);
  await opened.catch((error: unknown) => expect(String(error)).toContain("does not respond"));
  openPulledImages(containers.dataFolder).add("unused");
  await containers.removeUnusedImages(new Set()).catch(() => undefined);
  if ("start" in prepare()) {
    const process = start("w1", { port: 80, healthPort: 80, healthPath: "/ping" });
    await Promise.race([process.started, process.ended, clock.sleep(100_000)]);
    await Promise.race([process.server?.catch(() => undefined), process.ended, clock.sleep(100_000)]);
    process.stop(0);
    await process.ended;
  } else expect(prepare()).toMatchObject({ error: expect.stringContaining("does not respond") });
  await containers.close().catch(() => undefined);
  expect(ticks).toBeDefined();
});

test("a container gets GPUs if the engine has their runtime", async () => {
  const { bodies, run } = await useEngine();
  await run();
  expect(bodies).toMatchObject([{ HostConfig: { DeviceRequests: [{ Count: 1 }] } }]);
});

test.each([
  ["c1", "ran out of memory and was killed"],
  ["c2", "ended with exit code 137 (signal 9)"],
])("after an event that %s ran out of memory, the killed container c1 %s", async (outOfMemory, description) => {
  const { run } = await useEngine(undefined, { exitCode: 137, outOfMemory });
  expect(await run()).toMatchObject({ description, clean: false });
});

test.each([
  [500, ["no signal arrived"]],
  [404, []],
  [409, []],
])("a container's log contains a failed signal, unless the container has ended: status %i", async (killStatus, log) => {
  const { start, lines } = await useEngine(undefined, { killStatus });
  const { started, ended, stop, kill } = start();
  await started;
  stop(60_000);
  await expect.poll(() => lines.slice(1)).toEqual(log);
  kill();
  await ended;
  expect(lines.slice(1)).toEqual(log);
});

test("pulled images are removed when no endpoint uses them: at the start, and with the last endpoint", async () => {
  const removedImages: string[] = [];
  const port = await useDockerEngine(() => ({ status: 500, json: {} }), { removedImages });
  vi.stubEnv("DOCKER_HOST", `tcp://127.0.0.1:${port}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const local = await useLocalService({ runtime: "docker" });
  const endpoint = await local.endpoint({ templateId: await local.template({ imageName: "used" }) });
  const pulledImages = openPulledImages(local.dataFolder);
  for (const image of ["used", "unused"]) pulledImages.add(image);
  await local.restart();
  await expect.poll(() => removedImages).toEqual(["unused"]);
  await local.rest("DELETE", `/endpoints/${endpoint}`);
  await expect.poll(() => removedImages).toEqual(["unused", "used"]);
});

test("the firewall is a possible obstacle once the container's address of the service is known", async () => {
  const { start } = await useEngine();
  const { ended, obstacle } = start();
  expect(obstacle?.()).toBeUndefined();
  await ended;
  expect(obstacle?.()).toMatch(
    /^no request from its container serverless-compute-w1 arrived at host.docker.internal:1; /,
  );
});

/** A part of a container's output as the engine multiplexes it. */
function frame(stream: number, part: string): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(stream, 0);
  header.writeUInt32BE(Buffer.byteLength(part), 4);
  return Buffer.concat([header, Buffer.from(part)]);
}

test.each([1, 3, 1000])(
  "the output of a container is split by stream if it arrives in chunks of %i bytes",
  async (size) => {
    const bytes = Buffer.concat([frame(1, "one\n"), frame(2, "an error\n"), frame(1, ""), frame(1, "two\n")]);
    const count = Math.ceil(bytes.length / size);
    const chunks = Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    const { stdout, stderr } = splitOutput(Readable.from(chunks));
    expect(await Promise.all([text(stdout), text(stderr)])).toEqual(["one\ntwo\n", "an error\n"]);
  },
);

test("the output of a container ends with its connection", async () => {
  const attached = new PassThrough();
  const { stdout, stderr } = splitOutput(attached);
  attached.destroy(new Error("connection reset"));
  expect(await Promise.all([text(stdout), text(stderr)])).toEqual(["", ""]);
});

test("without the required engine the service does not start, and names the reason", async () => {
  const failure =
    'runtime "docker": the Docker Engine at the engine of this test does not respond: connect ECONNREFUSED';
  await expect(containersAt(1).open()).rejects.toThrow(failure);
});
