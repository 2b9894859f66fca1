import { expect } from "vitest";
import { isDescribed, requestViolations } from "../../support/contract";
import { watchResponse } from "../../support/contract-watch";
import type { Fields } from "../../support/local-service";
import { expectResponse, type RawResponse, send, stringAt } from "../../support/raw-http";
import type { Target } from "../../support/target";
import { type Account, uniqueName } from "./account";

/** Asserts a problem: media type, status, title, and the detail if given. */
export function expectProblem(response: RawResponse, status: number, detail?: string | RegExp): void {
  expectResponse(response, status, { status });
  expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(stringAt(response, "title")).not.toBe("");
  if (detail !== undefined) expect(stringAt(response, "detail")).toMatch(detail);
}

/** Asserts that a response conforms to the contract, and that an invalid request is rejected with the documented status. */
function holdToContract(method: string, path: string, body: unknown, response: RawResponse): void {
  const { status, headers, text, request } = response;
  const sent = body === undefined ? "" : JSON.stringify(body);
  watchResponse({ method, path, body: sent }, { status, headers, body: text });
  const broken = requestViolations({ method, path, body: sent === "" ? undefined : JSON.parse(sent) });
  // The test itself checks unknown routes and unexpected bodies.
  const stated = broken.flatMap((violation) => violation.status ?? []);
  if (stated.length > 0) expect([...stated, 401, 404], `${request}: ${JSON.stringify(broken)}`).toContain(status);
}

/** A dialect in which a test creates the objects that it reads by REST v2. */
interface Maker {
  dialect: string;
  endpoint(fields: { image?: string }): Promise<string>;
  /** Creates a template for serverless endpoints. */
  template(fields: { image?: string }): Promise<string>;
  volume(): Promise<string>;
  registry(): Promise<string>;
}

/** REST v2 by raw requests, and functions that create objects in each dialect. */
interface RestV2 {
  /** Sends a request and checks it against the contract; the response and every accepted request must conform. */
  call(method: string, path: string, json?: unknown, headers?: Record<string, string>): Promise<RawResponse>;
  /** Creates an object with a POST, and returns its id. */
  make(path: string, json: Fields): Promise<string>;
  /** A body of POST /serverless; its endpoint has no workers. */
  endpointBody(fields?: Fields): Fields;
  makers: Maker[];
}

export function useRestV2(target: Target, account: Account): RestV2 {
  const call: RestV2["call"] = async (method, path, json, headers = {}) => {
    const response = await send(method, `${target.serverlessUrl}/v2${path}`, { key: target.apiKey, json, headers });
    // The job API has the same root.
    if (isDescribed(`/v2${path}`)) holdToContract(method, `/v2${path}`, json, response);
    return response;
  };
  async function make(path: string, json: Fields): Promise<string> {
    const response = await call("POST", path, json);
    expectResponse(response, 201);
    return stringAt(response, "id");
  }
  const endpointBody = (fields: Fields = {}): Fields => ({
    name: uniqueName("endpoint"),
    type: "QUEUE",
    scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
    gpu: { pools: ["AMPERE_24"] },
    workers: { min: 0, max: 0 },
    image: "conformance/none:1",
    ...fields,
  });
  const login = (): Fields => ({ name: uniqueName("registry"), username: "reader", password: "hush-hush" });
  const image = "conformance/none:1";
  const v2: Maker = {
    dialect: "REST v2",
    endpoint: (fields) => make("/serverless", endpointBody({ image, ...fields })),
    template: (fields) => make("/templates", { name: uniqueName("template"), image, serverless: true, ...fields }),
    volume: () => make("/network-volumes", { name: uniqueName("volume"), size: 20, dataCenter: "EU-RO-1" }),
    registry: () => make("/registries", login()),
  };
  const v1: Maker = {
    dialect: "REST v1",
    async endpoint({ image: imageName = image }) {
      return account.endpoint({ templateId: await account.template({ imageName }) });
    },
    async template({ image: imageName = image }) {
      const body = { name: uniqueName("template"), imageName, isServerless: true };
      return stringAt(await account.rest("POST", "/templates", body), "id");
    },
    volume: () => account.volume({ size: 20 }),
    registry: async () => stringAt(await account.rest("POST", "/containerregistryauth", login()), "id"),
  };
  const graphql: Maker = {
    ...v1,
    dialect: "GraphQL",
    async endpoint({ image: imageName = image }) {
      const template = { name: uniqueName("template"), imageName, containerDiskInGb: 5 };
      const input = { name: uniqueName("endpoint"), gpuIds: "AMPERE_24", workersMax: 0, template };
      const save = "mutation ($input: EndpointInput!) { saveEndpoint(input: $input) { id } }";
      return stringAt(await account.graphql(save, { input }), "data", "saveEndpoint", "id");
    },
    template: ({ image: imageName = image }) => account.template({ imageName }),
    async volume() {
      const input = { name: uniqueName("volume"), size: 20, dataCenterId: "EU-RO-1" };
      const create = "mutation ($input: CreateNetworkVolumeInput!) { createNetworkVolume(input: $input) { id } }";
      return stringAt(await account.graphql(create, { input }), "data", "createNetworkVolume", "id");
    },
    async registry() {
      const save = "mutation ($input: SaveRegistryAuthInput) { saveRegistryAuth(input: $input) { id } }";
      return stringAt(await account.graphql(save, { input: login() }), "data", "saveRegistryAuth", "id");
    },
  };
  return { call, make, endpointBody, makers: [v2, v1, graphql] };
}
