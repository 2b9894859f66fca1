import { describe, expect, it } from "vitest";
import { packageSchema } from "../scripts/generate/schema/package-schema";
import { readPublisher } from "../scripts/publisher.mjs";

const schema = packageSchema("1.0.0", readPublisher());

describe("schema.json", () => {
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
    expect(username?.description).toContain("With REST v2 a change replaces the resource.");
  });

  it("describes every input and output, including lookups and nested types", () => {
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
});
