import { describe, expect, test } from "vitest";
import { at, expectResponse, pollUntil, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget({ templateRelease: 0 });
const account = useAccount(target);
const { call, make, endpointBody } = useRestV2(target, account);

/** Reads the events of an open stream until an event contains `text`. */
async function eventsUntil(path: string, text: string, headers: Record<string, string> = {}): Promise<string[]> {
  const closing = new AbortController();
  const response = await fetch(`${target.serverlessUrl}/v2${path}`, {
    headers: { authorization: `Bearer ${target.apiKey}`, ...headers },
    signal: AbortSignal.any([closing.signal, AbortSignal.timeout(15_000)]),
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  let read = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    read += part;
    if (read.includes(text)) break;
  }
  closing.abort();
  return read.split("\n\n").filter((event) => event.startsWith("id: "));
}

describe("REST v2: workers of an endpoint", () => {
  test("GET /serverless/{id}/workers returns each worker with its image, and a summary", async (context) => {
    const jobs = await account.jobsOn("echo", context, { workersMin: 1 });
    const path = `/serverless/${jobs.id}/workers`;
    const response = await pollUntil(
      () => call("GET", path),
      ({ json }) => at(json, "summary", "idle") === 1,
    );
    expectResponse(response, 200, {
      workers: [
        {
          status: "IDLE",
          isStale: false,
          version: 1,
          gpuCount: 1,
          gpuTypeId: "NVIDIA L4",
          dataCenterId: null,
          image: target.image("echo", context),
        },
      ],
      summary: { running: 0, idle: 1, initializing: 0, throttled: 0, unhealthy: 0, total: 1 },
      endpointVersion: 1,
    });
    expect(at(response.json, "workers", 0, "uptimeSeconds")).toBeTypeOf("number");
    expect(Date.parse(stringAt(response, "workers", 0, "startedAt"))).not.toBeNaN();
  });

  test("an endpoint without workers has empty lists", async () => {
    const id = await make("/serverless", endpointBody());
    expectResponse(await call("GET", `/serverless/${id}/workers`), 200, { workers: [], summary: { total: 0 } });
  });

  test("GET /serverless/{id}/releases returns the versions with their changes, newest first", async () => {
    const id = await make("/serverless", endpointBody({ env: { SECRET: "hush-hush" } }));
    await call("PATCH", `/serverless/${id}`, { workers: { idleTimeout: 9 } });
    await call("PATCH", `/serverless/${id}`, { image: "conformance/next:2", env: { OTHER: "hush-hush" } });
    const response = await call("GET", `/serverless/${id}/releases`);
    expectResponse(response, 200, {
      endpointVersion: 2,
      rollout: { inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 0 },
      releases: [
        {
          version: 2,
          workerCount: 0,
          source: "MANUAL",
          diff: [
            { field: "template.imageName", old: "conformance/none:1", new: "conformance/next:2" },
            { field: "template.env", old: ["SECRET"], new: ["OTHER"] },
          ],
        },
        { version: 1, diff: [] },
      ],
    });
    expect(response.text).not.toContain("hush-hush");
  });

  test("a changed template creates a release of each endpoint that shares it", async () => {
    const templateId = await account.template();
    const id = await account.endpoint({ templateId });
    await call("PATCH", `/templates/${templateId}`, { disk: 77 });
    const { json } = await call("GET", `/serverless/${id}/releases`);
    expect(at(json, "releases", 0)).toMatchObject({
      version: 2,
      diff: [{ field: "template.containerDiskInGb", old: 5, new: 77 }],
    });
  });

  test.each(["workers", "releases", "workers/x/logs"])(
    "GET /serverless/{id}/%s of an unknown endpoint is 404",
    async (tail) => {
      expectProblem(await call("GET", `/serverless/nosuch/${tail}`), 404, "resource not found");
    },
  );
});

describe("REST v2: a worker's log", () => {
  test("is streamed as events with id and line, live, and resumed after Last-Event-ID", async (context) => {
    target.localOnly(context, "the lines of a handler are known here only");
    const jobs = await account.jobsOn("echo", context, { workersMin: 1 });
    const response = await pollUntil(
      () => call("GET", `/serverless/${jobs.id}/workers`),
      ({ json }) => at(json, "summary", "idle") === 1,
    );
    const path = `/serverless/${jobs.id}/workers/${stringAt(response, "workers", 0, "id")}/logs`;
    const [first = ""] = await eventsUntil(path, "worker starts");
    const [, ts = "", data = "{}"] = /^id: (\S+)\ndata: (.*)$/.exec(first) ?? [];
    const line: unknown = JSON.parse(data);
    expect(line).toEqual({ source: "container", line: expect.stringContaining("worker starts for the image"), ts });
    expect(await eventsUntil(`${path}?tail=1`, "id: ")).toHaveLength(1);
    for (const lastEventId of ["42", "2026-11-26"])
      expectProblem(await call("GET", path, undefined, { "last-event-id": lastEventId }), 422);
    // The worker ends, and writes a last line to its log.
    const resumed = eventsUntil(path, "worker ended", { "last-event-id": ts });
    await call("PATCH", `/serverless/${jobs.id}`, { workers: { min: 0, max: 0 } });
    const lines = await resumed;
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join()).not.toContain("worker starts");
  });

  test("of an unknown worker is 404", async () => {
    const id = await make("/serverless", endpointBody());
    expectProblem(await call("GET", `/serverless/${id}/workers/nosuch/logs`), 404, "resource not found");
  });
});
