import { systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { type Kind, kinds } from "../../provider/resources";
import { crowdedCounts, fillAccount, isCrowded, type ObjectCounts } from "../support/crowded-account";
import { type LifecycleBench, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse } from "../support/raw-http";
import { handlerFile } from "../support/target";

interface Deployed {
  kind: Kind;
  id: string;
  inputs: Properties;
  outputs: Properties;
}

const smallCounts: ObjectCounts = { templates: 12, endpoints: 9, volumes: 5, secrets: 5, registries: 5 };

const images = { "acme/echo:1": handlerFile("echo") };
const onePerPage = await useLifecycleBench({ pageSize: 1, templateRelease: 0, images });
/** Many objects with one object per page require 14,000 requests. */
const accounts: [string, ObjectCounts, LifecycleBench][] = isCrowded
  ? [
      ["1,200 objects", crowdedCounts, await useLifecycleBench({ templateRelease: 0, images })],
      ["1,200 objects, one per page", crowdedCounts, onePerPage],
    ]
  : [["one object per page", smallCounts, onePerPage]];

describe.each(accounts)("an account with %s", (_name, others, bench) => {
  const context = () => bench.context({}, "v2");

  const rest = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await bench.rest(method, path, body);
    expectResponse(response, [200, 201]);
    return response.json;
  };

  function check(kind: Kind, name: string, news: Properties): Properties {
    const { inputs, failures } = kinds[kind].check({}, { name, ...news }, naming(), [], "v2");
    expect(failures).toEqual([]);
    return inputs;
  }

  async function create(kind: Kind, name: string, news: Properties): Promise<Deployed> {
    const inputs = check(kind, name, news);
    return { kind, inputs, ...(await kinds[kind].create(inputs, context())) };
  }

  async function expectNoDrift(stack: Deployed[]): Promise<void> {
    for (const { kind, id, inputs, outputs } of stack) {
      expect([kind, kinds[kind].diff(outputs, inputs, "v2")]).toEqual([kind, []]);
      const readResult = await kinds[kind].read(id, outputs, context());
      expect([kind, kinds[kind].diff(readResult?.outputs ?? {}, inputs, "v2")]).toEqual([kind, []]);
    }
  }

  async function update(resource: Deployed, changes: Properties): Promise<void> {
    resource.inputs = { ...resource.inputs, ...changes };
    resource.outputs = await kinds[resource.kind].update(resource.id, resource.outputs, resource.inputs, context());
  }

  // The 1,200 objects are created sequentially.
  test("supports the lifecycle of every kind", { timeout: 240_000 }, async () => {
    const template = await create("Template", "chat", { imageName: "acme/echo:1" });
    const endpoint = (name: string, workersMax = 0) =>
      create("ServerlessEndpoint", name, { templateId: template.id, workersMax, gpuTypeIds: ["NVIDIA L4"] });
    const first = await endpoint("first", 1);
    const oldest = await fillAccount({ rest, graphql: bench.graphql }, others);
    const [second, third] = [await endpoint("second"), await endpoint("third")];
    const secret = await create("Secret", "token", { value: "first-value" });
    const volume = await create("NetworkVolume", "models", { size: 10, dataCenterId: "EU-RO-1" });
    const auth = await create("ContainerRegistryAuth", "registry", { username: "u", password: "first-password" });
    const smokeTest = { endpointId: first.id, input: { prompt: "ping" }, expect: { output: { prompt: "ping" } } };
    const { inputs } = kinds.JobInvoke.check({}, smokeTest, naming(), [], "v2");
    const result = await kinds.JobInvoke.create(inputs, bench.context({ clock: systemClock }, "v2"));
    const job: Deployed = { kind: "JobInvoke", inputs, ...result };
    const stack = [job, first, second, third, template, volume, secret, auth];
    await expectNoDrift(stack);

    const adopted = check("Template", "other-0", { imageName: "other:1", adoptExisting: true });
    expect((await kinds.Template.create(adopted, context())).id).toBe(oldest);

    await update(template, { imageName: "acme/echo:2", containerRegistryAuthId: auth.id });
    await update(first, { workersMax: 2 });
    await update(volume, { size: 20 });
    await update(secret, { value: "second-value", description: "new" });
    const images = (await context().clients.management.listEndpoints())
      .filter(({ id }) => [first.id, second.id, third.id].includes(id))
      .map(({ container }) => container?.imageName);
    expect(images).toEqual(["acme/echo:2", "acme/echo:2", "acme/echo:2"]);
    await expectNoDrift(stack);

    for (const { kind, id, outputs } of stack) {
      await kinds[kind].delete(id, outputs, context());
      // The account has no object for a job.
      if (kind === "JobInvoke") continue;
      expect([kind, await kinds[kind].read(id, outputs, context())]).toEqual([kind, undefined]);
    }
    expect(await bench.listObjects("templates")).toHaveLength(others.templates);
    expect(await bench.listObjects("endpoints")).toHaveLength(others.endpoints);
    expect(bench.drainRequests().filter((request) => !request.includes(" /v2/"))).toEqual([]);
  });
});
