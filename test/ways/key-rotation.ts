import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, beforeAll, expect, it } from "vitest";
import { restPaths } from "../support/dialect";
import { freePort } from "../support/loopback";
import type { Run, Stack } from "../support/pulumi";
import { registerSecret } from "../support/secret-scan";
import { discardServiceFolder } from "../support/service-artefacts";
import type { Way } from "./way";

/**
 * A service whose key is rotated. The engine keeps the arguments of an explicit provider, and the config of the default
 * provider, until the next `up`.
 */
export function describeKeyRotation(way: Way): void {
  let dataFolder: string;
  let service: Service;
  let stack: Stack;

  const start = async (port: number): Promise<void> => {
    service = await createService({ port, dataFolder, templateRelease: 0 });
    registerSecret(service.apiKey, "the API key");
  };
  /** Restarts the service with a new key at the same address, and sets it in the stack's config. */
  const rotate = async (): Promise<void> => {
    await service.stop(0);
    await rm(join(dataFolder, "api-key"));
    await start(Number(new URL(service.serverlessUrl).port));
    await useKey();
  };
  const useKey = async (): Promise<void> => {
    await stack.command(["config", "set", "--secret", "serverless-compute:apiKey", service.apiKey]);
  };

  beforeAll(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), "key-rotation-"));
    await start(await freePort());
    stack = await way.createStack({
      SERVERLESS_COMPUTE_BASE_URL: `${service.serverlessUrl}${restPaths.root}`,
      SERVERLESS_COMPUTE_GRAPHQL_URL: service.graphqlUrl,
      SERVERLESS_COMPUTE_SERVERLESS_URL: service.serverlessUrl,
    });
    await useKey();
    await stack.writeProgram(`
      const pulumi = require("@pulumi/pulumi");
      const sc = require("${way.module}");
      const key = new pulumi.Config("serverless-compute").requireSecret("apiKey");
      const args = { size: 10, dataCenterId: "EU-RO-1" };
      new sc.NetworkVolume("default", args);
      new sc.NetworkVolume("explicit", args, { provider: ${way.provider("key")} });
    `);
    await stack.up();
  });
  afterAll(async () => {
    await stack.remove();
    await service.stop(0);
    await discardServiceFolder(dataFolder);
  });

  const volumes = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const volumeList: unknown = await (await fetch(`${service.baseUrl}/networkvolumes`, { headers })).json();
    return Array.isArray(volumeList) ? volumeList.length : Number.NaN;
  };
  const keyErrors = ({ diagnostics }: Run): string =>
    diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ message }) => message)
      .join("\n");

  it("refresh and destroy use the key of the last up, and their error explains this", async () => {
    await rotate();
    for (const { urn } of await stack.resources()) {
      for (const command of ["refresh", "destroy"] as const) {
        const run = await stack[command]({ args: ["--target", urn], end: "failure" });
        expect(keyErrors(run)).toMatch(
          /rejected the API key.*\n *"pulumi refresh" and "pulumi destroy" use the config of the last "pulumi up": if the key has changed since, run "pulumi up" first, or add --run-program\./,
        );
        expect(await volumes()).toBe(2);
      }
    }
  });

  it("both use the new key with --run-program, and after an up", async () => {
    await stack.refresh({ args: ["--run-program"] });
    const up = await stack.up();
    expect(up.operations).toMatchObject({ "NetworkVolume default": ["same"], "NetworkVolume explicit": ["same"] });
    await stack.refresh();
    await rotate();
    await stack.destroy({ args: ["--run-program"] });
    expect(await volumes()).toBe(0);
  });
}
