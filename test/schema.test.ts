import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { reference } from "../scripts/generate/reference.mjs";
import { packageSchema } from "../scripts/generate/schema/package-schema";
import { readPublisher } from "../scripts/publisher.mjs";

const repository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const { version } = JSON.parse(readFileSync(repository("provider/package.json"), "utf8"));
const schema = packageSchema(version, readPublisher());

describe("schema.json", () => {
  it("matches the shapes (npm run build && npm run generate)", () => {
    expect(JSON.parse(readFileSync(repository("schema.json"), "utf8"))).toEqual(JSON.parse(JSON.stringify(schema)));
  });

  it("has a reference page generated from it", () => {
    expect(readFileSync(repository("docs/resources.md"), "utf8")).toBe(reference(schema));
  });

  it("marks secret values and properties whose change replaces", () => {
    expect(schema.resources["serverless-compute:index:Secret"]?.inputProperties["value"]).toMatchObject({
      secret: true,
    });
    expect(schema.config.variables["apiKey"]).toMatchObject({ secret: true });
    expect(schema.resources["serverless-compute:index:NetworkVolume"]?.inputProperties["dataCenterId"]).toMatchObject({
      willReplaceOnChanges: true,
    });
    const { username } = schema.resources["serverless-compute:index:ContainerRegistryAuth"]?.inputProperties ?? {};
    expect(username).not.toHaveProperty("willReplaceOnChanges");
    expect(username?.description).toContain("With REST v2 a change replaces.");
  });

  it("describes every input and output, including those of lookups and nested types", () => {
    const missing = (owner: string, specs: Record<string, { description?: string }>): string[] =>
      Object.entries(specs).flatMap(([name, { description }]) => (description ? [] : [`${owner}.${name}`]));
    expect([
      ...Object.entries(schema.resources).flatMap(([token, { properties, inputProperties }]) =>
        missing(token, { ...properties, ...inputProperties }),
      ),
      ...Object.entries(schema.functions).flatMap(([token, { inputs, outputs }]) =>
        missing(token, { ...inputs.properties, ...outputs.properties }),
      ),
      ...Object.entries(schema.types).flatMap(([token, type]) => missing(token, { ...type.properties, itself: type })),
    ]).toEqual([]);
  });

  it("requires only properties without a default", () => {
    const required = Object.entries(schema.resources).map(([token, { requiredInputs }]) => [token, requiredInputs]);
    expect(Object.fromEntries(required)).toEqual({
      "serverless-compute:index:Secret": ["value"],
      "serverless-compute:index:NetworkVolume": ["size", "dataCenterId"],
      "serverless-compute:index:ContainerRegistryAuth": ["username", "password"],
      "serverless-compute:index:Template": ["imageName"],
      "serverless-compute:index:ServerlessEndpoint": ["templateId"],
      "serverless-compute:index:JobInvoke": ["endpointId"],
      "serverless-compute:index:VerifiedEndpoint": ["template", "verify"],
    });
  });

  it("contains every setting, with type, default and environment variable, for the stack's config and for a provider", () => {
    expect(schema.provider.inputProperties).toEqual(schema.config.variables);
    const settings = Object.entries(schema.config.variables).map(([name, spec]) => {
      const [variable] = spec.defaultInfo?.environment ?? [];
      return [name, spec.type, spec.default, variable];
    });
    expect(settings).toEqual([
      ["apiKey", "string", undefined, undefined],
      ["target", "string", "local", "SERVERLESS_COMPUTE_TARGET"],
      ["dialect", "string", undefined, "SERVERLESS_COMPUTE_DIALECT"],
      ["url", "string", undefined, "SERVERLESS_COMPUTE_URL"],
      ["baseUrl", "string", undefined, "SERVERLESS_COMPUTE_BASE_URL"],
      ["graphqlUrl", "string", undefined, "SERVERLESS_COMPUTE_GRAPHQL_URL"],
      ["serverlessUrl", "string", undefined, "SERVERLESS_COMPUTE_SERVERLESS_URL"],
      ["callLimit", "number", 120, "SERVERLESS_COMPUTE_CALL_LIMIT"],
      ["maxInFlight", "integer", 16, "SERVERLESS_COMPUTE_MAX_IN_FLIGHT"],
      ["preflight", "string", undefined, "SERVERLESS_COMPUTE_PREFLIGHT"],
      ["templateReleaseLimit", "number", 150, "SERVERLESS_COMPUTE_TEMPLATE_RELEASE_LIMIT"],
    ]);
  });

  it("names a nested type after its owner", () => {
    expect(Object.keys(schema.types)).toEqual(
      [
        "ServerlessEndpointVerifyRequestExpect",
        "ServerlessEndpointVerifyRequest",
        "ServerlessEndpointVerifyExpect",
        "ServerlessEndpointVerifyPolicy",
        "ServerlessEndpointVerify",
        "JobInvokeRequestExpect",
        "JobInvokeRequest",
        "JobInvokePolicy",
        "JobInvokeExpect",
        "VerifiedEndpointTemplate",
        "VerifiedEndpointEndpoint",
        "GpuTypesGpuTypes",
        "DataCentersDataCenters",
        "EndpointHealthJobs",
        "EndpointHealthWorkers",
      ].map((name) => `serverless-compute:index:${name}`),
    );
  });
});
