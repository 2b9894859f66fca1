import { describe, expect, test } from "vitest";
import { type EngineProperties, unknownText } from "../../../provider/engine/engine-properties";
import { kinds } from "../../../provider/resources";
import { configuredProcess } from "../../support/configured-process";
import { providerVariants } from "../../support/provider-variants";

type Row = [kind: keyof typeof kinds, key: string, inputs: EngineProperties];
const template = { name: "chat", imageName: "a:1", env: { MODEL: "small" }, containerRegistryAuthId: "auth-1" };
const rows: Row[] = [
  ["NetworkVolume", "dataCenterId", { name: "models", size: 10, dataCenterId: "EU-RO-1" }],
  ["ContainerRegistryAuth", "name", { name: "registry", username: "robot", password: "pass-93ab" }],
  ["ContainerRegistryAuth", "password", { name: "registry", username: "robot", password: "pass-93ab" }],
  ["Secret", "name", { name: "hub", value: "value-7be2" }],
  ["ServerlessEndpoint", "computeType", { name: "chat", imageName: "a:1", computeType: "CPU" }],
  ["ServerlessEndpoint", "type", { name: "chat", imageName: "a:1", type: "LOAD_BALANCER" }],
  ["Template", "isServerless", { ...template, isServerless: false }],
  ...["env", "containerRegistryAuthId"].map((key): Row => ["Template", key, { ...template, replaceOnChange: true }]),
];

/**
 * Before the engine deletes an object that is replaced, it compares its dependents, to decide which of them it must delete as well. It does
 * not check them, and the properties that depend on the object are unknown.
 */
describe.each(Object.entries(providerVariants))("with the %s", (_name, variant) => {
  test.each(rows)(
    "a %s whose %s depends on a deleted object is not deleted together with it",
    async (kind, key, news) => {
      const calls = variant(kinds[kind], configuredProcess({}));
      const { inputs, failures } = await calls.check({}, news);
      expect(failures).toEqual([]);
      const diff = () => calls.diff("id-1", inputs, { ...inputs, [key]: unknownText });
      // This one belongs to the check.
      expect((await diff()).replaces).toContain(key);
      expect(await diff()).toEqual({ changes: true, replaces: [] });
    },
  );
});

test("the option replaceOnChanges of a dynamic resource deletes it together with the object that it depends on", async () => {
  const calls = providerVariants["dynamic provider"](kinds.ServerlessEndpoint, configuredProcess({}));
  const { inputs } = await calls.check({}, { name: "chat", templateId: "t1", __replaceOnChanges: ["templateId"] });
  const diff = () => calls.diff("id-1", inputs, { ...inputs, templateId: unknownText });
  await diff();
  expect(await diff()).toEqual({ changes: true, replaces: ["templateId"] });
});
