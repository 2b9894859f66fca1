import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { dialect } from "../support/dialect";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

const reads = {
  v1: ["POST /graphql", "POST /graphql"],
  v2: ["GET /v2/account/limits", "GET /v2/catalog/gpus"],
}[dialect];

const stockRequests = 'gpuTypeIds: NVIDIA L4 has no stock in EU-RO-1, where volume "models" is';
const quotaRequests = "workersMax: 3 requested, 18 of 20 already allocated";

/** Previews of an endpoint whose GPU type has no stock and whose workers exceed the quota. */
export function describePreflight(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService({ stock: { "NVIDIA L4@EU-RO-1": "NONE" }, workerQuota: 20 });
    const template = { name: "other", imageName: "acme/none:1", isServerless: true };
    const { id: templateId } = z
      .looseObject({ id: z.string() })
      .parse(await service.rest("POST", "/templates", template));
    await service.rest("POST", "/endpoints", { name: "other", templateId, workersMax: 18 });
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  const program = (endpoints: readonly string[]) =>
    stack.writeProgram(`
    const { NetworkVolume, ServerlessEndpoint, Template } = require("${way.module}");
    const volume = new NetworkVolume("models", { name: "models", size: 10, dataCenterId: "EU-RO-1" });
    const template = new Template("chat", { imageName: "acme/echo:1" });
    for (const name of ${JSON.stringify(endpoints)})
      new ServerlessEndpoint(name, {
        templateId: template.id, networkVolumeId: volume.id, gpuTypeIds: ["NVIDIA L4"], workersMax: 3,
      });
  `);

  it("reports stock and quota of each endpoint in a preview, with two requests, and does not change the state", async () => {
    await program([]);
    await stack.up();
    const state = await stack.resources();
    const endpoints = ["a", "b", "c"];
    await program(endpoints);
    service.proxy.clear();
    const env = { SERVERLESS_COMPUTE_PREFLIGHT: "warn" };
    const preview = await stack.preview({ env });
    const warnings = preview.diagnostics.filter(({ severity }) => severity === "warning");
    expect(warnings.map(({ resource, message }) => `${resource} ${message}`).sort()).toEqual(
      endpoints.flatMap((name) => [stockRequests, quotaRequests].map((text) => `ServerlessEndpoint ${name} ${text}`)),
    );
    expect(service.proxy.requests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(reads);
    expect(await stack.resources()).toEqual(state);
  });
}
