import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { connectToJobs } from "../../../../service/cli/jobs";
import { ensureApiKey } from "../../../../service/store/api-key";
import { writeServiceAddress } from "../../../../service/store/service-address";
import { createEndpoint } from "../../../support/endpoint";
import { type Behaviour, json, startFaultyServer } from "../../../support/faulty-server";
import { scratchFolder } from "../../../support/folders";
import { send } from "../../../support/raw-http";
import { handlerFile } from "../../../support/target";
import { program } from "../workers/support/programs";
import { runLine, useFolder } from "./command";

const folder = useFolder();
const data = join(folder, "service");
let service: Awaited<ReturnType<typeof createService>>;
const handlers = ["echo", "fail", "stream"] as const;

beforeAll(async () => {
  const images = Object.fromEntries(handlers.map((name) => [`acme/${name}:1`, handlerFile(name)]));
  service = await createService({ port: 0, dataFolder: data, images });
  // The first endpoint is a load balancer, which has no jobs.
  const balancer = { type: "LOAD_BALANCER", scaling: { type: "REQUEST_COUNT", requestCount: 1 }, workers: { max: 0 } };
  await createEndpoint(service, "acme/web:1", { name: "balancer", ...balancer });
  for (const name of handlers) await createEndpoint(service, `acme/${name}:1`, { name });
});
afterAll(() => service.stop(0));

/** Occupies a port; returns a function that frees it. */
async function occupy(port: number): Promise<() => void> {
  const server = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
  await once(server, "listening");
  return () => void server.close();
}

const line = (...words: string[]) => runLine(...words, "--data", data);

// test/unit/provider/cli/jobs.test.ts compares the other commands with those of the account's command line.
describe("run", () => {
  test("--sync and --stream wait until the service shows the job, and read streams in an envelope", async () => {
    const late = join(folder, "late");
    const images = Object.fromEntries(handlers.map((name) => [`acme/${name}:1`, handlerFile(name)]));
    const options = { port: 0, dataFolder: late, images, stream: "envelope" as const, jobVisibilityDelay: 700 };
    const lateService = await createService(options);
    try {
      for (const name of handlers) await createEndpoint(lateService, `acme/${name}:1`, { name });
      for (const [words, out] of [
        [["echo", '{"text":"late"}', "--sync"], expect.stringContaining('{"text":"late"}')],
        [["stream", '{"chunks":[0,{"a":1}],"pause":5}', "--stream"], '0\n{"a":1}'],
      ] as const)
        expect(await runLine("run", ...words, "--data", late)).toEqual({ code: 0, err: "", out });
    } finally {
      await lateService.stop(0);
    }
  });

  test.each([["--sync"], ["--stream"]])(
    "%s continues although the service restarts at another port",
    async (option) => {
      const data = join(folder, `restarted${option}`);
      const handler = program("tool.mjs");
      const start = () => createService({ port: 0, dataFolder: data, images: { "acme/tool:1": handler } });
      let current = await start();
      try {
        await createEndpoint(current, "acme/tool:1", { name: "tool" });
        const file = join(folder, `continue${option}`);
        const ended = runLine("run", "tool", JSON.stringify({ do: "waitForFile", file }), option, "--data", data);
        const inProgress = async () => JSON.parse((await runLine("status", "--json", "--data", data)).out);
        await expect.poll(inProgress).toMatchObject({ endpoints: [{ jobs: { inProgress: 1 } }] });
        const { port } = new URL(current.serverlessUrl);
        await current.stop(0);
        onTestFinished(await occupy(Number(port)));
        current = await start();
        expect(new URL(current.serverlessUrl).port).not.toBe(port);
        writeFileSync(file, "");
        const { code, out, err } = await ended;
        expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/\d/) });
        // No read may occur during the restart.
        expect(err).toMatch(/^(the service does not respond; retrying to read job \S+ for 30 s)?$/);
      } finally {
        await current.stop(0);
      }
    },
  );

  test("prints the service's error for input that the service rejects", async () => {
    const { code, err } = await line(
      "run",
      "echo",
      JSON.stringify({ nested: JSON.parse("[".repeat(999) + "]".repeat(999)) }),
    );
    expect(code).toBe(1);
    expect(err).toMatch(/^serverless-compute-local: [^\n]+$/);
  });
});

test.each<[string, Behaviour, retryable: boolean]>([
  ["ends the connection", { action: "hang up" }, true],
  ["sends half of a response", { action: "truncate", status: 200, body: '{"id":"j"}' }, true],
  ["does not respond in time", { action: "hang" }, true],
  ["is stopping", json({ error: "the service is stopping" }, 503), true],
  ["rejects the key", json({ error: "unauthorized" }, 401), false],
])(
  "a request to a service that %s fails with an error that states whether it may end",
  async (_what, behaviour, retryable) => {
    const scratch = scratchFolder();
    ensureApiKey(scratch, undefined);
    const { origin } = await startFaultyServer([behaviour]);
    writeServiceAddress(scratch, { serverlessUrl: origin, pid: process.pid });
    const failure = connectToJobs(scratch).send("GET", "ep", "health", undefined, 200);
    await expect(failure).rejects.toMatchObject({ name: "StartError", retryable });
  },
);

describe("jobs", () => {
  test("prints a table of jobs with their submission times, or that no job has the state", async () => {
    const { id } = JSON.parse((await line("run", "echo", "--sync")).out);
    const { out } = await line("jobs", "echo", "--limit", "1");
    const time = expect.stringMatching(/^\d+ ms$/);
    expect(out.split("\n").map((row) => row.split(/ {2,}/))).toEqual([
      ["JOB", "STATE", "SUBMITTED", "IN QUEUE", "EXECUTION", "ERROR"],
      [id, "COMPLETED", expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/), time, time],
    ]);
    expect(await line("jobs", "fail", "--state", "CANCELLED")).toEqual({
      code: 0,
      out: "",
      err: "The endpoint has no job in state CANCELLED.",
    });
  });

  test("prints the submission time of a job that /runsync submitted", async () => {
    const [, id = ""] = /^(\S+) +echo /m.exec((await line("status")).out) ?? [];
    const path = `${service.serverlessUrl}/v2/${id}/runsync`;
    const { json } = await send("POST", path, { key: service.apiKey, json: { input: {} } });
    const submission = z.object({ id: z.string().startsWith("sync-") }).parse(json);
    const row = (await line("jobs", "echo")).out.split("\n").find((text) => text.startsWith(submission.id));
    expect(row).toMatch(/ COMPLETED +20\d\d-\d\d-\d\dT[\d:.]+Z /);
  });

  test.each([
    ["the first line", "no model\nfile 1", "Error: no model"],
    ["at most 120 characters", "m".repeat(200), `Error: ${"m".repeat(113)}…`],
  ])("jobs prints %s of a long error", async (_what, message, shown) => {
    const rows = async () => (await line("jobs", "fail", "--limit", "1")).out.split("\n");
    await line("run", "fail", JSON.stringify({ message }), "--sync");
    expect((await rows())[1]).toMatch(new RegExp(` ms +${shown}$`));
  });

  test("waits for the time in Retry-After if the service rejects a request for jobs with 429", async () => {
    const [, id = ""] = /^(\S+) +echo /m.exec((await line("status")).out) ?? [];
    service.faults(id, { tooManyRequests: 1 });
    const { code, out } = await line("jobs", "echo", "--state", "COMPLETED");
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^JOB /) });
    expect(service.faults(id)).toEqual({ tooManyRequests: 0 });
  });
});

test.each([["run"], ["jobs"], ["faults"]])("%s reports that no service runs", async (command) => {
  const unused = join(folder, "unused");
  expect(await runLine(command, "echo", "--data", unused)).toEqual({
    code: 1,
    out: "",
    err: `serverless-compute-local: no service uses the folder ${unused}; start one, or pass its folder with --data`,
  });
});

test("/healthz and /readyz respond without a key", async () => {
  for (const path of ["/healthz", "/readyz"]) {
    const { status, json } = await send("GET", `${service.serverlessUrl}${path}`);
    expect({ status, json }).toEqual({ status: 200, json: { status: "ok" } });
  }
});
