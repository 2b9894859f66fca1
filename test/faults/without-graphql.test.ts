import { systemClock } from "serverless-compute-api";
import { expect, test } from "vitest";
import { getSecret, getServerlessEndpoint, getTemplate } from "../../provider/functions/look-ups";
import type { Properties } from "../../provider/lifecycle/contract";
import { type Kind, kinds } from "../../provider/resources";
import { handlerFile, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";

const bench = await useLifecycleBench({
  images: { "acme/echo:1": handlerFile("echo"), "acme/echo:2": handlerFile("echo") },
  retire: ["v1", "graphql"],
  templateRelease: 0,
});
const context = () => bench.context({ clock: systemClock }, "v2");

interface Deployed {
  kind: Kind;
  id: string;
  inputs: Properties;
  outputs: Properties;
}

const checked = (kind: Kind, olds: Properties, news: Properties): Properties => {
  const { inputs, failures } = kinds[kind].check(olds, news, naming(`${kind}-dev`), [], "v2");
  expect(failures).toEqual([]);
  return inputs;
};

async function create(kind: Kind, news: Properties): Promise<Deployed> {
  const inputs = checked(kind, {}, news);
  return { kind, inputs, ...(await kinds[kind].create(inputs, context())) };
}

async function update({ kind, id, inputs, outputs }: Deployed, changes: Properties): Promise<void> {
  // The names of the defaults are no input of a program.
  const { __defaults: _defaults, ...written } = inputs;
  const news = checked(kind, outputs, { ...written, ...changes });
  expect(kinds[kind].diff(outputs, news, "v2").some(({ replace }) => replace)).toBe(false);
  await kinds[kind].update(id, outputs, news, context());
}

test("in dialect v2 every kind works without REST v1 and GraphQL", async () => {
  const secret = await create("Secret", { value: "open sesame" });
  const auth = await create("ContainerRegistryAuth", { username: "robot", password: "quiet word" });
  const volume = await create("NetworkVolume", { size: 10, dataCenterId: "EU-RO-1" });
  const env = { TOKEN: secret.outputs["reference"] ?? null };
  const template = await create("Template", { imageName: "acme/echo:1", env, containerRegistryAuthId: auth.id });
  const endpoint = await create("ServerlessEndpoint", { templateId: template.id, workersMax: 1 });
  const job = await create("JobInvoke", { endpointId: endpoint.id, input: {} });
  const all = [job, endpoint, template, volume, auth, secret];

  for (const { kind, id, inputs, outputs } of all) {
    const reading = await kinds[kind].read(id, outputs, context());
    expect([kind, kinds[kind].diff(reading?.outputs ?? {}, inputs, "v2")]).toEqual([kind, []]);
  }
  for (const { kind, id, inputs } of [secret, template, volume, endpoint]) {
    const adopted = await kinds[kind].create({ ...inputs, adoptExisting: true }, context());
    expect([kind, adopted.id]).toEqual([kind, id]);
  }
  await update(secret, { value: "open barley", description: "of the cave" });
  await update(volume, { size: 20 });
  await update(template, { imageName: "acme/echo:2" });
  await update(endpoint, { idleTimeout: 9 });

  await getTemplate({ name: "Template-dev" }, context());
  await getServerlessEndpoint({ name: "ServerlessEndpoint-dev" }, context());
  expect((await getSecret({ name: "Secret-dev" }, context())).description).toBe("of the cave");
  for (const { kind, id, outputs } of all) {
    await kinds[kind].delete(id, outputs, context());
    await kinds[kind].delete(id, outputs, context());
    if (kind !== "JobInvoke") expect(await kinds[kind].read(id, outputs, context())).toBeUndefined();
  }
  const asked = bench.asked();
  expect(asked.filter((request) => / \/(graphql|v1)\b/.test(request))).toEqual([]);
  expect(asked.filter((request) => request.startsWith("POST /v2/"))).not.toEqual([]);
});
