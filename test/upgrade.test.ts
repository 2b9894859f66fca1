import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createProvider } from "../provider/dynamic/provider";
import { createCancellation } from "../provider/process/cancellation";
import { kinds } from "../provider/resources";

/** A state as `pulumi stack export --show-secrets` of a stack that version 0.1.0 deployed: all its secrets are fakes. */
const fixture = z.looseObject({
  deployment: z.looseObject({
    resources: z.array(
      z.looseObject({
        urn: z.string(),
        type: z.string(),
        id: z.string().optional(),
        inputs: z.record(z.string(), z.unknown()).default({}),
        outputs: z.record(z.string(), z.unknown()).default({}),
      }),
    ),
  }),
});
const text = readFileSync(fileURLToPath(new URL("fixtures/state-0.1.0.json", import.meta.url)), "utf8");
const resources = fixture
  .parse(JSON.parse(text))
  .deployment.resources.filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic/serverless:"));

const signature = "4dabf18193072939515e22adb298388d";

/** A value as a provider receives it: secrets in plain text. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const { [signature]: signatureText, plaintext } = Object.fromEntries(Object.entries(value));
  if (signatureText !== undefined) return JSON.parse(String(plaintext));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
const wire = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));

const kindOf = (type: string): string => type.slice(type.lastIndexOf(":") + 1);
const idOf = (kind: string): string => resources.find(({ type }) => kindOf(type) === kind)?.id ?? "";
const revision = resources.find(({ type }) => kindOf(type) === "Template")?.outputs["revision"];

/** Inputs of the 0.1.0 program, without names. */
const recordedState: Record<string, object> = {
  Secret: { value: "fake-value", description: "Reads models" },
  ContainerRegistryAuth: { username: "robot", password: "fake-password" },
  NetworkVolume: { size: 10, dataCenterId: "EU-RO-1" },
  Template: {
    imageName: "acme/echo:1",
    containerDiskInGb: 20,
    ports: "8888/http, 22/tcp",
    env: { MODEL: "small", TOKEN: "{{ RUNPOD_SECRET_token-dev }}", RAW: "fake-raw" },
    containerRegistryAuthId: idOf("ContainerRegistryAuth"),
  },
  ServerlessEndpoint: {
    templateId: idOf("Template"),
    networkVolumeId: idOf("NetworkVolume"),
    gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
    dataCenterIds: ["US-KS-2", "EU-RO-1"],
    workersMax: 1,
    idleTimeout: 30,
  },
  JobInvoke: {
    endpointId: idOf("ServerlessEndpoint"),
    input: { prompt: "ping", secret: "fake-input" },
    policy: { ttl: 60000 },
    expect: { output: { prompt: "ping" } },
    triggers: [plain(revision)],
  },
};

const host = {
  setConfiguration: () => {},
  beginDeployment: () => {},
  connect: () => {
    throw new Error("a preview without changes must not call the service");
  },
  dialect: (): "v1" => "v1",
  preflight: (): "off" => "off",
  objects: () => new Map(),
  serverlessUrl: () => undefined,
  claimedIds: () => new Map(),
  clock: systemClock,
  log: { progress: () => {}, warning: async () => {} },
  cancellation: createCancellation(),
  onLookup: () => {},
  warnBeforeCheck: () => {},
};

test("the fixture contains every kind", () => {
  expect(resources.map(({ type }) => kindOf(type)).sort()).toEqual(Object.keys(kinds).sort());
});

describe("a state of version 0.1.0 under the current code", () => {
  test.each(resources)("$urn: the same program changes nothing", async ({ type, id = "", inputs, outputs }) => {
    const lifecycle = Object.values(kinds).find(({ kind }) => kind === kindOf(type));
    if (!lifecycle) throw new Error(type);
    const provider = createProvider(lifecycle, host);
    const hiddenProperties = Object.fromEntries(Object.entries(wire(inputs)).filter(([key]) => key.startsWith("__")));
    const news = { ...recordedState[kindOf(type)], ...hiddenProperties };
    const checked = await provider.check?.(wire(inputs), news);
    expect(checked?.failures).toEqual([]);
    const olds = wire(outputs);
    expect(await provider.diff?.(id, olds, checked?.inputs ?? {})).toMatchObject({ changes: false, replaces: [] });
  });
});
