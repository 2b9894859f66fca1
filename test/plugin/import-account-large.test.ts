import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { crowdedCounts, fillAccount } from "../support/crowded-account";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { importProject } from "./support/imported-project";
import { pluginWay } from "./support/way";
import { findYaml } from "./support/yaml";

vi.setConfig({ testTimeout: 600_000 });

const yaml = await findYaml();
const objects = Object.values(crowdedCounts).reduce((sum, count) => sum + count);
const pageSize = 100;
const pages = Object.values(crowdedCounts).reduce((sum, count) => sum + Math.ceil(count / pageSize), 0);

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService({ pageSize });
  await fillAccount(service, crowdedCounts);
  stack = await pluginWay.createStack({ ...service.environment, PATH: yaml.path });
});
afterAll(() => stack.remove());

it.each(["typescript", ...(yaml.missing === undefined ? ["yaml"] : [])])(
  "imports 1,200 objects as a program in %s that changes nothing, with one request per page",
  async (language) => {
    const { report, requests, preview } = await importProject(stack, language, {}, service.proxy);
    expect(requests).toBeLessThanOrEqual(pages + 5);
    expect(report.resources).toHaveLength(objects);
    expect(preview.output).toContain(`${objects + 1} unchanged`);
  },
);
