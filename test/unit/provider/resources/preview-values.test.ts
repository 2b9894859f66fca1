import * as pulumi from "@pulumi/pulumi";
import type { RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb";
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";
import {
  ContainerRegistryAuth,
  JobInvoke,
  NetworkVolume,
  Secret,
  ServerlessEndpoint,
  Template,
  VerifiedEndpoint,
} from "pulumi-serverless-compute";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { containerDefaults, revisionOf } from "../../../../provider/resources/template/revision";

/** Outputs that no input sets. */
const outputs = { version: 1, revision: "0123456789abcdef" };

/** Registrations of the program, by type and name. */
const registered = new Map<string, pulumi.runtime.MockResourceArgs>();

const setMocks = (isPreview: boolean): Promise<void> =>
  pulumi.runtime.setMocks(
    {
      newResource: (args) => {
        registered.set(`${args.type.split(":").at(-1)} ${args.name}`, args);
        const reported = args.name === "without-outputs" ? {} : outputs;
        return { id: `${args.name}-id`, state: { ...args.inputs, ...reported } };
      },
      call: ({ inputs }) => inputs,
    },
    "shop",
    "dev",
    isPreview,
  );

beforeAll(() => setMocks(true));
// All files of a worker share the SDK's state.
afterAll(() => setMocks(false));
beforeEach(() => registered.clear());

/** The value of an output in a preview; undefined if it is unknown. */
const previewValueOf = <Value>(output: pulumi.Output<Value>): Promise<Value | undefined> =>
  new Promise((resolve) => {
    const known: unknown = "isKnown" in output ? output.isKnown : undefined;
    void Promise.resolve(known).then((isKnown) => (isKnown ? void output.apply(resolve) : resolve(undefined)));
  });

describe("a resource without arguments, as a program in JavaScript may create it,", () => {
  const classes = { ContainerRegistryAuth, JobInvoke, NetworkVolume, Secret, ServerlessEndpoint, Template };

  test.each(Object.entries(classes))(
    "is registered, so that the check names the missing properties: %s",
    (kind, type) => {
      Reflect.construct(type, ["bare"]);
      Reflect.construct(type, ["empty", null]);
      return vi.waitFor(() => {
        expect([...registered.keys()]).toEqual([`${kind} bare`, `${kind} empty`]);
      });
    },
  );

  test.each([
    ["no arguments", []],
    ["no verification", [{ endpoint: { imageName: "acme/echo:1" } }]],
  ])("fails as a VerifiedEndpoint with %s, which would be deployed unverified", (_, args) => {
    expect(() => Reflect.construct(VerifiedEndpoint, ["bare", ...args])).toThrow(
      'VerifiedEndpoint "bare": verify: is required',
    );
  });
});

describe("the url in the preview of a ServerlessEndpoint", () => {
  const url = "http://127.0.0.1:7337/v2/chat-id";

  test.each<[string, object, string | undefined]>([
    ["follows from the id", {}, url],
    ["follows from the id with an explicit queue", { type: "QUEUE" }, url],
    ["is unknown for a load balancer", { type: "LOAD_BALANCER" }, undefined],
  ])("%s", async (_, args, expected) => {
    const endpoint = new ServerlessEndpoint("chat", { templateId: "t", ...args });
    expect(await previewValueOf(endpoint.url)).toBe(expected);
  });

  test("is unknown with an explicit provider, which may have another address", async () => {
    class Provider extends pulumi.ProviderResource {}
    const provider = new Provider("pulumi-nodejs", "other");
    const endpoint = new ServerlessEndpoint("chat", { templateId: "t" }, { provider });
    expect(await previewValueOf(endpoint.url)).toBeUndefined();
  });
});

test.each([
  ["http://service.test///", "http://service.test/v2/chat-id"],
  ["not a URL", undefined],
])("the url with the address %j in the stack's config is %j", async (serverlessUrl, expected) => {
  pulumi.runtime.setConfig("serverless-compute:serverlessUrl", serverlessUrl);
  onTestFinished(() => pulumi.runtime.setAllConfig({}));
  const endpoint = new ServerlessEndpoint("chat", { templateId: "t" });
  expect(await previewValueOf(endpoint.url)).toBe(expected);
});

test("a misspelled setting in the stack's config is rejected", () => {
  pulumi.runtime.setConfig("serverless-compute:dialekt", "v1");
  onTestFinished(() => pulumi.runtime.setAllConfig({}));
  expect(() => new ServerlessEndpoint("chat", { templateId: "t" })).toThrow(
    'dialekt: unknown setting; did you mean "dialect"?',
  );
});

describe("the revision in the preview of a ServerlessEndpoint", () => {
  const imageName = "acme/chat:1";

  test("follows from the inputs of its container", async () => {
    const { revision } = new ServerlessEndpoint("without-outputs", { imageName });
    expect(await previewValueOf(revision)).toBe(revisionOf({ ...containerDefaults, imageName }));
  });

  test("is unknown with an input of its container", async () => {
    const { version } = new ServerlessEndpoint("without-outputs", { imageName });
    const env = { VERSION: version.apply(String) };
    const { revision } = new ServerlessEndpoint("without-outputs", { imageName, env });
    expect(await previewValueOf(revision)).toBeUndefined();
  });
});

describe("a VerifiedEndpoint", () => {
  const verify = { input: { prompt: "ping" } };

  test("has the url and the version of its endpoint, and the revision of its template", async () => {
    const chat = new VerifiedEndpoint("chat", { template: { imageName: "acme/chat:1" }, verify });
    const { url, version, revision } = chat;
    expect(await Promise.all([url, version, revision].map(previewValueOf<string | number | undefined>))).toEqual([
      "http://127.0.0.1:7337/v2/chat-id",
      outputs.version,
      outputs.revision,
    ]);
  });

  test("has a template with replaceOnChange and an endpoint with verify, both with its timeouts", async () => {
    const args = { template: { imageName: "acme/chat:1" }, endpoint: { workersMax: 2 }, verify };
    const chat = new VerifiedEndpoint("chat", args, { customTimeouts: { update: "5m" } });
    expect(await previewValueOf(chat.endpointId)).toBe("chat-id");
    const timeouts = { __timeouts: { update: "5m" } };
    expect(registered.get("Template chat")?.inputs).toMatchObject({
      imageName: "acme/chat:1",
      replaceOnChange: true,
      ...timeouts,
    });
    expect(registered.get("ServerlessEndpoint chat")?.inputs).toMatchObject({
      templateId: "chat-id",
      workersMax: 2,
      verify,
      ...timeouts,
    });
    expect(await previewValueOf(chat.templateId)).toBe("chat-id");
  });

  test("with an image has one object, the endpoint with its revision, and no template", async () => {
    const chat = new VerifiedEndpoint("single", { endpoint: { imageName: "acme/chat:1" }, verify });
    await previewValueOf(chat.endpointId);
    expect(registered.get("Template single")).toBeUndefined();
    expect(registered.get("ServerlessEndpoint single")?.inputs).toMatchObject({ imageName: "acme/chat:1", verify });
    expect(chat.template).toBeUndefined();
    expect(await Promise.all([previewValueOf(chat.templateId), previewValueOf(chat.revision)])).toEqual([
      undefined,
      outputs.revision,
    ]);
  });

  test("passes ignoreChanges and replaceOnChanges to the resource with the input", async () => {
    // The monitor does not pass resource options on to the mocks.
    const register = vi.spyOn(MockMonitor.prototype, "registerResource");
    onTestFinished(() => register.mockRestore());
    const paths = ["endpoint.workersMax", "template.env", "verify.timeout"];
    const options = { ignoreChanges: paths, replaceOnChanges: paths };
    const chat = new VerifiedEndpoint("chat", { template: { imageName: "acme/chat:1" }, verify }, options);
    await previewValueOf(chat.endpointId);
    const pathsOf = (kind: string) => {
      const requests = register.mock.calls.map(([request]): RegisterResourceRequest => request);
      const sent = requests.find((request) => request.getType().endsWith(`:${kind}`));
      const { __replaceOnChanges } = registered.get(`${kind} chat`)?.inputs ?? {};
      return [sent?.getIgnorechangesList(), sent?.getReplaceonchangesList(), __replaceOnChanges];
    };
    expect(pathsOf("Template")).toEqual([["env"], ["env"], ["env"]]);
    const ofEndpoint = ["workersMax", "verify.timeout"];
    expect(pathsOf("ServerlessEndpoint")).toEqual([ofEndpoint, ofEndpoint, ofEndpoint]);
  });

  test("warns about paths of ignoreChanges and replaceOnChanges that name no input", async () => {
    const warnings: string[] = [];
    const warn = vi.spyOn(pulumi.log, "warn").mockImplementation(async (text) => void warnings.push(text));
    onTestFinished(() => warn.mockRestore());
    const options = {
      ignoreChanges: ["endpoint.workersMax", "idleTimeout"],
      replaceOnChanges: ["endpoint.workersMaxx", "template.*"],
    };
    const chat = new VerifiedEndpoint("chat", { template: { imageName: "acme/chat:1" }, verify }, options);
    await previewValueOf(chat.endpointId);
    expect(warnings).toEqual([
      'ignoreChanges: "idleTimeout" has no effect; begin it with "endpoint.", "template." or "verify"',
      'replaceOnChanges: "endpoint.workersMaxx" has no effect; did you mean "endpoint.workersMax"?',
    ]);
  });

  test("without timeouts passes none on", async () => {
    const chat = new VerifiedEndpoint("plain", { template: { imageName: "acme/chat:1" }, verify });
    await previewValueOf(chat.endpointId);
    for (const kind of ["Template", "ServerlessEndpoint"])
      expect(registered.get(`${kind} plain`)?.inputs).not.toHaveProperty("__timeouts");
  });
});

test.each<[string, (name: string) => pulumi.Resource]>([
  ["Secret", (name) => new Secret(name, { value: "v" })],
  ["NetworkVolume", (name) => new NetworkVolume(name, { size: 1, dataCenterId: "d" })],
  ["ContainerRegistryAuth", (name) => new ContainerRegistryAuth(name, { username: "u", password: "p" })],
  ["Template", (name) => new Template(name, { ...containerDefaults, imageName: "a:1" })],
  ["ServerlessEndpoint", (name) => new ServerlessEndpoint(name, { templateId: "t" })],
  ["JobInvoke", (name) => new JobInvoke(name, { endpointId: "e", input: {} })],
])("stack traces of errors are as before a %s was constructed", (_kind, create) => {
  const limit = Error.stackTraceLimit;
  expect([pulumi.Resource.isInstance(create("traced")), Error.stackTraceLimit]).toEqual([true, limit]);
  expect(() => create("")).toThrow();
  expect(Error.stackTraceLimit).toBe(limit);
});
