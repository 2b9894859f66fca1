import { once } from "node:events";
import { createInterface } from "node:readline";
import { systemClock } from "serverless-compute-api/clock";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { main } from "../../../../provider/cli/main";
import { createEndpoint } from "../../../support/endpoint";
import { json } from "../../../support/faulty-server";
import { send } from "../../../support/raw-http";
import { program, runLine } from "../../service/cli/command";
import { setEnvironment, startCuttingProxy, useJobService, useScriptedAccount } from "./job-service";
import { command } from "./terminal";

const { service, data, ids, environment } = await useJobService();

// The command line waits for silent logs, new workers and reconnections: a quarter as long as for users.
const { now, sleep } = systemClock;
const startTime = now();
let speed = 4;
vi.spyOn(systemClock, "now").mockImplementation(() => startTime + 4 * (now() - startTime));
vi.spyOn(systemClock, "sleep").mockImplementation((ms, signal) => sleep(ms / speed, signal));

/** Lets a worker of an endpoint print lines; resolves after the end of the job. */
async function printLines(lines: string[], endpoint = "print"): Promise<void> {
  const url = `${service.serverlessUrl}/v2/${ids[endpoint]}/runsync`;
  const { json: record } = await send("POST", url, { key: service.apiKey, json: { input: { lines } } });
  expect(record).toMatchObject({ status: "COMPLETED" });
}

async function accountLine(words: string[]) {
  setEnvironment(environment);
  const result = await command(words);
  expect(result.out + result.err).not.toContain(service.apiKey);
  return result;
}

/** Runs `logs --follow` in this process; `stop` closes its output and resolves with its exit code. */
function follow(endpoint: string, variables: Record<string, string> = {}, ...options: string[]) {
  setEnvironment({ ...environment, ...variables });
  const printed = { out: [] as string[], err: [] as string[] };
  const closed = new AbortController();
  const code = main(["logs", endpoint, "--follow", ...options], {
    out: (text) => void printed.out.push(text),
    err: (text) => void printed.err.push(text),
    input: async () => "",
    closed: closed.signal,
  });
  const stop = (): Promise<number> => {
    closed.abort();
    return code;
  };
  onTestFinished(async () => void (await stop()));
  return { ...printed, code, stop, texts: () => printed.out.map((line) => line.split(" ").slice(2).join(" ")) };
}

const numbered = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);

describe("logs", () => {
  test.each([[[]], [["--json"]], [["--lines", "2"]], [["--lines", "0"]], [["--lines", "2", "--json"]]])(
    "prints the same as the local service's command line: %j",
    async (options: string[]) => {
      await printLines(["first", "", "  second  line", "Grüße, 世界"]);
      const words = ["logs", "print", ...options];
      const local = await runLine(...words, "--data", data);
      expect(await accountLine(words)).toEqual(local);
      if (!options.includes("0")) expect(local.out).toContain("Grüße, 世界");
    },
  );

  test("reports an endpoint without running workers", async () => {
    expect(await accountLine(["logs", "echo"])).toEqual({
      code: 0,
      out: "",
      err: `endpoint "echo" (${ids["echo"]}) has no running worker; the service returns the logs of running workers`,
    });
  });

  test("reports an unknown endpoint with a similar name", async () => {
    expect(await accountLine(["logs", "prin"])).toEqual({
      code: 1,
      out: "",
      err: `serverless-compute: no endpoint has the id or name "prin"; did you mean "print" (${ids["print"]})?`,
    });
  });
});

describe("logs --follow", () => {
  test("prints past lines and new lines of all workers, also of later ones", async () => {
    ids["later"] = await createEndpoint(service, "acme/print:1", { name: "later" });
    const { texts, err, stop } = follow("later");
    await expect.poll(() => err).toEqual([expect.stringContaining("has no running worker")]);
    await printLines(["one"], "later");
    await expect.poll(texts).toEqual([expect.stringMatching(/^worker starts /), "one"]);
    await printLines(["two"], "later");
    await expect.poll(texts).toEqual([expect.stringMatching(/^worker starts /), "one", "two"]);
    expect(await stop()).toBe(0);
  });

  test("prints each line once although the connection is cut again and again", async () => {
    const proxy = await startCuttingProxy(service.serverlessUrl);
    onTestFinished(proxy.close);
    await printLines(["begin"]);
    const { texts, err, stop } = follow("print", { SERVERLESS_COMPUTE_URL: proxy.origin }, "--lines", "1");
    await expect.poll(texts).toEqual(["begin"]);
    for (let batch = 0; batch < 5; batch += 1) {
      const printing = printLines(numbered(batch * 20, 20));
      if (batch % 2 === 0) await printing;
      const connections = proxy.connections();
      proxy.cut();
      await printing;
      await expect.poll(proxy.connections).toBeGreaterThan(connections);
    }
    await expect.poll(texts).toEqual(["begin", ...numbered(0, 100)]);
    expect(err).toEqual([]);
    expect(await stop()).toBe(0);
  });

  test("continues after the last event, and ignores it if the service repeats it", async () => {
    const event = (id: string, line: string) =>
      `id: ${id}/000000000042\ndata: ${JSON.stringify({ source: "container", line, ts: id })}\n\n`;
    const [first, second] = ["2026-11-28T10:00:00.000000001Z", "2026-11-28T10:00:00.000000002Z"];
    const events = [event(first, "one"), event(second, "two")];
    const { origin, requests } = await useScriptedAccount(({ url, headers }) => {
      if (url.endsWith("/workers")) return json({ workers: [{ id: "w1", status: "RUNNING", isStale: false }] });
      const position = headers["last-event-id"];
      const text = events.slice(position === `${second}/000000000042` ? 1 : 0).join("");
      const head = { status: 200, headers: { "content-type": "text/event-stream" } };
      // Half of the body arrives before the connection ends.
      if (position === undefined) return { action: "truncate", ...head, body: text };
      return { action: "respond", ...head, body: text };
    });
    const { texts, stop } = follow("chat", { SERVERLESS_COMPUTE_URL: origin });
    const logRequests = () => requests.filter(({ url }) => url.includes("/logs"));
    await expect.poll(() => logRequests().length).toBeGreaterThan(2);
    expect(texts()).toEqual(["one", "two"]);
    await stop();
    expect(
      logRequests()
        .slice(0, 3)
        .map(({ url, headers }) => [url, headers["last-event-id"]]),
    ).toEqual([
      ["/v2/serverless/ep1/workers/w1/logs?tail=100", undefined],
      ["/v2/serverless/ep1/workers/w1/logs?tail=100", `${first}/000000000042`],
      ["/v2/serverless/ep1/workers/w1/logs?tail=5000", `${second}/000000000042`],
    ]);
  });

  test("continues after an outage of the service", async () => {
    const proxy = await startCuttingProxy(service.serverlessUrl);
    onTestFinished(proxy.close);
    await printLines(["begin"]);
    const { texts, err, stop } = follow("print", { SERVERLESS_COMPUTE_URL: proxy.origin }, "--lines", "1");
    await expect.poll(texts).toEqual(["begin"]);
    await proxy.close();
    const lookups = (): number => vi.mocked(systemClock.sleep).mock.calls.filter(([ms]) => ms === 2_000).length;
    const before = lookups();
    // The second new wait follows a failed lookup of the workers.
    await expect.poll(lookups, { timeout: 10_000 }).toBeGreaterThan(before + 1);
    await proxy.reopen();
    await printLines(["after"]);
    await expect.poll(texts).toEqual(["begin", "after"]);
    expect(err).toEqual([]);
    expect(await stop()).toBe(0);
  });

  test("ends with one line if the service is gone", async () => {
    const proxy = await startCuttingProxy(service.serverlessUrl);
    await printLines(["begin"]);
    const { code, texts, err } = follow("print", { SERVERLESS_COMPUTE_URL: proxy.origin }, "--lines", "1");
    await expect.poll(texts).toEqual(["begin"]);
    speed = 100;
    onTestFinished(() => {
      speed = 4;
    });
    await proxy.close();
    expect(await code).toBe(1);
    expect(err).toEqual([
      expect.stringMatching(/^serverless-compute: logs of endpoint "print": cannot connect to [^\n]*$/),
    ]);
  });

  // Tests of `run` send Ctrl-C to both command lines; test/unit/service/cli/logs.test.ts closes the reader of the local service's.
  test("ends with 0 when its reader closes", async () => {
    await printLines(["begin"]);
    const { child, ended } = program(
      "test/unit/provider/cli/programs/command.ts",
      ["logs", "print", "--follow", "--lines", "1"],
      environment,
    );
    if (!child.stdout) throw new Error("the command has no output");
    await once(createInterface(child.stdout), "line");
    child.stdout.destroy();
    let isEnded = false;
    const exit = ended.finally(() => {
      isEnded = true;
    });
    while (!isEnded) await printLines(["unread"]);
    const { code, stderr } = await exit;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});
