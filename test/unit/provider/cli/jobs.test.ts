import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { createEndpoint } from "../../../support/endpoint";
import { json } from "../../../support/faulty-server";
import { unusedOrigin } from "../../../support/loopback";
import { program, runLine } from "../../service/cli/command";
import { exactChunks, setEnvironment, useJobService, useScriptedAccount } from "./job-service";
import { command } from "./terminal";

const { service, data, ids, environment } = await useJobService();

/** Runs a command line of the local service. */
const localLine = (...words: string[]) => runLine(...words, "--data", data);

/** Runs a command line of the provider with the settings of the service, or with these variables. */
async function accountLine(words: string[], variables: Record<string, string | undefined> = {}) {
  setEnvironment({ ...environment, ...variables });
  const result = await command(words);
  expect(result.out + result.err).not.toContain(service.apiKey);
  return result;
}

/** Replaces what differs between two runs: name of the command, ids of jobs, times. */
const comparable = ({ code, out, err }: { code: number; out: string; err: string }) => {
  const replaceVariable = (text: string): string =>
    text
      .replace(/serverless-compute(-local)?:/g, "<command>:")
      .replace(/\b(sync-)?[0-9a-f]{8}-[0-9a-f-]{27}(-\w+)?/g, "<job>")
      .replace(/\d+( ms)|("(?:delay|execution)Time":)\d+/g, "$2<n>$1")
      .replace(/("workerId":)"\w+"/g, "$1<worker>")
      .replace(/ +/g, " ");
  return { code, out: replaceVariable(out), err: replaceVariable(err) };
};

/** Runs the same command in both command lines and expects the same output; returns that of the provider. */
async function both(words: string[], localWords = words) {
  const [local, account] = await Promise.all([localLine(...localWords), accountLine(words)]);
  expect(comparable(account)).toEqual(comparable(local));
  return account;
}

const submit = async (...words: string[]): Promise<string> =>
  JSON.parse((await localLine("run", ...words, "--sync")).out).id;

describe("both command lines print the same", () => {
  test.each<[string, string[], RegExp | string]>([
    ["the response of /run", ["run", "echo", '{"text":"one"}'], /^\{"id":"[^"]+","status":"IN_QUEUE"\}$/],
    ["the finished job's record with --sync", ["run", "echo", '{"text":"two"}', "--sync"], /"output":\{"text":"two"\}/],
    ["the record of a job without input", ["run", "echo", "--sync"], /"output":\{\}/],
    ["the exact numbers of an output", ["run", "exact", "--sync"], `"output":[${exactChunks}]`],
    [
      "each chunk of a stream as a line",
      ["run", "stream", '{"chunks":[0,{"a":1},"x"]}', "--stream"],
      /^0\n\{"a":1\}\n"x"$/,
    ],
    ["the exact numbers of a stream", ["run", "exact", '{"stream":true}', "--stream"], exactChunks.join("\n")],
    [
      "the output of a handler that does not stream",
      ["run", "echo", '{"text":"three"}', "--stream"],
      /^\{"text":"three"\}$/,
    ],
    ["that an endpoint has no jobs", ["jobs", "slow"], /^$/],
  ])("%s", async (_what, words, expected) => {
    const { code, out } = await both(words);
    expect(code).toBe(0);
    if (typeof expected === "string") expect(out).toContain(expected);
    else expect(out).toMatch(expected);
  });

  test("the job of an endpoint that is named by its id", async () => {
    expect((await both(["run", ids["echo"] ?? "", '{"text":"id"}', "--sync"])).out).toContain('"text":"id"');
  });

  test("the record of a job, its cancellation and its retry", async () => {
    const done = await submit("echo", '{"text":"done"}');
    expect((await both(["job", done])).out).toContain('"output":{"text":"done"}');
    // The last part of an id is random.
    expect((await both(["job", done.slice(-12)])).out).toContain('"output":{"text":"done"}');
    expect(await both(["cancel", done.slice(-12)])).toEqual({
      code: 0,
      out: expect.stringContaining('"status":"COMPLETED"'),
      err: `job ${done}: already COMPLETED`,
    });
    const failed = [await submit("fail"), await submit("fail")] as const;
    expect((await both(["retry", failed[0]], ["retry", failed[1]])).out).toMatch(/"status":"IN_QUEUE"/);
  });

  test("jobs, newest first, by state and up to a limit", async () => {
    const created = [await submit("echo", '{"text":"a"}'), await submit("echo", '{"text":"b"}')];
    const { out } = await both(["jobs", "echo", "--limit", "2"]);
    expect(out.match(/^\S+(?= +COMPLETED)/gm)).toEqual(created.reverse());
    await submit("fail", '{"message":"no model"}');
    expect((await both(["jobs", "fail", "--state", "FAILED"])).out).toContain("no model");
  });

  test.each(["run", "jobs", "job", "cancel", "retry", "logs"])("the options of %s, except for --data", async (name) => {
    const optionsOf = ({ out }: { out: string }) =>
      (out.match(/^ {2}(--)?[a-z]+( <\w+>)?(?= {2})/gm) ?? []).filter((option) => option !== "  --data <dir>");
    const options = optionsOf(await command([name, "--help"]));
    expect(options.length).toBeGreaterThan(0);
    expect(options).toEqual(optionsOf(await runLine(name, "--help")));
  });
});

describe("both command lines report in one line", () => {
  test.each<[string, string[], number, RegExp]>([
    [
      "an unknown endpoint with a similar name",
      ["run", "ecko"],
      1,
      /no endpoint has the id or name "ecko"; did you mean "echo" \(\w+\)\?$/,
    ],
    [
      "an unknown endpoint with the existing endpoints",
      ["jobs", "nothing-like-it"],
      1,
      /; there are "balancer" \(\w+\), "echo" /,
    ],
    ["a load balancer", ["run", "balancer"], 1, /is a load balancer: it has no queue and accepts no jobs$/],
    [
      "an unknown job",
      ["job", "nosuch"],
      1,
      /no endpoint has a job with the id "nosuch"; the service removes a job some time after its end$/,
    ],
    ["an unknown job to cancel", ["cancel", "nosuch"], 1, /no endpoint has a job with the id "nosuch"/],
    ["an unknown job to retry", ["retry", "no/such"], 1, /no endpoint has a job with the id "no\/such"/],
    [
      "a part of several ids",
      ["job", "-7"],
      1,
      /\d+ jobs have "-7" in their ids, such as \S+, \S+, \S+; specify more of the id$/,
    ],
    ["an id that is a path", ["job", ".."], 1, /the job id is "\.\."; must be the id of an object$/],
    ["input that is not JSON", ["run", "echo", '{"a":'], 2, /It must be a JSON object\.$/],
    ["input that is a list", ["run", "echo", "[1]"], 2, /It must be a JSON object\.$/],
    ["both --sync and --stream", ["run", "echo", "--sync", "--stream"], 2, /cannot be used with option/],
    ["a limit of 0", ["jobs", "echo", "--limit", "0"], 2, /It must be a whole number, 1 or more\.$/],
  ])("%s", async (_what, words, code, message) => {
    const { err, ...result } = await both(words);
    expect(result).toEqual({ code, out: "" });
    expect(err).toMatch(/^serverless-compute: [^\n]+$/);
    expect(err).toMatch(message);
  });

  test("an unknown state", async () => {
    for (const line of [
      await localLine("jobs", "echo", "--state", "done"),
      await accountLine(["jobs", "echo", "--state", "done"]),
    ])
      expect(line).toMatchObject({ code: 2, out: "", err: expect.stringContaining("TIMED_OUT") });
  });

  test("a completed job to retry", async () => {
    const { code, err } = await both(["retry", await submit("echo")]);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("is COMPLETED; only a FAILED or TIMED_OUT job can be retried"),
    });
  });

  test("a failed job, after its record or with its reason", async () => {
    const sync = await both(["run", "fail", '{"message":"no model"}', "--sync"]);
    expect(sync).toMatchObject({
      code: 1,
      out: expect.stringContaining("no model"),
      err: expect.stringMatching(/: job \S+ FAILED$/),
    });
    const stream = await both(["run", "fail", '{"message":"no model"}', "--stream"]);
    expect(stream).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/: job \S+ FAILED: .*no model/) });
  });
});

describe("the account's command line reports in one line", () => {
  const words = ["run", "echo"];

  test.each<[string, () => Promise<Record<string, string | undefined>> | Record<string, string | undefined>, RegExp]>([
    [
      "a wrong key",
      () => ({ SERVERLESS_COMPUTE_API_KEY: "sck-of-another-account" }),
      /rejected the API key.*SERVERLESS_COMPUTE_API_KEY/,
    ],
    [
      "a missing key",
      () => ({ SERVERLESS_COMPUTE_API_KEY: undefined }),
      /API key of \S+ is missing: set SERVERLESS_COMPUTE_API_KEY/,
    ],
    [
      "no service",
      async () => ({ SERVERLESS_COMPUTE_URL: await unusedOrigin() }),
      /cannot connect to .*SERVERLESS_COMPUTE_URL/,
    ],
    [
      "an unknown target",
      () => ({ SERVERLESS_COMPUTE_TARGET: "moon" }),
      /SERVERLESS_COMPUTE_TARGET is "moon"; must be/,
    ],
    [
      "a target with an address",
      () => ({ SERVERLESS_COMPUTE_TARGET: "hosted" }),
      /SERVERLESS_COMPUTE_URL cannot be combined/,
    ],
  ])("%s", async (_what, variables, message) => {
    const { err, ...result } = await accountLine(words, await variables());
    expect(result).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^serverless-compute: [^\n]+$/);
    expect(err).toMatch(message);
    expect(err).not.toContain("sck-of-another-account");
  });

  test("that REST v1 has no logs; the other commands work with it", async () => {
    const v1 = { SERVERLESS_COMPUTE_DIALECT: "v1" };
    expect(await accountLine(["logs", "echo"], v1)).toEqual({
      code: 1,
      out: "",
      err: "serverless-compute: REST v1 does not return the logs of workers; set SERVERLESS_COMPUTE_DIALECT to v2",
    });
    expect(await accountLine(["run", "echo", '{"text":"v1"}', "--sync"], v1)).toMatchObject({
      code: 0,
      out: expect.stringContaining('"text":"v1"'),
    });
  });
});

test("the page about the command line shows a command and the form of its output", async () => {
  const pageFile = "docs/command-line.md";
  const page = await readFile(new URL(`../../../../${pageFile}`, import.meta.url), "utf8");
  const [, name = "", input = "", record = ""] =
    /serverless-compute run (\w+) '(.*)' --sync\n```\n[^`]*```json\n(.*)\n```/.exec(page) ?? [];
  await createEndpoint(service, "acme/echo:1", { name });
  const { code, out } = await accountLine(["run", name, input, "--sync"]);
  const shown = JSON.parse(record);
  const printed = JSON.parse(out);
  expect({ code, keys: Object.keys(printed) }, pageFile).toEqual({ code: 0, keys: Object.keys(shown) });
  expect(printed.output).toEqual(shown.output);
});

test.each<[string, () => ReturnType<typeof json>]>([
  ["an unknown path", () => json({ error: "not found" }, 404)],
  ["a list in another form", () => json({ items: [] })],
])("jobs prints the counts of /health if the response to a list of jobs is %s", async (_what, list) => {
  const counts = { completed: 12, failed: 3, inProgress: 1, inQueue: 20, retried: 0 };
  const { origin, requests } = await useScriptedAccount(({ url }) =>
    url.endsWith("/health") ? json({ jobs: counts, workers: {} }) : list(),
  );
  expect(await accountLine(["jobs", "chat"], { SERVERLESS_COMPUTE_URL: origin })).toEqual({
    code: 0,
    out: [
      "IN QUEUE  IN PROGRESS  COMPLETED  FAILED  RETRIED",
      "      20            1         12       3        0",
    ].join("\n"),
    err: "The service does not list jobs. The counts come from /health; --state and --limit have no effect.",
  });
  expect(requests.map(({ url }) => url).slice(-2)).toEqual(["/v2/ep1/requests?limit=20", "/v2/ep1/health"]);
});

test("run sends the exact input, and reports after a lost response that the job may have been queued", async () => {
  const { origin, requests } = await useScriptedAccount(() => ({ action: "hang up" }));
  const input = `{"list":[${exactChunks}]}`;
  const { code, err } = await accountLine(["run", "chat", input], { SERVERLESS_COMPUTE_URL: origin });
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(
      /^serverless-compute: [^\n]*run of endpoint ep1: .*The service may have applied the request\.$/,
    ),
  });
  expect(requests.flatMap(({ method, body }) => (method === "POST" ? [body] : []))).toEqual([`{"input":${input}}`]);
});

test.each([
  ["the account's command line", "test/unit/provider/cli/programs/command.ts", []],
  ["the local service's command line", "service/cli/main.ts", ["--data", data]],
])("Ctrl-C ends the wait of run and names the job: %s", async (_which, file, options) => {
  const { child, ended } = program(file, ["run", "slow", '{"ms":60000}', "--sync", ...options], environment);
  const jobs = async () =>
    (await localLine("jobs", "slow", "--state", "IN_PROGRESS")).out.match(/^\S+(?= +IN_PROGRESS)/gm) ?? [];
  await expect.poll(async () => (await jobs()).length).toBe(1);
  const [id = ""] = await jobs();
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    new RegExp(
      `^serverless-compute(-local)?: job ${id} continues; "job ${id}" prints its record, and "cancel ${id}" cancels it\n$`,
    ),
  );
  await localLine("cancel", id);
});
