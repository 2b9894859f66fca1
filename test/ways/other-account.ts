import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Run, Stack } from "../support/pulumi";
import type { Way } from "./way";

/** Commands with the key of an account without the stack's objects. */
export function otherAccountThrough(way: Way): void {
  /** The stack's own account, and an empty one. */
  let own: EngineService;
  let other: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    own = await useEngineService();
    other = await useEngineService();
    stack = await way.createStack(own.environment);
    await stack.program(`
      const { NetworkVolume, Secret, Template } = require("${way.module}");
      new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
      new Template("chat", { imageName: "acme/echo:1" });
      new Secret("token", { value: "sesame-71c0" });
    `);
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
  });
  afterAll(() => stack.remove());

  /** Warnings about objects that were not found. */
  const warnings = ({ diagnostics }: Run): string[] =>
    diagnostics
      .filter(({ severity, message }) => severity === "warning" && message.includes("looked up"))
      .map(({ message }) => message.trim());

  const noneAt = ({ environment }: EngineService): string =>
    `${environment["SERVERLESS_COMPUTE_BASE_URL"]}: the service has none of the 3 objects that this command looked up; ` +
    "unless they were deleted, check the API key, its account, and serverless-compute:url (or :baseUrl, :graphqlUrl, :serverlessUrl)";

  it("a refresh that finds one of the objects does not warn", async () => {
    const [volume] = (await own.holdings()).volumes;
    await own.rest("DELETE", `/networkvolumes/${volume?.id}`);
    const refresh = await stack.refresh();
    expect(refresh.code, refresh.output).toBe(0);
    expect(warnings(refresh)).toEqual([]);
    expect((await stack.up()).code).toBe(0);
  });

  it("a refresh that finds none of them warns once, also in its preview, and names the address", async () => {
    const preview = await stack.command(["refresh", "--preview-only"], { env: other.environment });
    expect(preview.output).toContain(noneAt(other));
    expect(await stack.resources()).toHaveLength(3);
  });

  it("a destroy that finds none of them warns once, and names the address", async () => {
    const destroy = await stack.destroy({ env: other.environment });
    expect(destroy.code, destroy.output).toBe(0);
    expect(warnings(destroy)).toEqual([noneAt(other)]);
    const left = z.object({ volumes: z.array(z.unknown()), templates: z.array(z.unknown()) });
    expect(left.parse(await own.holdings())).toMatchObject({ volumes: [{}], templates: [{}] });
  });
}
