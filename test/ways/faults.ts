import { afterAll, beforeAll, expect, it } from "vitest";
import { withHelp } from "../../provider/engine/help";
import { fingerprinted } from "../support/default-names";
import { dialect, restPaths } from "../support/dialect";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Run, Stack } from "../support/pulumi";
import type { Way } from "./way";

/** A wrong key, no key, no service. */
export function faultsThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    await stack.program(`
    const { Secret, Template } = require("${way.module}");
    const token = new Secret("token", { value: "sesame" });
    new Template("worker", { imageName: "acme/worker:1", env: { TOKEN: token.reference } });
  `);
  });
  afterAll(() => stack.remove());

  /** What is listed under the secret when all is over. */
  const complaints = ({ diagnostics }: Run): string[] =>
    diagnostics.filter(({ about, ephemeral }) => about === "Secret token" && !ephemeral).map(({ message }) => message);

  it("a wrong key gives one clear line and leaves nothing in state", async () => {
    const up = await stack.up({ env: { SERVERLESS_COMPUTE_API_KEY: "not-the-key" } });
    expect(up.code).not.toBe(0);
    expect(complaints(up)).toEqual([
      fingerprinted(
        withHelp(
          `Secret "token-dev": ${service.proxy.origin} refused the API key, or the key lacks permission. The key comes from the config serverless-compute:apiKey (a secret) or SERVERLESS_COMPUTE_API_KEY; the local service prints its key with "npx --no serverless-compute-local key".`,
        ),
      ),
    ]);
    expect(up.output).not.toContain("not-the-key");
    expect(await stack.resources()).toEqual([]);
  });

  it("a missing key says where to put it", async () => {
    const up = await stack.up({ env: { SERVERLESS_COMPUTE_API_KEY: "" } });
    expect(up.code).not.toBe(0);
    expect(complaints(up)).toEqual([
      `the API key of ${service.proxy.origin}${restPaths.root} is missing: set the config serverless-compute:apiKey (a secret) or SERVERLESS_COMPUTE_API_KEY; the local service prints its key with "npx --no serverless-compute-local key"`,
    ]);
    expect(await stack.resources()).toEqual([]);
  });

  /** The address of secrets, where nobody listens. */
  const nobody: Record<string, string> =
    dialect === "v1"
      ? { SERVERLESS_COMPUTE_GRAPHQL_URL: "http://127.0.0.1:9/graphql" }
      : { SERVERLESS_COMPUTE_BASE_URL: "http://127.0.0.1:9/v2" };

  it("a service that is down gives one clear line and leaves nothing in state", async () => {
    const up = await stack.up({ env: nobody });
    expect(up.code).not.toBe(0);
    expect(complaints(up)).toEqual([
      fingerprinted(
        withHelp(
          'Secret "token-dev": cannot connect to http://127.0.0.1:9: connection refused. Start the local service ("npx --no serverless-compute-local start"), or set serverless-compute:baseUrl, :graphqlUrl and :serverlessUrl to where the service is.',
        ),
      ),
    ]);
    expect(await stack.resources()).toEqual([]);
  });

  it("the key from the stack's config does, encrypted in state", async () => {
    await stack.command(["config", "set", "--secret", "serverless-compute:apiKey", service.service.apiKey]);
    const up = await stack.up({ env: { SERVERLESS_COMPUTE_API_KEY: "not-the-key" } });
    expect(up.code, up.output).toBe(0);
    const isInPlain = async (): Promise<string[]> => {
      const files = [...(await stack.files())];
      return files.filter(([, text]) => text.includes(service.service.apiKey)).map(([path]) => path);
    };
    expect((await stack.resources()).length).toBe(2);
    expect(await isInPlain()).toEqual([]);
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(await isInPlain()).toEqual([]);
  });
}
