import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { ConstructRequest, ConstructResponse } from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  type RegisterResourceOutputsRequest,
  type RegisterResourceRequest,
  RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as messages from "../../../../provider/engine/messages";
import { construct } from "../../../../provider/plugin/construct";
import { serverlessEndpointInputs } from "../../../../provider/resources/serverless-endpoint/inputs";
import { templateInputs } from "../../../../provider/resources/template/inputs";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const secret = (value: JavaScriptValue) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});
const component = "serverless-compute:index:VerifiedEndpoint";
const good = { template: { imageName: "a:1", env: { A: "1" } }, verify: { input: { text: "pong" } } };

let monitor: Server;
let address: string;
let registered: RegisterResourceRequest[];
let outputs: unknown[];
let warnings: string[];
const log = { progress: () => undefined, warning: async (_urn: string, text: string) => void warnings.push(text) };
/** The response of the monitor to a registration. */
let respondTo: (type: string) => { id?: string; object?: Record<string, JavaScriptValue> };

beforeEach(async () => {
  registered = [];
  outputs = [];
  warnings = [];
  respondTo = (type) => ({ id: `${type}-id`, object: { url: "http://u", version: 2, revision: secret("abc") } });
  monitor = new Server();
  monitor.addService(ResourceMonitorService, {
    registerResource: (
      { request }: ServerUnaryCall<RegisterResourceRequest, RegisterResourceResponse>,
      respond: sendUnaryData<RegisterResourceResponse>,
    ) => {
      registered.push(request);
      const type = request.getType().replace(/^.*:/, "");
      const response = new RegisterResourceResponse();
      try {
        const { id = "", object = {} } = respondTo(type);
        response.setUrn(`urn:${type}`);
        response.setId(id);
        response.setObject(Struct.fromJavaScript(object));
        respond(null, response);
      } catch (thrown) {
        respond({ code: status.INTERNAL, details: String(thrown) });
      }
    },
    registerResourceOutputs: (
      { request }: ServerUnaryCall<RegisterResourceOutputsRequest, Empty>,
      respond: sendUnaryData<Empty>,
    ) => {
      outputs.push([request.getUrn(), request.getOutputs()?.toJavaScript()]);
      respond(null, new Empty());
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    monitor.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  address = `127.0.0.1:${port}`;
});
afterEach(() => monitor.forceShutdown());

interface ConstructOptions {
  dryRun?: boolean;
  dependencies?: Record<string, string[]>;
  /** Paths of the resource options ignoreChanges and replaceOnChanges. */
  paths?: string[];
}

/** Constructs the component from a request of the engine. */
async function constructed(
  inputs: Record<string, JavaScriptValue>,
  { dryRun = false, dependencies = {}, paths = [] }: ConstructOptions = {},
): Promise<ConstructResponse> {
  const request = new ConstructRequest();
  request.setType(component);
  request.setName("chat");
  request.setDryrun(dryRun);
  request.setMonitorendpoint(address);
  request.setIgnorechangesList(paths);
  request.setReplaceonchangesList(paths);
  request.setInputs(Struct.fromJavaScript(inputs));
  for (const [key, urns] of Object.entries(dependencies)) {
    const list = new ConstructRequest.PropertyDependencies();
    list.setUrnsList(urns);
    request.getInputdependenciesMap().set(key, list);
  }
  const response = await construct(messages.constructRequest.decode(Buffer.from(request.serializeBinary())), { log });
  return ConstructResponse.deserializeBinary(messages.constructResponse.encode(response));
}

const objectOf = (index: number): unknown => registered[index]?.getObject()?.toJavaScript();

it("registers the component, then a template and an endpoint below it, and returns their outputs", async () => {
  const response = await constructed({ ...good, endpoint: { workersMax: 3 } });
  expect(
    registered.map((request) => [request.getType(), request.getName(), request.getParent(), request.getCustom()]),
  ).toEqual([
    [component, "chat", "", false],
    ["serverless-compute:index:Template", "chat", "urn:VerifiedEndpoint", true],
    ["serverless-compute:index:ServerlessEndpoint", "chat", "urn:VerifiedEndpoint", true],
  ]);
  expect(objectOf(1)).toEqual({ ...good.template, replaceOnChange: true });
  expect(objectOf(2)).toEqual({ workersMax: 3, templateId: "Template-id", verify: good.verify });
  const state = {
    endpointId: "ServerlessEndpoint-id",
    templateId: "Template-id",
    url: "http://u",
    version: 2,
    revision: secret("abc"),
  };
  expect(response.getUrn()).toBe("urn:VerifiedEndpoint");
  expect(response.getState()?.toJavaScript()).toEqual(state);
  expect(outputs).toEqual([["urn:VerifiedEndpoint", state]]);
});

it("keeps the dependencies of each property", async () => {
  const dependencies = { template: ["urn:image"], verify: ["urn:job"] };
  const response = await constructed({ ...good, endpoint: { workersMax: 3 } }, { dependencies });
  const urnsOf = (request: RegisterResourceRequest | undefined) =>
    Object.fromEntries(request?.toObject().propertydependenciesMap.map(([key, { urnsList }]) => [key, urnsList]) ?? []);
  expect(urnsOf(registered[1])).toEqual({ imageName: ["urn:image"], env: ["urn:image"], replaceOnChange: [] });
  expect(urnsOf(registered[2])).toEqual({ workersMax: [], templateId: ["urn:Template"], verify: ["urn:job"] });
  expect(registered[2]?.getDependenciesList()).toEqual(["urn:Template", "urn:job"]);
  const states = response.toObject().statedependenciesMap.map(([key, { urnsList }]) => [key, urnsList]);
  expect(Object.fromEntries(states)).toMatchObject({ url: ["urn:ServerlessEndpoint"], revision: ["urn:Template"] });
});

it("keeps secrets secret, including each input of a secret group", async () => {
  await constructed({
    template: { imageName: "a:1", env: { A: secret("1") } },
    endpoint: secret({ workersMax: 3 }),
    verify: { input: secret({ text: "pong" }) },
  });
  expect(objectOf(1)).toEqual({ imageName: "a:1", env: { A: secret("1") }, replaceOnChange: true });
  expect(objectOf(2)).toEqual({
    workersMax: secret(3),
    templateId: "Template-id",
    verify: { input: secret({ text: "pong" }) },
  });
});

it("returns unknown outputs in a preview of a create, and registers unknown inputs for an unknown group", async () => {
  respondTo = () => ({ object: { version: 1 } });
  const response = await constructed({ ...good, endpoint: unknown }, { dryRun: true });
  expect(objectOf(2)).toMatchObject({ templateId: unknown, workersMax: unknown, gpuTypeIds: unknown });
  expect(response.getState()?.toJavaScript()).toEqual({
    endpointId: unknown,
    templateId: unknown,
    url: unknown,
    version: 1,
    revision: unknown,
  });
});

it("passes ignoreChanges and replaceOnChanges to the resource with the input", async () => {
  await constructed(good, { paths: ["endpoint.workersMax", "template.env.A", "verify", "verify.timeout"] });
  const byKind = registered.slice(1).map((resource) => [resource.getType().replace(/^.*:/, ""), resource] as const);
  for (const [kind, resource] of byKind) {
    const expected = kind === "Template" ? ["env.A"] : ["workersMax", "verify", "verify.timeout"];
    expect([resource.getIgnorechangesList(), resource.getReplaceonchangesList()]).toEqual([expected, expected]);
  }
  expect(warnings).toEqual([]);
});

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe("a path of ignoreChanges or replaceOnChanges", () => {
  const groups = Object.entries({ template: templateInputs, endpoint: serverlessEndpointInputs });
  const inputs = groups.flatMap(([part, { shape }]) => Object.keys(shape).map((name) => `${part}.${name}`));

  it("gives no warning if it names an input of a resource", async () => {
    const others = [
      "template.*",
      "endpoint.[*]",
      "template.env.*",
      'template.env["a.b"]',
      'template.["env"]',
      "verify[*]",
    ];
    await constructed(good, { paths: [...inputs, ...others] });
    expect(warnings).toEqual([]);
  });

  it("gives a warning with the input for a name in snake case or with a capital, as in Python and C#", async () => {
    const capital = (path: string) => path.replace(/\.[a-z]/, (text) => text.toUpperCase());
    const paths = inputs.flatMap((path) => [snakeCase(path), capital(path)].map((other) => [other, path] as const));
    const different = paths.filter(([other, path]) => other !== path);
    await constructed(good, { paths: different.map(([other]) => other) });
    const expected = different.map(([other, path]) => `"${other}" has no effect; did you mean "${path}"?`);
    expect(warnings).toEqual(
      ["ignoreChanges", "replaceOnChanges"].flatMap((option) => expected.map((text) => `${option}: ${text}`)),
    );
  });

  const begin = 'begin it with "endpoint.", "template." or "verify"';
  it.each([
    ["workersMax", begin],
    ["endpoint", begin],
    ["verifyX", begin],
    ['endpoint["workersMax"]', begin],
    ["endpoint.gpuTypeId[0]", 'did you mean "endpoint.gpuTypeIds[0]"?'],
    ["template.en.TOKEN.en", 'did you mean "template.env.TOKEN.en"?'],
    ["template.workersMax", 'the template has no input "workersMax"'],
    ["endpoint.verison", 'the endpoint has no input "verison"'],
    ["endpoint.url", 'the endpoint has no input "url"'],
    ["endpoint.version", 'the endpoint has no input "version"'],
    ["template.revision", 'the template has no input "revision"'],
    ["endpoint.", 'the endpoint has no input ""'],
  ])("gives a warning if it names no input: %s", async (path, correction) => {
    await constructed(good, { paths: [path] });
    expect(warnings).toEqual(
      ["ignoreChanges", "replaceOnChanges"].map((option) => `${option}: "${path}" has no effect; ${correction}`),
    );
  });
});

it.each([
  [{ verify: good.verify }, "template: is required"],
  [{ ...good, verify: null }, "verify: is required"],
  [{ ...good, endpoint: { templateId: "x" } }, "endpoint.templateId: unknown property"],
  [{ ...good, template: { imageName: 5 } }, "template.imageName: is 5"],
  [{ ...good, verfy: {} }, 'verfy: unknown property; did you mean "verify"?'],
])("rejects %j before it registers anything", async (inputs, message) => {
  await expect(constructed(inputs)).rejects.toThrow(message);
  expect(registered).toEqual([]);
});

it("fails with the engine's message if a resource cannot be registered", async () => {
  respondTo = (type) => {
    if (type === "Template") throw new Error("100% \u00e9chec");
    return {};
  };
  await expect(constructed(good)).rejects.toThrow("100% \u00e9chec");
});
