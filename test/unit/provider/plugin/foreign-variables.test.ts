import { describe, expect, test } from "vitest";
import type { Properties, PropertyMap } from "../../../../provider/engine/values";
import type { ResourceOperations } from "../../../../provider/framework/contract";
import { createProviderProcess } from "../../../../provider/framework/process";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { kinds } from "../../../../provider/resources";
import { configNames } from "../../../../provider/settings/setting-names";
import { startRig } from "../../../support/client-rig";
import { json } from "../../../support/faulty-server";
import { engineProperties, roundTrip } from "../../../support/property-sets";

const program = { name: "chat", imageName: "acme/chat:1", env: { MODEL: "small" } };
/** The state of an object after another client has set a variable and the arguments. */
const reported: Properties = {
  ...program,
  env: { MODEL: "small", HUB_TOKEN: "4711" },
  dockerArgs: "--token 4711",
  dockerStartCmd: [],
  revision: "a1",
};

describe.each(["Template", "ServerlessEndpoint"] as const)("the state of a %s", (kind) => {
  const urn = `urn:pulumi:dev::shop::serverless-compute:index:${kind}::chat`;
  const operations: ResourceOperations = {
    ...kinds[kind],
    create: async () => ({ id: "o1", outputs: reported }),
    read: async () => ({ inputs: reported, outputs: reported }),
    update: async () => reported,
    previewOutputs: () => reported,
  };

  async function startCalls() {
    const { clients, clock } = await startRig([json({}, 400)]);
    const host = createProviderProcess(() => undefined);
    const connect = () => ({ clients, settings: { templateReleaseLimit: 1, names: configNames } });
    return resourceCalls({ ...host, clock, connect }, { [kind]: operations });
  }
  type Calls = Awaited<ReturnType<typeof startCalls>>;
  const secretPathsOf = (properties: PropertyMap | undefined) => roundTrip(properties).secretPaths;

  const properties = engineProperties(program);
  const update = { id: "o1", urn, olds: properties, news: properties, timeout: 0 };
  const refresh = { id: "o1", urn, properties, inputs: properties, timeout: 0 };
  const calls: [string, (calls: Calls) => Promise<{ properties?: PropertyMap }>][] = [
    ["create, which may adopt an object,", ({ create }) => create({ urn, properties, timeout: 0, preview: false })],
    ["preview of a create", ({ create }) => create({ urn, properties, timeout: 0, preview: true })],
    ["update", (plugin) => plugin.update({ ...update, preview: false })],
    ["preview of an update", (plugin) => plugin.update({ ...update, preview: true })],
    ["refresh", ({ read }) => read(refresh)],
  ];

  test.each(calls)(
    "keeps after a %s the variables and arguments secret that the program does not set",
    async (_, call) => {
      const secretPaths = secretPathsOf((await call(await startCalls())).properties);
      expect(secretPaths).toContainEqual(["env", "HUB_TOKEN"]);
      expect(secretPaths).toContainEqual(["dockerArgs"]);
      expect(secretPaths).not.toContainEqual(["env", "MODEL"]);
    },
  );

  test("keeps all variables of an import or a lookup secret, but no empty value", async () => {
    const nothing = engineProperties({});
    const { read } = await startCalls();
    const result = await read({ ...refresh, properties: nothing, inputs: nothing });
    expect(secretPathsOf(result.properties)).not.toContainEqual(["revision"]);
    // A refresh does not change what is secret.
    const refreshed = await read({ ...refresh, properties: roundTrip(result.properties) });
    expect(secretPathsOf(refreshed.properties)).toEqual(secretPathsOf(result.properties));
    for (const secretPaths of [result.properties, result.inputs].map(secretPathsOf)) {
      expect(secretPaths).toEqual(expect.arrayContaining([["env", "HUB_TOKEN"], ["env", "MODEL"], ["dockerArgs"]]));
      expect(secretPaths).not.toContainEqual(["dockerStartCmd"]);
    }
  });

  test("keeps variables of the service secret that a check copies from the state", async () => {
    const { env: _, ...withoutEnv } = program;
    const olds = engineProperties({ ...withoutEnv, env: { HUB_TOKEN: "4711" }, __defaults: ["env"] });
    const { check } = await startCalls();
    const request = { urn, olds, news: engineProperties(withoutEnv), randomSeed: undefined, autonaming: undefined };
    const { properties: inputs, secretPaths } = roundTrip((await check(request)).inputs);
    expect(inputs["env"]).toEqual({ HUB_TOKEN: "4711" });
    expect(secretPaths).toContainEqual(["env", "HUB_TOKEN"]);
  });
});
