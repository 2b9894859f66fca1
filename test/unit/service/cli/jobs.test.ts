import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createEndpoint } from "../../../support/endpoint";
import { send } from "../../../support/raw-http";
import { handlerFile } from "../../../support/target";
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

const line = (...words: string[]) => runLine(...words, "--data", data);

describe("run", () => {
  test("prints the response of /run; job prints the record of that job", async () => {
    const submitted = await line("run", "echo", '{"text":"one"}');
    expect(submitted).toMatchObject({ code: 0, err: "" });
    const { id } = JSON.parse(submitted.out);
    expect(JSON.parse(submitted.out)).toEqual({ id, status: "IN_QUEUE" });
    await expect
      .poll(async () => JSON.parse((await line("job", id)).out))
      .toMatchObject({ id, status: "COMPLETED", output: { text: "one" } });
  });

  test("--sync prints the finished job's record; the endpoint may be named by its id", async () => {
    const [, id = ""] = /^(\S+) +echo /m.exec((await line("status")).out) ?? [];
    const { code, out } = await line("run", id, '{"text":"two"}', "--sync");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: "COMPLETED", output: { text: "two" } });
  });

  test("--sync of a job that fails prints its record and exits with 1", async () => {
    const { code, out, err } = await line("run", "fail", '{"message":"no model"}', "--sync");
    const { id, status, error } = JSON.parse(out);
    expect({ status, error }).toEqual({ status: "FAILED", error: expect.stringContaining("no model") });
    expect({ code, err }).toEqual({ code: 1, err: `serverless-compute-local: job ${id} FAILED` });
  });

  test.each(["--sync", "--stream"])("%s waits until the service shows the job", async (flag) => {
    const late = join(folder, "late");
    const images = { "acme/echo:1": handlerFile("echo") };
    const lateService = await createService({ port: 0, dataFolder: late, images, jobVisibilityDelay: 700 });
    try {
      await createEndpoint(lateService, "acme/echo:1", { name: `echo${flag}` });
      const { code, out, err } = await runLine("run", `echo${flag}`, '{"text":"late"}', flag, "--data", late);
      expect({ code, err, out }).toEqual({ code: 0, err: "", out: expect.stringContaining('{"text":"late"}') });
    } finally {
      await lateService.stop(0);
    }
  });

  test("--stream prints each chunk as a line of JSON", async () => {
    const { code, out } = await line("run", "stream", '{"chunks":[0,{"a":1},"x"],"pause":5}', "--stream");
    expect({ code, lines: out.split("\n") }).toEqual({ code: 0, lines: ["0", '{"a":1}', '"x"'] });
  });

  test.each(["array", "envelope"] as const)("--stream prints numbers as the worker sent them: %s", async (stream) => {
    const exact = join(folder, `exact-${stream}`);
    const handler = join(folder, "exact.mjs");
    const chunks = ["12345678901234567890", "1.0", '{"a":[1e400]}'];
    // A value of a JavaScript handler would be rounded, so it writes to the pipe of its worker.
    await writeFile(
      handler,
      `import { writeSync } from "node:fs";
      export default ({ id }) => {
        for (const chunk of ${JSON.stringify(chunks)}) writeSync(3, \`{"id":"\${id}","chunk":\${chunk}}\\n\`);
        return null;
      };`,
    );
    const exactService = await createService({
      port: 0,
      dataFolder: exact,
      images: { "acme/exact:1": handler },
      stream,
    });
    try {
      await createEndpoint(exactService, "acme/exact:1", { name: "exact" });
      const { code, out } = await runLine("run", "exact", "{}", "--stream", "--data", exact);
      expect({ code, lines: out.split("\n") }).toEqual({ code: 0, lines: chunks });
    } finally {
      await exactService.stop(0);
    }
  });

  test("--stream prints the output of a handler that does not stream", async () => {
    const { code, out } = await line("run", "echo", '{"text":"three"}', "--stream");
    expect({ code, out }).toEqual({ code: 0, out: '{"text":"three"}' });
    const failed = await line("run", "fail", '{"message":"no model"}', "--stream");
    expect(failed).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/: job \S+ FAILED: .*no model/) });
  });

  test("prints the service's error for input that the service rejects", async () => {
    const { code, err } = await line(
      "run",
      "echo",
      JSON.stringify({ nested: JSON.parse("[".repeat(999) + "]".repeat(999)) }),
    );
    expect(code).toBe(1);
    expect(err).toMatch(/^serverless-compute-local: [^\n]+$/);
  });

  test.each([["[1]"], ["text"], ['{"a":']])("rejects input %s before it connects", async (input) => {
    const { code, err } = await line("run", "echo", input);
    expect(code).toBe(2);
    expect(err).toContain("It must be a JSON object.");
  });

  test("accepts only one of --sync and --stream", async () => {
    expect(await line("run", "echo", "--sync", "--stream")).toMatchObject({ code: 2, out: "" });
  });
});

describe("jobs, cancel and retry", () => {
  test("jobs prints an endpoint's jobs with their submission times, newest first, by state and up to a limit", async () => {
    const ids: string[] = [];
    const isoTime = /^20\d\d-\d\d-\d\dT[\d:.]+Z$/;
    for (const text of ["a", "b", "c"]) {
      const { out } = await line("run", "echo", JSON.stringify({ text }), "--sync");
      ids.push(JSON.parse(out).id);
    }
    const { out } = await line("jobs", "echo", "--limit", "2");
    expect(out.split("\n").map((row) => row.split(/ {2,}/))).toEqual([
      ["JOB", "STATE", "SUBMITTED", "IN QUEUE", "EXECUTION", "ERROR"],
      [
        ids[2],
        "COMPLETED",
        expect.stringMatching(isoTime),
        expect.stringMatching(/^\d+ ms$/),
        expect.stringMatching(/^\d+ ms$/),
      ],
      [
        ids[1],
        "COMPLETED",
        expect.stringMatching(isoTime),
        expect.stringMatching(/^\d+ ms$/),
        expect.stringMatching(/^\d+ ms$/),
      ],
    ]);
    await line("run", "fail", '{"message":"no model"}', "--sync");
    expect((await line("jobs", "fail", "--state", "FAILED")).out).toMatch(/\n\S+ +FAILED .*no model/);
    expect(await line("jobs", "fail", "--state", "CANCELLED")).toEqual({
      code: 0,
      out: "",
      err: "The endpoint has no job in state CANCELLED.",
    });
    expect(await line("jobs", "fail", "--state", "done")).toEqual({
      code: 2,
      out: "",
      err: expect.stringContaining(
        "Allowed choices are IN_QUEUE, IN_PROGRESS, COMPLETED, FAILED, CANCELLED, TIMED_OUT.",
      ),
    });
  });

  test("jobs prints the submission time of a job that /runsync submitted", async () => {
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

  test("jobs waits for the time in Retry-After if the service rejects a request for jobs with 429", async () => {
    const [, id = ""] = /^(\S+) +echo /m.exec((await line("status")).out) ?? [];
    service.faults(id, { tooManyRequests: 1 });
    const { code, out } = await line("jobs", "echo", "--state", "COMPLETED");
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^JOB /) });
    expect(service.faults(id)).toEqual({ tooManyRequests: 0 });
  });

  test("retry queues a failed job again but rejects a completed job; cancel does not change a completed job", async () => {
    const failed = JSON.parse((await line("run", "fail", "--sync")).out);
    expect(JSON.parse((await line("retry", failed.id)).out)).toMatchObject({ id: failed.id, status: "IN_QUEUE" });
    const done = JSON.parse((await line("run", "echo", "--sync")).out);
    expect(await line("retry", done.id)).toMatchObject({
      code: 1,
      err: `serverless-compute-local: job "${done.id}": is COMPLETED; only a FAILED or TIMED_OUT job can be retried`,
    });
    for (const id of [done.id, done.id.slice(-12)])
      expect(await line("cancel", id)).toMatchObject({ code: 0, err: `job ${done.id}: already COMPLETED` });
    expect(JSON.parse((await line("job", done.id)).out)).toMatchObject({ status: "COMPLETED" });
  });

  test("an unknown id is an error", async () => {
    for (const command of ["job", "cancel", "retry"])
      expect(await line(command, "nosuch")).toEqual({
        code: 1,
        out: "",
        err: 'serverless-compute-local: no endpoint has a job with the id "nosuch"; the service removes a job some time after its end',
      });
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
