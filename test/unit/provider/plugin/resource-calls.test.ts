import { beforeEach, describe, expect, test } from "vitest";
import {
  autonamingDisabled,
  type checkRequest,
  type checkResponse,
  diffChanges,
  diffKinds,
  type Request,
  type Response,
} from "../../../../provider/engine/messages";
import { Unknown } from "../../../../provider/engine/values";
import type { ProviderProcess } from "../../../../provider/framework/process";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { kinds } from "../../../../provider/resources";
import { startRig } from "../../../support/client-rig";
import { connectedProcess } from "../../../support/configured-process";
import { json } from "../../../support/faulty-server";
import { longSecrets } from "../../../support/long-secrets";
import { engineProperties, roundTrip } from "../../../support/property-sets";
import { asSecret, createBoxLifecycle } from "../dynamic/box";

const urnOf = (kind: string): string => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::lunch`;
const secret = longSecrets().pem;

/** Creates a host whose service rejects every request with this message. */
async function createLoggingHost(message: string): Promise<ProviderProcess> {
  const { clients, clock } = await startRig([json({ errors: [{ message }], message }, 400)]);
  return { ...connectedProcess(clients), clock };
}

/** Timeouts that the verbs of a box receive, in ms. */
const timeouts: unknown[] = [];
let calls: ReturnType<typeof resourceCalls>;
beforeEach(async () => {
  timeouts.length = 0;
  const box = createBoxLifecycle({
    create: async (inputs, { timeout }) => {
      timeouts.push(timeout);
      return { id: "box-1", outputs: inputs };
    },
    update: async (_id, _olds, news, { timeout }) => {
      timeouts.push(timeout);
      return news;
    },
    delete: async (_id, _olds, { timeout }) => void timeouts.push(timeout),
  });
  calls = resourceCalls(await createLoggingHost(`no ${JSON.stringify(secret)}`), { ...kinds, Box: box });
});

const requestOf = (kind: string, news: object, olds: object = {}): Request<typeof checkRequest> => ({
  urn: urnOf(kind),
  olds: engineProperties(olds),
  news: engineProperties(news),
  randomSeed: undefined,
  autonaming: undefined,
});
const check = (kind: string, news: object): Promise<Response<typeof checkResponse>> =>
  calls.check(requestOf(kind, news));

const failureOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "it succeeded",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

test("a check's message contains no value that is secret by its shape or by the program", async () => {
  expect((await check("Box", { size: 0, pin: "4711" })).failures).toEqual([
    { property: "size", reason: '0 is too small, "[secret]"' },
  ]);
  const { failures } = await check("Template", {
    imageName: "a:1",
    ports: asSecret(secret),
    dockerArgs: asSecret(4711),
  });
  expect(failures).toEqual([
    // The engine prints the value of a property that a failure names, even a secret.
    { property: "", reason: "dockerArgs: must be a string; put it in quotes" },
    { property: "", reason: expect.stringMatching(/^ports: must be a comma-separated list/) },
  ]);
});

test("a check warns about ids outside the catalog and passes", async () => {
  const warnings: string[] = [];
  const host = await createLoggingHost("");
  const log = { ...host.log, warning: async (_urn: string, text: string) => void warnings.push(text) };
  const news = { templateId: "t", gpuTypeIds: ["NVIDIA L44"] };
  const { failures = [] } = await resourceCalls({ ...host, log }, kinds).check(requestOf("ServerlessEndpoint", news));
  expect(failures).toEqual([]);
  expect(warnings).toEqual(['gpuTypeIds: unknown GPU type "NVIDIA L44"; did you mean "NVIDIA L4"?']);
});

test("a check's failure names a property only if the engine can print its value, and otherwise begins with the path", async () => {
  const template = { imageNaem: "a", containerDiskInGb: -1, env: { "7": 1, "a.b": 1, MODEL: [] } };
  expect((await check("Template", template)).failures).toEqual([
    { property: "", reason: 'imageNaem: unknown property; did you mean "imageName"?' },
    { property: "", reason: "imageName: is required" },
    { property: "containerDiskInGb", reason: "is -1; must be 0 or more" },
    { property: "", reason: 'env["7"]: must be a string; put it in quotes' },
    { property: "", reason: 'env["a.b"]: must be a string; put it in quotes' },
    { property: "", reason: "env.MODEL: must be a string" },
  ]);
  const job = { endpointId: "e", input: {}, policy: { ttl: 5 }, expect: { status: asSecret("hidden-4711") } };
  expect((await check("JobInvoke", job)).failures).toEqual([
    { property: "", reason: "policy.ttl: is 5; must be a whole number from 10000 to 604800000" },
    { property: "", reason: expect.stringMatching(/^expect\.status: must be "COMPLETED"/) },
  ]);
  expect((await check("ServerlessEndpoint", { templateId: "t", gpuTypeIds: ["a", 4] })).failures).toEqual([
    { property: "", reason: "gpuTypeIds[1]: is 4; must be a string; put it in quotes" },
  ]);
});

test.each([
  ["Box", 'Box " tt\\n": does not exist; pass the id (not the name) of a Box in the account of the API key'],
  [
    "VerifiedEndpoint",
    "unknown resource type serverless-compute:index:VerifiedEndpoint; this provider supports Box; instead of a component, import its resources",
  ],
])("an import without an object names the kind, the id and the allowed ids: %s", async (kind, text) => {
  const importing = resourceCalls(await createLoggingHost(""), {
    Box: createBoxLifecycle({ read: async () => undefined }),
  });
  const read = {
    urn: urnOf(kind),
    id: " tt\n",
    properties: engineProperties({}),
    inputs: engineProperties({}),
    timeout: 0,
  };
  expect(await failureOf(importing.read(read))).toBe(text);
});

test.each<[value: string, news: object]>([
  ["a short secret", { ports: asSecret("x") }],
  ["a text that contains a secret", { ports: "x-471199", dockerArgs: asSecret("471199") }],
  ["a map", { env: { SERVERLESS_COMPUTE_TEMPLATE_ID: "t" } }],
])("a check's failure names no property whose value is %s", async (_value, news) => {
  const { failures } = await check("Template", { imageName: "a:1", ...news });
  expect(failures).toEqual([{ property: "", reason: expect.stringMatching(/^(ports|env): (?!.*471199)/) }]);
});

test("a verb's message contains no secret, in any form that the service echoes", async () => {
  const properties = engineProperties({ name: asSecret(secret), size: 10, dataCenterId: "EU-RO-1" });
  const request = { urn: urnOf("NetworkVolume"), properties, timeout: 0, preview: false };
  const message = await failureOf(calls.create(request));
  expect(message).toMatch(/^NetworkVolume "\[secret\]\s": the service rejected the request: no "\[secret\](\\n)?"$/);
});

test("a refresh returns no input in plain text that the resource option additionalSecretOutputs encrypts", async () => {
  const found = { tags: ["found"], pin: "4711" };
  const box = createBoxLifecycle({ read: async () => ({ inputs: found, outputs: found }) });
  const reading = resourceCalls(await createLoggingHost("unused"), { Box: box });
  const properties = engineProperties({ tags: asSecret(["known"]) });
  const inputs = engineProperties({ tags: ["known"] });
  const read = await reading.read({ id: "box-1", urn: urnOf("Box"), properties, inputs, timeout: 0 });
  expect(roundTrip(read.inputs).secretPaths).toContainEqual(["tags"]);
  expect(roundTrip(read.properties).secretPaths).toContainEqual(["tags"]);
});

test("a list that contains a secret is secret as a whole, because its elements may move", async () => {
  const properties = engineProperties({ tags: ["a", asSecret("4711")] });
  const read = await calls.read({ id: "box-1", urn: urnOf("Box"), properties, inputs: properties, timeout: 0 });
  expect(roundTrip(read.properties).secretPaths).toEqual([["tags"]]);
  expect(roundTrip(read.inputs).secretPaths).toEqual([["tags"]]);
});

test("a preview of a create leaves a generated name and its derived outputs unknown, because the update generates another", async () => {
  const previewOf = async (news: object) => {
    const { inputs } = await check("Secret", { value: "4711", ...news });
    const request = { urn: urnOf("Secret"), properties: inputs ?? engineProperties({}), timeout: 0, preview: true };
    return roundTrip((await calls.create(request)).properties).properties;
  };
  expect(await previewOf({})).toMatchObject({ name: Unknown.value, reference: Unknown.value });
  expect(await previewOf({ name: "token" })).toMatchObject({ name: "token", reference: "{{ RUNPOD_SECRET_token }}" });
});

test("a preview of an update keeps a generated name and the outputs that do not change, and changes nothing", async () => {
  const inputs = { name: "chat-dev-1234567", templateId: "t1", type: "LOAD_BALANCER" };
  const [olds, news] = [
    engineProperties({ ...inputs, url: "http://balancer" }),
    engineProperties({ ...inputs, workersMax: 9 }),
  ];
  const request = { id: "e1", urn: urnOf("ServerlessEndpoint"), olds, news, timeout: 0, preview: true };
  const { properties } = await calls.update(request);
  expect(roundTrip(properties).properties).toMatchObject({
    ...inputs,
    workersMax: 9,
    url: "http://balancer",
    // Programs treat missing properties as unknown.
    networkVolumeId: null,
  });
});

describe("a name", () => {
  const checked = (olds: object, autonaming?: { proposedName: string; mode: number }) =>
    calls.check({ ...requestOf("Template", { imageName: "a:1" }, olds), autonaming });

  test("follows the stack's autonaming and does not change later", async () => {
    const autonaming = { proposedName: "lunch-x7k2p", mode: 0 };
    expect((await checked({}, autonaming)).inputs?.properties["name"]).toBe("lunch-x7k2p");
    const olds = { name: "lunch-a1b2c", imageName: "a:1" };
    expect((await checked(olds, autonaming)).inputs?.properties["name"]).toBe("lunch-a1b2c");
  });

  test("is required if autonaming is disabled", async () => {
    const { failures = [] } = await checked({}, { proposedName: "", mode: autonamingDisabled });
    expect(failures.map(({ reason }) => reason)).toEqual(["name: is required"]);
  });
});

test("names a missing secret input so that the engine prints no value, as with ignoreChanges", async () => {
  const { failures } = await check("Secret", { name: "token" });
  expect(failures).toEqual([{ property: "", reason: "value: is required" }]);
});

test("passes customTimeouts (in seconds, 0 for none) to each verb", async () => {
  const properties = engineProperties({ size: 1 });
  const same = { urn: urnOf("Box"), preview: false };
  await calls.create({ ...same, properties, timeout: 1.5 });
  await calls.update({ ...same, id: "box-1", olds: properties, news: engineProperties({ size: 2 }), timeout: 2 });
  await calls.delete({ urn: urnOf("Box"), id: "box-2", properties, timeout: 0 });
  expect(timeouts).toEqual([1500, 2000, undefined]);
});

describe("a diff", () => {
  const diffOf = async (kind: string, olds: object, news: object) => {
    // The engine checks before it compares.
    await calls.check(requestOf(kind, news, olds));
    const { detailedDiff, ...rest } = await calls.diff({
      id: "x",
      urn: urnOf(kind),
      olds: engineProperties(olds),
      news: engineProperties(news),
    });
    return {
      ...rest,
      detailedDiff: Object.fromEntries([...(detailedDiff ?? [])].map(([path, { kind }]) => [path, kind])),
    };
  };

  test("contains each changed nested property by its path, and no others", async () => {
    const olds = { name: "chat", imageName: "a:1", env: { A: "1", B: "2", "7": "x", "with.dot": "x" } };
    const env = { A: "9", C: "3", "7": "y", "with.dot": "y" };
    const news = { name: "chat", imageName: "a:1", env, dockerArgs: "--with-c" };
    const { detailedDiff, replaces, stables } = await diffOf("Template", olds, news);
    expect(detailedDiff).toEqual({
      dockerArgs: diffKinds.update[0],
      "env.A": diffKinds.update[0],
      "env.B": diffKinds.delete[0],
      "env.C": diffKinds.add[0],
      // In brackets without quotes, the engine reads a number as an index of a list and shows no values.
      'env["7"]': diffKinds.update[0],
      'env["with.dot"]': diffKinds.update[0],
    });
    expect(replaces).toEqual([]);
    expect(stables).toEqual(["name", "imageName"]);
  });

  test("updates the state if the program makes a value secret", async () => {
    const changesOf = async (olds: object, news: object) => {
      const { changes, replaces, hasDetailedDiff } = await diffOf("Box", olds, news);
      expect({ replaces, hasDetailedDiff }).toEqual({ replaces: [], hasDetailedDiff: changes === diffChanges.none });
      return changes;
    };
    const box = { name: "b", note: "1" };
    const hidden = { name: "b", note: asSecret("1") };
    expect(await changesOf(box, hidden)).toBe(diffChanges.some);
    expect(await changesOf(hidden, hidden)).toBe(diffChanges.none);
    expect(await changesOf(hidden, box)).toBe(diffChanges.none);
  });

  test("marks properties that force a replacement, and deletes first if a unique name remains", async () => {
    const olds = { name: "chat", imageName: "a:1", isServerless: true };
    const replaced = await diffOf("Template", olds, { ...olds, isServerless: false });
    expect(replaced).toMatchObject({
      detailedDiff: { isServerless: diffKinds.update[1] },
      replaces: ["isServerless"],
      deleteBeforeReplace: true,
    });
    const renamed = await diffOf("Template", olds, { ...olds, name: "chat-2", isServerless: false });
    expect(renamed).toMatchObject({ deleteBeforeReplace: false });
  });
});
