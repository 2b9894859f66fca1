import { expect, test } from "vitest";
import type { Properties } from "../../provider/lifecycle/contract";
import { type Kind, kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";

const bench = await useLifecycleBench({ pageSize: 1, templateRelease: 0 });
const context = () => bench.context({}, "v2");

async function create(kind: Kind, name: string, news: Properties) {
  const { inputs, failures } = kinds[kind].check({}, news, naming(name), [], "v2");
  expect(failures).toEqual([]);
  return { kind, inputs, ...(await kinds[kind].create(inputs, context())) };
}

/** Images of all endpoints, read by a new client. */
const images = async (): Promise<(string | undefined)[]> =>
  (await context().clients.management.listEndpoints()).map(({ container }) => container?.imageName);

test("with one object per page, every decision uses the whole list", async () => {
  const { Template } = kinds;
  for (const name of ["other-a", "other-b"]) await create("Template", name, { imageName: "other:1" });
  const template = await create("Template", "chat", { imageName: "acme/echo:1" });
  const endpoints = [];
  for (const name of ["one", "two", "three"])
    endpoints.push(await create("ServerlessEndpoint", name, { templateId: template.id, workersMax: 0 }));

  const news = { ...template.inputs, imageName: "acme/echo:2" };
  await Template.update(template.id, template.outputs, news, context());
  expect(await images()).toEqual(["acme/echo:2", "acme/echo:2", "acme/echo:2"]);

  const adopted = await Template.create({ ...news, adoptExisting: true }, context());
  expect(adopted.id).toBe(template.id);
  for (const { id, kind, inputs, outputs } of endpoints) {
    const reading = await kinds[kind].read(id, outputs, context());
    expect(kinds[kind].diff(reading?.outputs ?? {}, inputs, "v2")).toEqual([]);
  }
  for (const { id, outputs } of endpoints) await kinds.ServerlessEndpoint.delete(id, outputs, context());
  await Template.delete(template.id, adopted.outputs, context());
  expect(await context().clients.management.readTemplate(template.id)).toBeUndefined();
});
