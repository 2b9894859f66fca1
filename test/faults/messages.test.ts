import { afterAll, expect, test } from "vitest";
import type { Context, Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { getTemplate } from "../../provider/resources/look-ups";
import { resolveSettings } from "../../provider/settings";
import { json, startFaultyServer } from "../support/faulty-server";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { expectAnswer, stringAt } from "../support/raw-http";
import { chatterPort, contextAt, deadOrigin } from "./support/astray";
import type { ObjectKind } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 600_000 });

/** A service that answers lists and fails everything else as the test says. */
let answer = json({}, 500);
const moody = await startFaultyServer(({ method }) => (method === "GET" ? json([]) : answer));
afterAll(() => moody.close());

const checked = (kind: ObjectKind, news: Properties): Properties => kinds[kind].check({}, news, "chat-dev").inputs;
const volume = { size: 10, dataCenterId: "EU-RO-1" };
const template = { imageName: "acme/chat:1" };

const create = (kind: ObjectKind, news: Properties, context: Context = bench.context()): Promise<unknown> =>
  kinds[kind].create(checked(kind, news), context);
/** A create of a volume at a service that answers so. */
const refused = (status: number, message: string) => async (): Promise<unknown> => {
  answer = json({ message }, status);
  return create("NetworkVolume", volume, contextAt(bench, moody.origin));
};
const failures =
  (kind: ObjectKind | "JobInvoke", news: Properties, olds: Properties = {}) =>
  (): never => {
    const found = kinds[kind].check(olds, news, "chat-dev").failures;
    throw new Error(found.map(({ path, reason }) => `${path}: ${reason}`).join("\n"));
  };
/** Ids in the messages: they are random, and one may happen to look like a word. */
const ids = new Set(["aaaaaaaaa1"]);
const made = async (path: string, body: object): Promise<string> => {
  const id = stringAt(await bench.rest("POST", path, body), "id");
  ids.add(id);
  return id;
};
const user = async (more: object): Promise<string> => {
  const templateId = await made("/templates", { name: `t-${Math.random()}`, imageName: "a:1", isServerless: true });
  return made("/endpoints", { name: "user", templateId, workersMax: 0, ...more });
};
const addresses = "serverless-compute:baseUrl, :graphqlUrl and :serverlessUrl";
const key = "the config serverless-compute:apiKey (a secret) or SERVERLESS_COMPUTE_API_KEY";
const localKey = 'the local service prints its key with "npx serverless-compute-local key"';
const lost =
  "It is not known whether the service carried the request out. Look whether the object exists before you try again.";

/** What goes wrong, how, and all that a person gets to read: origins are HERE, ids are ID. */
const golden: [fault: string, work: () => unknown, message: string][] = [
  [
    "a wrong key",
    () => create("NetworkVolume", volume, contextAt(bench, bench.proxy.origin, { apiKey: "wrong" })),
    `NetworkVolume "chat-dev": HERE refused the API key, or the key may not do this. The key comes from ${key}; ${localKey}.`,
  ],
  [
    "a missing key",
    () => resolveSettings(() => undefined, {}),
    `the API key of HERE/v1 is missing: set ${key}; ${localKey}`,
  ],
  [
    "a key with a line break in it",
    () => contextAt(bench, bench.proxy.origin, { apiKey: "a\nb" }),
    "apiKey is not one word of plain ASCII characters (check for spaces and line breaks)",
  ],
  [
    "an address that is none",
    () => contextAt(bench, "localhost"),
    'baseUrl is "localhost/v1": it must be a URL such as HERE',
  ],
  [
    "an address of another protocol",
    () => contextAt(bench, "ftp://localhost:21"),
    'baseUrl is "ftp://localhost:21/v1": it must start with http:// or https://',
  ],
  [
    "a setting that is no number",
    () =>
      resolveSettings(() => undefined, {
        SERVERLESS_COMPUTE_API_KEY: "k",
        SERVERLESS_COMPUTE_TEMPLATE_RELEASE_LIMIT: "soon",
      }),
    'serverless-compute:templateReleaseLimit (or SERVERLESS_COMPUTE_TEMPLATE_RELEASE_LIMIT) is "soon": must be seconds, more than 0',
  ],
  [
    "a service that is down",
    async () => create("NetworkVolume", volume, contextAt(bench, await deadOrigin())),
    `NetworkVolume "chat-dev": nothing answers at HERE. Start the local service ("npx serverless-compute-local start"), or set ${addresses} to where the service is.`,
  ],
  [
    "an unknown host",
    () => create("NetworkVolume", volume, contextAt(bench, "http://nowhere.invalid:7337")),
    `NetworkVolume "chat-dev": the host of HERE is unknown. Check ${addresses} and the name service.`,
  ],
  [
    "a server that speaks something else",
    async () =>
      create(
        "NetworkVolume",
        volume,
        contextAt(bench, `http://127.0.0.1:${await chatterPort("SSH-2.0-OpenSSH_9\r\n")}`),
      ),
    `NetworkVolume "chat-dev": what answers at HERE does not speak HTTP. Check ${addresses}.`,
  ],
  [
    "TLS where there is none",
    async () =>
      create(
        "NetworkVolume",
        volume,
        contextAt(bench, `https://127.0.0.1:${await chatterPort("HTTP/1.1 400 Bad Request\r\n\r\n")}`),
      ),
    `NetworkVolume "chat-dev": what answers at HERE does not speak TLS. Write http:// in ${addresses}, or check the port.`,
  ],
  [
    "a path that the service does not have",
    () => create("NetworkVolume", volume, contextAt(bench, `${bench.proxy.origin}/api`)),
    `NetworkVolume "chat-dev": HERE/api/v1/networkvolumes is no address of the service (route GET /api/v1/networkvolumes not found). Check ${addresses}.`,
  ],
  [
    "a duplicate name",
    async () => {
      await made("/templates", { name: "chat-dev", imageName: "a:1" });
      return create("Template", template);
    },
    'Template "chat-dev": the name is taken in this account (endpoint template names must be unique). Set another name, delete the object that has it, or set adoptExisting to take it over. To replace a resource by force, set its option deleteBeforeReplace: true.',
  ],
  [
    "a name that several objects to adopt have",
    async () => {
      for (const _ of [1, 2]) await made("/networkvolumes", { name: "chat-dev", ...volume });
      return create("NetworkVolume", { ...volume, adoptExisting: true });
    },
    'NetworkVolume "chat-dev": adoptExisting takes over one object, but 2 have this name (ID, ID). Rename or delete those that are not meant, or set another name.',
  ],
  [
    "a template that an endpoint outside the deployment uses",
    async () => {
      const id = await made("/templates", { name: "used", imageName: "a:1", isServerless: true });
      await made("/endpoints", { name: "user", templateId: id });
      return kinds.Template.delete(id, { name: "used" }, bench.context());
    },
    'template "used" cannot be deleted: endpoint "user" (ID) still uses it and is not being deleted here. Delete it or give it another template, then try again. A template that is being replaced needs another name, too: then the new one is made first.',
  ],
  [
    "a template that is not released in time",
    async () => {
      const id = await made("/templates", { name: "kept", imageName: "a:1", isServerless: true });
      const endpoint = await made("/endpoints", { name: "user", templateId: id });
      expectAnswer(await bench.rest("DELETE", `/endpoints/${endpoint}`), 204);
      return kinds.Template.delete(id, { name: "kept" }, bench.context());
    },
    'template "kept" is still in use after 150 s: no endpoint uses it, perhaps a pod does. It stays in the state: run the same command again later, or wait longer with serverless-compute:templateReleaseLimit (seconds).',
  ],
  [
    "a volume in use",
    async () => {
      const id = await made("/networkvolumes", { name: "used", ...volume });
      await user({ networkVolumeId: id });
      return kinds.NetworkVolume.delete(id, { name: "used" }, bench.context());
    },
    'NetworkVolume "used": it is still in use: network volume "used" is in use by endpoint "user" (ID): delete that endpoint or take the volume from it first. Remove what uses it, then try again.',
  ],
  [
    "a number out of bounds",
    failures("ServerlessEndpoint", { templateId: "t", idleTimeout: 5000 }),
    "idleTimeout: is 5000; must be a whole number from 1 to 3600",
  ],
  [
    "a typo in a property",
    failures("Template", { imageNme: "a", imageName: "a" }),
    'imageNme: is no property here; did you mean "imageName"?',
  ],
  ["a property of the wrong type", failures("Template", { imageName: "a", env: { A: 1 } }), "env.A: must be a string"],
  ["a required property that is missing", failures("JobInvoke", { input: {} }), "endpointId: is required"],
  [
    "a volume that is to shrink",
    failures("NetworkVolume", volume, { ...volume, size: 50 }),
    "size: is 10, but it has 50 and can only grow; a smaller one must be a new one: change its resource name",
  ],
  [
    "a default name that is not allowed",
    () => {
      const [failure] = kinds.Secret.check({}, { value: "v" }, "hub token-dev").failures;
      throw new Error(failure?.reason);
    },
    'is "hub token-dev" by default; must be letters, digits, _, . and -, starting with a letter, a digit or _; set a name of your own',
  ],
  [
    "a template that does not exist",
    () => create("ServerlessEndpoint", { templateId: "nosuchtemp" }),
    'ServerlessEndpoint "chat-dev": the service refused it: templateId: template "nosuchtemp" does not exist',
  ],
  [
    "a volume that does not exist",
    async () =>
      create("ServerlessEndpoint", {
        templateId: await made("/templates", { name: "there", imageName: "a:1", isServerless: true }),
        networkVolumeId: "nosuchvolu",
      }),
    'ServerlessEndpoint "chat-dev": the service refused it: networkVolumeId: network volume "nosuchvolu" does not exist',
  ],
  [
    "an unknown endpoint of a job",
    () =>
      kinds.JobInvoke.create(
        kinds.JobInvoke.check({}, { endpointId: "nosuch", input: {} }, undefined).inputs,
        bench.context(),
      ),
    'endpoint "nosuch" is unknown to the service (endpoint "nosuch" not found). Check endpointId, and whether serverless-compute:serverlessUrl leads to the service that has it.',
  ],
  [
    "an object that is gone at an update",
    () =>
      kinds.NetworkVolume.update(
        "aaaaaaaaa1",
        checked("NetworkVolume", volume),
        { ...checked("NetworkVolume", volume), size: 20 },
        bench.context(),
      ),
    'NetworkVolume "chat-dev": it is gone: network volume "ID" not found. Run "pulumi refresh"; the next "pulumi up" makes it again.',
  ],
  [
    "a look-up of what does not exist",
    () => getTemplate({ name: "nobody" }, bench.context()),
    'Template "nobody" does not exist: no object of the account has this name',
  ],
  [
    "a quota",
    refused(400, "volume quota exceeded: limit reached"),
    'NetworkVolume "chat-dev": the account\'s limit is reached: volume quota exceeded: limit reached. Delete what is not needed, or have the limit raised.',
  ],
  [
    "too many requests",
    refused(429, "slow down"),
    'NetworkVolume "chat-dev": HERE takes no more requests at the moment, in spite of waiting. Try again later.',
  ],
  [
    "a service in maintenance",
    refused(503, "maintenance until 12:00"),
    `NetworkVolume "chat-dev": HERE is not available at the moment, in spite of waiting: maintenance until 12:00. Try again later.\n${lost}`,
  ],
  [
    "an internal error",
    refused(500, "oops"),
    `NetworkVolume "chat-dev": HERE failed (HTTP 500): oops. Try again; its logs tell the cause.\n${lost}`,
  ],
  [
    "a login page instead of the service",
    async () => {
      answer = {
        does: "answer",
        status: 200,
        headers: { "content-type": "text/html" },
        body: "<html><title>Sign in</title></html>",
      };
      return create("NetworkVolume", volume, contextAt(bench, moody.origin));
    },
    `NetworkVolume "chat-dev": HERE answered something that does not fit: the answer is no JSON. Check ${addresses}.\n${lost}`,
  ],
  [
    "an address that leads elsewhere",
    async () => {
      answer = { does: "answer", status: 302, headers: { location: "https://login.example/" } };
      return create("NetworkVolume", volume, contextAt(bench, moody.origin));
    },
    `NetworkVolume "chat-dev": HERE/v1/networkvolumes is no address of the service (HTTP 302: the address leads on to https://login.example/). Check ${addresses}.`,
  ],
  [
    "no answer in time",
    async () => {
      answer = { does: "hang" };
      return create("NetworkVolume", volume, contextAt(bench, moody.origin, { attemptTimeout: 300 }));
    },
    `NetworkVolume "chat-dev": HERE did not answer in time (no answer within 0.3 s). Try again.\n${lost}`,
  ],
];

test.each(golden)("%s", async (_, work, message) => {
  const failure: unknown = await Promise.resolve()
    .then(work)
    .then(
      (value) => new Error(`it succeeded: ${JSON.stringify(value)}`),
      (error: unknown) => error,
    );
  if (!(failure instanceof Error)) throw failure;
  const here = failure.message.replaceAll(/https?:\/\/(127\.0\.0\.1|nowhere\.invalid):\d+/g, "HERE");
  const told = [...ids].reduce((text, id) => text.replaceAll(id, "ID"), here);
  expect(told).toBe(message);
  expect(told.split("\n").length).toBeLessThanOrEqual(2);
});
