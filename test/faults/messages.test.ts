import { classifyFault } from "serverless-compute-api";
import { afterAll, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import type { Context } from "../../provider/framework/contract";
import { helpOf, ResourceInitError } from "../../provider/framework/errors";
import type { HelpKey } from "../../provider/framework/help";
import { withHelp } from "../../provider/framework/help";
import { toUserError } from "../../provider/framework/messages";
import { functions } from "../../provider/functions/functions";
import { kinds } from "../../provider/resources";
import { configNames } from "../../provider/settings/setting-names";
import { resolveSettings } from "../../provider/settings/settings";
import { dialect, restPaths } from "../support/dialect";
import { type Behaviour, json, startFaultyServer } from "../support/faulty-server";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse } from "../support/raw-http";
import { startScriptedJobs } from "../support/scripted-service";
import type { ObjectKind } from "./support/kinds";
import { chatterPort, contextAt, contextAtNobody, contextAtRetired } from "./support/wrong-addresses";

const bench = await useLifecycleBench({ templateRelease: 600_000 });

/** Starts a service that returns lists and rejects every other request with `response`. */
let response = json({}, 500);
const lists = dialect === "v1" ? [] : { networkVolumes: [] };
const faultyServer = await startFaultyServer(({ method }) => (method === "GET" ? json(lists) : response), afterAll);
/** A rejection in the dialect's form. */
const problem = (message: string, status: number): Behaviour =>
  json(dialect === "v1" ? { message } : { title: "Problem", status, detail: message }, status);

const checked = (kind: ObjectKind, news: Properties): Properties =>
  kinds[kind].check({}, news, naming("chat-dev")).inputs;
const volume = { size: 10, dataCenterId: "EU-RO-1" };
const template = { imageName: "acme/chat:1" };

const create = (kind: ObjectKind, news: Properties, context: Context = bench.context()): Promise<unknown> =>
  kinds[kind].create(checked(kind, news), context);
const withWrongKey = (): Context => contextAt(bench, bench.proxy.origin, { apiKey: "wrong" });
/** Creates a volume at a service that rejects the request with this status and message. */
const refused = (status: number, message: string) => async (): Promise<unknown> => {
  response = problem(message, status);
  return create("NetworkVolume", volume, contextAt(bench, faultyServer.origin));
};
const failures =
  (kind: ObjectKind | "JobInvoke", news: Properties, olds: Properties = {}) =>
  (): never => {
    const found = kinds[kind].check(olds, news, naming("chat-dev")).failures;
    throw new Error(found.map(({ path, reason }) => `${path}: ${reason}`).join("\n"));
  };
/** Ids in the messages, which are random and may resemble words. */
const ids = new Set(["aaaaaaaaa1"]);
const created = async (path: string, body: object): Promise<string> => {
  const id = await bench.create(path, body);
  ids.add(id);
  return id;
};
const user = async (more: object): Promise<string> => {
  const templateId = await created("/templates", { name: `t-${Math.random()}`, imageName: "a:1", isServerless: true });
  return created("/endpoints", { name: "user", templateId, workersMax: 0, ...more });
};
/** A job with this status response. */
const job =
  (status: (call: number) => Behaviour, more: Properties = {}) =>
  async (): Promise<unknown> => {
    const health = { jobs: { failed: 1 }, workers: { idle: 1 } };
    const api = await startScriptedJobs({
      run: () => json({ id: "j1", status: "IN_QUEUE" }),
      status,
      cancel: () => json({ id: "j1", status: "CANCELLED" }),
      health: () => json(health),
    });
    const inputs = kinds.JobInvoke.check({}, { endpointId: "e1", input: { prompt: "ping" }, ...more }, naming()).inputs;
    return kinds.JobInvoke.create(inputs, api.context);
  };

/** Faults and how to cause them; messages.md contains the complete messages. */
const golden: [fault: string, work: () => unknown][] = [
  ["a wrong key", () => create("NetworkVolume", volume, withWrongKey())],
  ["a wrong key at a refresh", () => kinds.NetworkVolume.read("a1", { name: "chat-dev" }, withWrongKey())],
  ["a wrong key at a delete", () => kinds.NetworkVolume.delete("a1", { name: "chat-dev" }, withWrongKey())],
  ["a wrong key at a lookup", () => functions.getTemplate.run({ name: "chat-dev" }, withWrongKey())],
  ["an object without a name", () => kinds.NetworkVolume.read("a1", {}, withWrongKey())],
  ["a key without a permission", refused(403, "access denied")],
  ["REST v1 after its retirement", async () => create("NetworkVolume", volume, await contextAtRetired(bench))],
  ["GraphQL after its retirement", async () => kinds.Template.read("t1", {}, await contextAtRetired(bench))],
  ["a missing key", () => resolveSettings(() => undefined, {})],
  ["a key with a line break", () => contextAt(bench, bench.proxy.origin, { apiKey: "a\nb" })],
  ["an unreachable service", async () => create("NetworkVolume", volume, await contextAtNobody(bench))],
  ["an unknown host", () => create("NetworkVolume", volume, contextAt(bench, "http://nowhere.invalid:7337"))],
  [
    "a server that does not speak HTTP",
    async () =>
      create(
        "NetworkVolume",
        volume,
        contextAt(bench, `http://127.0.0.1:${await chatterPort("SSH-2.0-OpenSSH_9\r\n")}`),
      ),
  ],
  [
    "TLS at a server without TLS",
    async () =>
      create(
        "NetworkVolume",
        volume,
        contextAt(bench, `https://127.0.0.1:${await chatterPort("HTTP/1.1 400 Bad Request\r\n\r\n")}`),
      ),
  ],
  [
    "a request that the HTTP client rejects",
    () => {
      const fault = Object.assign(new Error("invalid request path"), { code: "UND_ERR_INVALID_ARG" });
      const error = classifyFault(fault, { method: "GET", url: bench.proxy.origin }, false);
      throw toUserError(error, { label: 'NetworkVolume "chat-dev"', operation: "read", names: configNames });
    },
  ],
  ["an id of blanks", () => kinds.NetworkVolume.read(" ", {}, bench.context())],
  ["an unknown path", () => create("NetworkVolume", volume, contextAt(bench, `${bench.proxy.origin}/api`))],
  [
    "a duplicate name",
    async () => {
      await created("/templates", { name: "chat-dev", imageName: "a:1" });
      return create("Template", template);
    },
  ],
  [
    "several objects with the name to adopt",
    async () => {
      for (const _ of [1, 2]) await created("/networkvolumes", { name: "chat-dev", ...volume });
      return create("NetworkVolume", { ...volume, adoptExisting: true });
    },
  ],
  [
    "a template that an endpoint outside the deployment uses",
    async () => {
      const id = await created("/templates", { name: "used", imageName: "a:1", isServerless: true });
      await created("/endpoints", { name: "user", templateId: id });
      return kinds.Template.delete(id, { name: "used" }, bench.context({}, "v1"));
    },
  ],
  [
    "a template that is not released in time",
    async () => {
      const id = await created("/templates", { name: "kept", imageName: "a:1", isServerless: true });
      const endpoint = await created("/endpoints", { name: "user", templateId: id });
      expectResponse(await bench.rest("DELETE", `/endpoints/${endpoint}`), 204);
      return kinds.Template.delete(id, { name: "kept" }, bench.context({}, "v1"));
    },
  ],
  [
    "a volume in use",
    async () => {
      const id = await created("/networkvolumes", { name: "used", ...volume });
      await user({ networkVolumeId: id });
      return kinds.NetworkVolume.delete(id, { name: "used" }, bench.context());
    },
  ],
  ["a typo in a property", failures("Template", { imageNme: "a", imageName: "a" })],
  ["a smaller volume size", failures("NetworkVolume", volume, { ...volume, size: 50 })],
  [
    "an invalid default name",
    () => {
      const [failure] = kinds.Secret.check({}, { value: "v" }, naming("hub token-dev")).failures;
      throw new Error(failure?.reason);
    },
  ],
  ["a missing template", () => create("ServerlessEndpoint", { templateId: "nosuchtemp" })],
  [
    "a missing volume",
    async () =>
      create("ServerlessEndpoint", {
        templateId: await created("/templates", { name: "there", imageName: "a:1", isServerless: true }),
        networkVolumeId: "nosuchvolu",
      }),
  ],
  [
    "an unknown endpoint of a job",
    () =>
      kinds.JobInvoke.create(
        kinds.JobInvoke.check({}, { endpointId: "nosuch", input: {} }, naming()).inputs,
        bench.context(),
      ),
  ],
  [
    "an update of a deleted object",
    () =>
      kinds.NetworkVolume.update(
        "aaaaaaaaa1",
        checked("NetworkVolume", volume),
        { ...checked("NetworkVolume", volume), size: 20 },
        bench.context(),
      ),
  ],
  ["a lookup of a missing object", () => functions.getTemplate.run({ name: "missing" }, bench.context())],
  ["a quota", refused(400, "volume quota exceeded: limit reached")],
  ["too many requests", refused(429, "slow down")],
  ["a service in maintenance", refused(503, "maintenance until 12:00")],
  ["an internal error", refused(500, "oops")],
  [
    "a login page instead of the service",
    async () => {
      response = { action: "respond", status: 200, body: "<html><title>Sign in</title></html>" };
      return create("NetworkVolume", volume, contextAt(bench, faultyServer.origin));
    },
  ],
  [
    "an address of another service",
    async () => {
      response = { action: "respond", status: 302, headers: { location: "https://login.example/" } };
      return create("NetworkVolume", volume, contextAt(bench, faultyServer.origin));
    },
  ],
  [
    "a response timeout",
    async () => {
      response = { action: "hang" };
      return create("NetworkVolume", volume, contextAt(bench, faultyServer.origin, { attemptTimeout: 1000 }));
    },
  ],
  [
    "an adopted object that requires a replacement",
    async () => {
      await created("/networkvolumes", { name: "moved", ...volume });
      return create("NetworkVolume", { name: "moved", size: 10, dataCenterId: "US-KS-2", adoptExisting: true });
    },
  ],
  ["a conflict", refused(409, "endpoint is being deleted")],
  [
    "a request that is retried (on the resource's own line)",
    async () => {
      const texts: string[] = [];
      response = problem("busy", 429);
      const context = { ...contextAt(bench, faultyServer.origin), progress: (text: string) => void texts.push(text) };
      await create("NetworkVolume", volume, context).catch(() => undefined);
      throw new Error(texts[0]);
    },
  ],
  ["a job that fails", job(() => json({ id: "j1", status: "FAILED", error: "ValueError: boom" }))],
  [
    "a job whose handler writes the words of a title",
    job(() => json({ id: "j1", status: "FAILED", error: "the database has retired: connection refused" })),
  ],
  ["a job without a worker before its timeout", job(() => json({ id: "j1", status: "IN_QUEUE" }), { timeout: 60 })],
  [
    "a job with unexpected output",
    job(() => json({ id: "j1", status: "COMPLETED", output: { text: "ping" } }), {
      expect: { output: { text: "pong" } },
    }),
  ],
  [
    "an endpoint that fails its verification",
    async () => {
      const templateId = await created("/templates", { name: "verified", imageName: "a:1", isServerless: true });
      return create("ServerlessEndpoint", { templateId, workersMax: 0, verify: { input: {} } });
    },
  ],
  [
    "a job that the service no longer stores",
    job((call) => (call === 1 ? json({ id: "j1", status: "IN_PROGRESS" }) : json({ error: "job not found" }, 404))),
  ],
  ["a job that the service accepted and never shows", job(() => json({ error: "job not found" }, 404))],
];

/** Returns the message of the failure of `work`, with origins as HERE and ids as ID. */
async function messageOf(work: () => unknown): Promise<{ message: string; help: HelpKey | undefined }> {
  const failure: unknown = await Promise.resolve()
    .then(work)
    .then(
      (value) => new Error(`it succeeded: ${JSON.stringify(value)}`),
      (error: unknown) => error,
    );
  if (!(failure instanceof Error)) throw failure;
  if (failure instanceof ResourceInitError) ids.add(failure.id);
  const here = failure.message.replaceAll(/https?:\/\/(127\.0\.0\.1|nowhere\.invalid):\d+/g, "HERE");
  const known = [...ids].reduce((text, id) => text.replaceAll(id, "ID"), here);
  // REST v2 has other paths, one list of volumes, and a prefix in its messages about missing objects.
  const message = known
    .replaceAll(restPaths.volumes, "/v1/networkvolumes")
    .replaceAll("/v2", "/v1")
    .replaceAll("networkVolumeId(s): ", "networkVolumeId: ")
    .replaceAll("resource not found: ", "");
  return { message, help: helpOf(failure) };
}

test("every message equals the message in messages.md (npx vitest run -u updates it)", async () => {
  const sections: string[] = [];
  for (const [fault, work] of golden) {
    const { message, help } = await messageOf(work);
    const most = fault.startsWith("a job") ? 4 : fault.includes("verification") ? 3 : 2;
    expect(message.split("\n").length, fault).toBeLessThanOrEqual(most);
    sections.push(`**${fault}**\n\n> ${withHelp(message, help, "DOCS").replaceAll("\n", "  \n> ")}\n`);
  }
  const intro =
    "# Messages\n\nComplete error messages. HERE stands for an address, ID for an id, DOCS for the pages.\n\n";
  await expect(intro + sections.join("\n")).toMatchFileSnapshot("messages.md");
});
