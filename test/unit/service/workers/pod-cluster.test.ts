import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { CallError } from "../../../../service/workers/runtimes/json-client";
import { checkAccess, toStartError } from "../../../../service/workers/runtimes/pod/access";
import { isTemporary, loadCluster } from "../../../../service/workers/runtimes/pod/cluster";
import { followLog } from "../../../../service/workers/runtimes/pod/log";
import { kubernetesShape } from "../../../../service/workers/runtimes/pod/settings";
import { closeServer, listenOnLoopback, unusedOrigin } from "../../../support/loopback";
import { ManualClock } from "../../../support/manual-clock";
import { useKubeconfig } from "./support/kubeconfig";

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A cluster whose API server responds to calls. */
async function useCluster(respond: Respond, path = "") {
  const calls: { call: string; body: string; type: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = await text(request);
    const { authorization, "content-type": type } = headers;
    calls.push({ call: `${method} ${url}`, body, type, authorization });
    respond(request, response, body);
  });
  const origin = await listenOnLoopback(server);
  onTestFinished(() => closeServer(server));
  useKubeconfig(`${origin}${path}`);
  return { cluster: await loadCluster(kubernetesShape.parse({})), calls, origin };
}
const sends =
  (status: number, body: string): Respond =>
  (_request, response) =>
    void response.writeHead(status).end(body);

describe("a call to the API server", () => {
  test("has the server's path, a query, a body and the credentials", async () => {
    const { cluster, calls } = await useCluster(sends(200, '{"a":1}'), "/k8s/");
    const call = {
      query: { dryRun: "All" },
      body: { b: "ü" },
      headers: { "content-type": "application/merge-patch+json" },
    };
    expect(await cluster.call("PATCH", "/api/v1/x", call)).toEqual({ a: 1 });
    expect(await cluster.call("POST", "/api/v1/x", { body: {} })).toEqual({ a: 1 });
    expect(await cluster.call("GET", "/api/v1/x")).toEqual({ a: 1 });
    expect(calls).toEqual([
      {
        call: "PATCH /k8s/api/v1/x?dryRun=All",
        body: '{"b":"ü"}',
        type: "application/merge-patch+json",
        authorization: "Bearer t",
      },
      { call: "POST /k8s/api/v1/x", body: "{}", type: "application/json", authorization: "Bearer t" },
      { call: "GET /k8s/api/v1/x", body: "", type: undefined, authorization: "Bearer t" },
    ]);
  });

  test.each([
    [403, '{"message":"forbidden: quota"}', "forbidden: quota", false],
    [404, "", "status 404", false],
    [429, "slow down\n", "slow down", true],
    [500, "[]", "[]", true],
  ])("that is rejected with %i %s fails", async (status, body, message, temporary) => {
    const { cluster } = await useCluster(sends(status, body));
    const error = await cluster.call("GET", "/x").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CallError);
    expect(error).toMatchObject({ status, message });
    expect(isTemporary(error)).toBe(temporary);
  });

  test("may accept a rejection, such as that of an object that exists", async () => {
    const { cluster } = await useCluster(sends(409, '{"reason":"AlreadyExists"}'));
    expect(await cluster.call("POST", "/x", { accepts: 409 })).toEqual({ reason: "AlreadyExists" });
  });

  test("without a response is temporary", async () => {
    const server = await unusedOrigin();
    useKubeconfig(server);
    const cluster = await loadCluster(kubernetesShape.parse({}));
    const error = await cluster.call("GET", "/x").catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      status: 0,
      message: expect.stringContaining(`the Kubernetes API at ${server} does not respond: `),
    });
    expect(isTemporary(error)).toBe(true);
    expect(isTemporary(new Error("another"))).toBe(false);
  });

  test("whose response is cut on a kept connection is not sent again", async () => {
    const sockets: Socket[] = [];
    const { cluster, calls } = await useCluster((request, response) => {
      if (request.url !== "/watch") return void response.end("{}");
      response.writeHead(200).flushHeaders();
      sockets.push(request.socket);
    });
    await cluster.call("GET", "/list");
    const stream = await cluster.open("GET", "/watch");
    for (const socket of sockets) socket.resetAndDestroy();
    await once(stream.resume(), "close").catch(() => undefined);
    await cluster.call("GET", "/end");
    expect(calls.map(({ call }) => call)).toEqual(["GET /list", "GET /watch", "GET /end"]);
  });

  test.each(["<html>Sign in</html>", '{"metadata":{"name":', ""])(
    "that receives %j from a proxy instead of JSON is temporary",
    async (body) => {
      const { cluster, origin } = await useCluster(sends(200, body));
      const error = await cluster.call("GET", "/x").catch((reason: unknown) => reason);
      expect(error).toMatchObject({ message: `${origin} sent no JSON (a proxy may have responded)` });
      expect(isTemporary(error)).toBe(true);
    },
  );

  test("whose response is cut is temporary", async () => {
    const { cluster, origin } = await useCluster((_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy());
    });
    const error = await cluster.call("GET", "/x").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 0, message: `the Kubernetes API at ${origin} closed the connection` });
  });
});

describe("the start", () => {
  const review = (isAllowed: (verb: string, resource: string) => boolean, status = 200, message = "no"): Respond => {
    return ({ url = "" }, response, body) => {
      if (!url.includes("selfsubjectaccessreviews"))
        return void response.writeHead(status).end(JSON.stringify({ message }));
      const { verb, resource, subresource } = JSON.parse(body).spec.resourceAttributes;
      const allowed = isAllowed(verb, subresource ? `${resource}/${subresource}` : resource);
      response.end(JSON.stringify({ status: { allowed } }));
    };
  };
  const startError = async (respond: Respond, storageClass?: string): Promise<string> => {
    const { cluster } = await useCluster(respond);
    return checkAccess(cluster, storageClass).then(
      () => "allowed",
      (error: unknown) => String(toStartError(error, cluster)),
    );
  };

  test("requires each verb of the role", async () => {
    expect(await startError(review(() => true))).toBe("allowed");
    expect(await startError(review((_verb, resource) => resource !== "pods/log"))).toContain(
      'runtime "kubernetes": the credentials do not allow to get pods/log in the namespace "gpu"; add this rule to their Role: {"apiGroups":[""],"resources":["pods/log"],"verbs":["get"]}',
    );
    expect(await startError(review((verb, resource) => `${verb} ${resource}` !== "watch pods"))).toContain(
      "to watch pods",
    );
  });

  test.each([
    [404, 'kubernetes.namespace: "gpu" does not exist; create it or specify another one'],
    [401, " cannot be used (no); renew them or select another context"],
    [500, 'runtime "kubernetes": no; check the cluster and the context'],
  ])("fails if the namespace responds with %i", async (status, message) => {
    expect(await startError(review(() => true, status))).toContain(message);
  });

  test("requires no free quota, which the pods of an earlier service may use", async () => {
    for (const message of ["exceeded quota: few, requested: secrets=1", "status unknown for quota: few"])
      expect(await startError(review(() => true, 403, message))).toBe("allowed");
    expect(await startError(review(() => true, 403, "it is being terminated"))).toContain("being terminated; check");
  });

  test("requires the storage class, unless it may not be read", async () => {
    const withClass =
      (status: number): Respond =>
      (request, response, body) =>
        review(() => true, request.url?.includes("storageclasses/fast") ? status : 200)(request, response, body);
    expect(await startError(withClass(200), "fast")).toBe("allowed");
    expect(await startError(withClass(403), "fast")).toBe("allowed");
    expect(await startError(withClass(404), "fast")).toContain('kubernetes.storageClass: "fast" does not exist');
    expect(await startError(withClass(404))).toBe("allowed");
  });
});

describe("the log of a pod", () => {
  const epoch = "1970-01-01T00:00:00.000Z";
  /** Lines and problems that a service reads; the API server sends one part for each request. The program ends with part `last`. */
  async function readLog(parts: { lines: string; isCut?: boolean; status?: number }[], { since = 0, last = 1 } = {}) {
    const queries: (string | null)[] = [];
    let isDone = false;
    const { cluster } = await useCluster(({ url = "" }, response) => {
      const { lines = "", isCut, status = 200 } = parts[queries.length] ?? {};
      queries.push(new URL(url, "http://api").searchParams.get("sinceTime"));
      response.writeHead(status).write(lines, () => (isCut ? response.destroy() : response.end()));
    });
    const lines: string[] = [];
    const problems: string[] = [];
    const clock = new ManualClock();
    const reading = followLog({
      cluster,
      path: cluster.path("pods/p"),
      clock,
      onLine: (line) => lines.push(line),
      onProblem: (reason) => problems.push(reason),
      hasEnded: () => queries.length >= last,
      signal: new AbortController().signal,
      since,
    }).then(() => {
      isDone = true;
    });
    while (!isDone) {
      await clock.advance(1000);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await reading;
    return { lines, queries, problems };
  }

  test("continues after an interruption without repeating lines", async () => {
    const log = await readLog([
      { lines: "2026-01-01T00:00:01.1Z one\n2026-01-01T00:00:01.2Z two  words\n", isCut: true },
      { lines: "", status: 500 },
      { lines: "2026-01-01T00:00:01.1Z one\n2026-01-01T00:00:01.2Z two  words\n2026-01-01T00:00:01.3Z three\n" },
    ]);
    expect(log.lines).toEqual(["one", "two  words", "three"]);
    expect(log.queries).toEqual([epoch, "2026-01-01T00:00:01.2Z", "2026-01-01T00:00:01.2Z"]);
  });

  test("continues if it ends before its program, as with a kubelet that restarts", async () => {
    const one = "2026-01-01T00:00:01.1Z one\n";
    const { lines } = await readLog([{ lines: one }, { lines: `${one}2026-01-01T00:00:02.1Z two\n` }], { last: 2 });
    expect(lines).toEqual(["one", "two"]);
  });

  test("continues if the kubelet does not know its pod yet", async () => {
    const parts = [{ lines: "{}", status: 404 }, { lines: "2026-01-01T00:00:01.1Z one\n" }];
    expect(await readLog(parts, { last: 2 })).toMatchObject({ lines: ["one"], problems: [] });
  });

  test("that cannot be read is reported once for each reason", async () => {
    const failures = [500, 500, 502, 502].map((status) => ({ lines: `{"message":"reason ${status}"}`, status }));
    const { problems, lines } = await readLog([...failures, { lines: "2026-01-01T00:00:01.1Z one\n" }], { last: 5 });
    expect(problems).toEqual(["reason 500", "reason 502"]);
    expect(lines).toEqual(["one"]);
  });

  test("ends with its pod", async () => {
    expect(await readLog([{ lines: "", status: 404 }])).toMatchObject({ lines: [], queries: [epoch] });
  });

  test.each([
    ["2025-12-31T23:59:59.9Z", "2026-01-01T00:00:01.1Z"],
    ["2026-01-01T00:59:59.9+01:00", "2026-01-01T01:00:01.1+01:00"],
    ["2025-12-31T18:59:59.9-05:00", "2025-12-31T19:00:01.1-05:00"],
  ])("of an adopted worker begins at the adoption, whatever the offset of its node (%s)", async (before, after) => {
    const lines = `${before} before\n${after} after\n`;
    const log = await readLog([{ lines }], { since: Date.parse("2026-01-01") });
    expect(log.queries).toEqual(["2026-01-01T00:00:00.000Z"]);
    expect(log.lines).toEqual(["after"]);
  });

  test("contains all lines after a change of the offset, also those of one millisecond, and none without a time", async () => {
    const times = [
      "2026-10-25T02:59:59.9+02:00",
      "2026-10-25T02:00:00.1+01:00",
      "2026-10-25T02:00:00.100000001+01:00",
      "2026-10-25T02:00:00.1000001+01:00",
    ];
    const part = { lines: `failed to read\n${times.map((time, index) => `${time} ${index}\n`).join("")}` };
    expect((await readLog([part, part], { last: 2 })).lines).toEqual(["0", "1", "2", "3"]);
  });

  test("that has not begun when it is no longer read is no problem", async () => {
    const closed = new AbortController();
    const { cluster } = await useCluster(() => closed.abort());
    const problems: string[] = [];
    await followLog({
      cluster,
      path: cluster.path("pods/p"),
      clock: new ManualClock(),
      onLine: () => undefined,
      onProblem: (reason) => problems.push(reason),
      hasEnded: () => true,
      signal: closed.signal,
      since: 0,
    });
    expect(problems).toEqual([]);
  });
});
