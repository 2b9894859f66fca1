import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createEndpoint } from "../support/endpoint";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { registerSecret } from "../support/secret-scan";
import { importProject } from "./support/imported-project";
import { pluginWay } from "./support/way";

vi.setConfig({ testTimeout: 600_000 });

/** Numbers of objects: 200 in the account. */
const counts = { endpoints: 60, templates: 70, volumes: 20, secrets: 25, registries: 25 };
const total = Object.values(counts).reduce((sum, count) => sum + count);
/** Value of every secret and password of the account. */
const secret = "sesame-5e2f";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  registerSecret(secret, "a secret of the account");
  service = await useEngineService();
  stack = await pluginWay.createStack(service.environment);
  const repeat = async (count: number, create: (index: number) => Promise<unknown>): Promise<void> => {
    for (let index = 0; index < count; index++) await create(index);
  };
  await repeat(counts.templates, (index) =>
    service.rest("POST", "/templates", { name: `template-${index}`, imageName: "acme/base:1", isServerless: true }),
  );
  await repeat(counts.volumes, (index) =>
    service.rest("POST", "/networkvolumes", { name: `volume-${index}`, size: 10, dataCenterId: "EU-RO-1" }),
  );
  await repeat(counts.secrets, (index) =>
    service.graphql(`mutation { secretCreate(input: { name: "secret_${index}", value: "${secret}" }) { id } }`),
  );
  await repeat(counts.registries, (index) =>
    service.rest("POST", "/containerregistryauth", { name: `registry-${index}`, username: "u", password: secret }),
  );
  await repeat(counts.endpoints, createOwn);
});
afterAll(() => stack.remove());

/** Creates an endpoint as another client of REST v2 does; its container has the settings of one of four forms. */
function createOwn(index: number): Promise<string> {
  const forms = [
    {},
    { env: { MODEL: `model ${index}`, TOKEN: "{{ RUNPOD_SECRET_secret_0 }}" }, ports: ["8080/http", "22/tcp"] },
    { args: "--model small", disk: 5 + index },
    { entrypoint: ["python", "-u"], cmd: ["handler.py", "a b"] },
  ];
  return createEndpoint(service.service, `acme/own:${index}`, {
    name: `endpoint-${index}`,
    workers: { max: 0 },
    ...forms[index % forms.length],
  });
}

it("imports 200 objects, 60 of them endpoints with their own container, without changes; destroy leaves other objects", async () => {
  const { report, preview, folder } = await importProject(stack, "typescript", {}, service.proxy);
  expect(report.skipped).toEqual([]);
  expect(report.resources).toHaveLength(total);
  expect(preview.output).toContain(`${total + 1} unchanged`);

  const otherId = await createOwn(counts.endpoints);
  await stack.command(["destroy", "--yes", "--skip-preview", "--cwd", folder]);
  expect(await service.listObjects()).toEqual({
    endpoints: [expect.objectContaining({ id: otherId })],
    volumes: [],
    templates: [],
    secrets: [],
  });
});
