import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { contract } from "../support/contract";
import { at, type RawResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";
import {
  type GeneratedRequest,
  invalidRequests,
  isValid,
  type Route,
  refusals,
  shapedRequests,
} from "./support/contract-requests";
import { expectProblem, useRestV2 } from "./support/rest-v2";

/** Requests of each route; ten times as many for routes with a body. */
const perRoute = process.env["FULL"] ? 7 : 1;
const seed = 20_261_123;

const target = await useTarget({ rateLimits: "off", templateRelease: 0 });
beforeEach((context) => target.localOnly(context, "makes hundreds of objects"));
const { call, make, endpointBody } = useRestV2(target, useAccount(target));

const cpuEndpoint = (): Promise<string> => {
  const { gpu: _gpu, ...body } = endpointBody();
  return make("/serverless", { ...body, cpu: [{ id: "cpu3c", vcpuCount: 2 }] });
};
const newVolume = (): Promise<string> =>
  make("/network-volumes", { name: uniqueName("volume"), size: 10, dataCenter: "EU-RO-1" });
const newTemplate = (): Promise<string> =>
  make("/templates", { name: uniqueName("template"), image: "conformance/none:1", serverless: true });
const newRegistry = (): Promise<string> =>
  make("/registries", { name: uniqueName("registry"), username: "reader", password: "hush-hush" });
const newDelegation = (): Promise<string> => make("/registries/delegations", { resource: repository });
const newSecret = (): Promise<string> => make("/account/secrets", { name: uniqueName("secret"), value: "hush-hush" });

const repository = "arn:aws:ecr:us-east-1:123456789012:repository/team/worker";

/** Creates an object for a request of a route, and returns its id. Builds and workers are unknown: 404. */
async function idFor({ path }: Route, { body }: GeneratedRequest): Promise<string> {
  if (path.includes("{buildId}")) return "nosuch";
  if (path.startsWith("/v2/serverless")) {
    return at(body, "cpu") === undefined ? make("/serverless", endpointBody()) : cpuEndpoint();
  }
  if (path.startsWith("/v2/templates")) return newTemplate();
  if (path.startsWith("/v2/network-volumes")) return newVolume();
  if (path.startsWith("/v2/registries/delegations")) return newDelegation();
  if (path.startsWith("/v2/registries")) return newRegistry();
  if (path.startsWith("/v2/account/secrets")) return newSecret();
  if (path.startsWith("/v2/catalog/gpus")) return "NVIDIA A40";
  if (path.startsWith("/v2/catalog/cpus")) return "cpu3c";
  return "EU-RO-1";
}

let sent = 0;
afterAll(() => console.log(`${sent} generated requests`));

/** Sends a request of a route to an object, by default a new one. */
async function send(route: Route, request: GeneratedRequest, object?: string): Promise<RawResponse> {
  const id = route.path.includes("{") ? (object ?? (await idFor(route, request))) : "";
  const path = route.path.replace("/v2", "").replaceAll(/\{\w+\}/g, encodeURIComponent(id));
  const query = new URLSearchParams(request.query).toString();
  sent += 1;
  return call(route.method, query === "" ? path : `${path}?${query}`, request.body);
}

const some = <Value>(...values: Value[]): fc.Arbitrary<Value[]> => fc.subarray(values);
const words = some("serve", "--port", "8000");
const [templateId, networkVolumeId, registryId] = [await newTemplate(), await newVolume(), await newRegistry()];

/** Values whose meaning the schemas do not state. */
const known = {
  pools: fc.subarray(["AMPERE_24", "AMPERE_48"], { minLength: 1 }),
  excludedTypes: fc.constant([]),
  allowedCudaVersions: some("12.4", "12.8"),
  minCudaVersion: fc.constantFrom("12.1", "12.4"),
  cpu: fc.constantFrom([{ id: "cpu3c", vcpuCount: 2 }], [{ id: "cpu3c", vcpuCount: 4 }]),
  dataCenterIds: some("EU-RO-1"),
  networkVolumes: some(networkVolumeId),
  templateId: fc.constant(templateId),
  dataCenter: fc.constant("EU-RO-1"),
  registry: fc.constantFrom(null, registryId),
  count: fc.constantFrom(1, 2),
  ports: some("8000/http", "22/tcp"),
  image: fc.constant("conformance/none:1"),
  path: fc.constant("/workspace"),
  args: fc.constantFrom("", "serve --port 8000", JSON.stringify({ entrypoint: ["serve"], cmd: ["--port", "8000"] })),
  entrypoint: words,
  cmd: words,
  min: fc.integer({ min: 0, max: 0 }),
  max: fc.integer({ min: 0, max: 3 }),
  timeout: fc.integer({ min: 5000, max: 600_000 }),
  disk: fc.integer({ min: 5, max: 40 }),
  vcpuCount: fc.constantFrom(2, 4),
  resource: fc.constantFrom(repository, `${repository}:v2`),
  name: fc.uuid().map((id) => `conf-${id}`),
};

/** Excludes a mount of a serverless template, about which the contract states nothing. */
const plausible = (body: unknown): boolean =>
  at(body, "mounts", "persistent") === undefined || at(body, "serverless") === false;

/**
 * Returns true if `args` contradicts `entrypoint` or `cmd`. The contract states this rule in prose and without a status.
 * The schema covers bodies with other faults.
 */
function contradicts(body: unknown): boolean {
  const [args, entrypoint, cmd] = [at(body, "args"), at(body, "entrypoint"), at(body, "cmd")];
  if (typeof args !== "string") return false;
  const inArgs = args.startsWith("{") ? JSON.parse(args) : { entrypoint: [], cmd: args.split(" ").filter(Boolean) };
  return (
    (entrypoint !== undefined && !isDeepStrictEqual(entrypoint, at(inArgs, "entrypoint"))) ||
    (cmd !== undefined && !isDeepStrictEqual(cmd, at(inArgs, "cmd")))
  );
}

const runs = ({ requestBody, query }: Route): number => {
  if (requestBody !== null) return perRoute * 10;
  return Object.hasOwn(query, "properties") ? perRoute * 4 : perRoute;
};
const titled = (routes: Route[]): [string, Route][] => routes.map((route) => [`${route.method} ${route.path}`, route]);
const { routes } = contract;

describe("REST v2: requests generated from the contract", () => {
  const settings = (route: Route) => ({ seed, numRuns: runs(route), endOnFailure: true });

  test.each(titled(routes))("%s accepts every valid request", async (_name, route) => {
    const property = fc.asyncProperty(shapedRequests(route, known), async (request) => {
      fc.pre(isValid(route, request) && plausible(request.body));
      const response = await send(route, request);
      const absent = response.status === 404 && /\{(?:build|worker)Id\}/.test(route.path);
      if (contradicts(request.body)) expectProblem(response, 400, /^args: /);
      else if (!absent) expect(response.status, `${JSON.stringify(request)}: ${response.text}`).toBeLessThan(300);
    });
    await fc.assert(property, settings(route));
  });

  const fallible = titled(routes)
    .map(([name, route]) => [name, route, invalidRequests(route, known, seed)] as const)
    .filter(([, , requests]) => requests.length > 0);
  test.each(fallible)("%s rejects every invalid request, and names the fault", async (_name, route, requests) => {
    // Rejected requests change nothing, so they share an object with GPUs and one with CPUs.
    const objects = new Map<boolean, string>();
    for (const request of requests) {
      const statuses = [...refusals(route, request), ...(contradicts(request.body) ? [400] : [])];
      if (!plausible(request.body)) continue;
      const onCpus = at(request.body, "cpu") !== undefined;
      const object = objects.get(onCpus) ?? (route.path.includes("{") ? await idFor(route, request) : "");
      objects.set(onCpus, object);
      const response = await send(route, request, object);
      // Builds never exist. The contract does not state whether the object or the request is checked first.
      if (response.status === 404 && route.path.includes("/builds")) continue;
      const what = `${request.fault}: ${response.status} ${response.text}`;
      expect(statuses, what).toContain(response.status);
      expectProblem(response, response.status);
      // A combination has no single name, and the body itself is called "body".
      const [, property] = /^(?:body \$\.?|query )([^\s=]*)/.exec(request.fault ?? "") ?? [];
      if (property === undefined) continue;
      const name = property.replaceAll(/\[(\d+)\]/g, ".$1") || "body";
      // The messages of 422 begin with the property, or with an element of its list.
      const messages = z.array(z.string()).safeParse(at(response.json, "errors")).data ?? [
        stringAt(response, "detail"),
      ];
      const isNamed =
        response.status === 422
          ? messages.some((message) => message.startsWith(`${name}: `) || message.startsWith(`${name}.`))
          : messages.some((message) => message.includes(name.split(".").at(-1) ?? name));
      expect(isNamed, what).toBe(true);
    }
  });
});
