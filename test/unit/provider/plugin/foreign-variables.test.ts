import { expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import type { ResourceOperations } from "../../../../provider/framework/contract";
import { createProviderProcess } from "../../../../provider/framework/process";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { kinds } from "../../../../provider/resources";
import { configNames } from "../../../../provider/settings/setting-names";
import { startRig } from "../../../support/client-rig";
import { json } from "../../../support/faulty-server";
import { engineProperties, roundTrip } from "../../../support/property-sets";

const urn = "urn:pulumi:dev::shop::serverless-compute:index:ServerlessEndpoint::chat";
const program = { name: "chat", imageName: "acme/chat:1", env: { MODEL: "small" } };
/** The state of the endpoint after another client has set a variable and the arguments. */
const reported: Properties = { ...program, env: { MODEL: "small", HUB_TOKEN: "4711" }, dockerArgs: "--token 4711" };

const operations: ResourceOperations = {
  ...kinds.ServerlessEndpoint,
  create: async () => ({ id: "e1", outputs: reported }),
  read: async (id) => ({ id, inputs: program, outputs: reported }),
  update: async () => reported,
  previewOutputs: () => reported,
};

async function startCalls() {
  const { clients, clock } = await startRig([json({}, 400)]);
  const host = createProviderProcess(() => undefined);
  const connect = () => ({ clients, settings: { templateReleaseLimit: 1, names: configNames } });
  return resourceCalls({ ...host, clock, connect }, { ServerlessEndpoint: operations });
}
type Calls = Awaited<ReturnType<typeof startCalls>>;

const properties = engineProperties(program);
const update = { id: "e1", urn, olds: properties, news: properties, timeout: 0 };

test.each<[string, (calls: Calls) => Promise<{ properties?: Parameters<typeof roundTrip>[0] }>]>([
  ["create, which may adopt an endpoint,", (calls) => calls.create({ urn, properties, timeout: 0, preview: false })],
  ["preview of a create", (calls) => calls.create({ urn, properties, timeout: 0, preview: true })],
  ["update", (calls) => calls.update({ ...update, preview: false })],
  ["preview of an update", (calls) => calls.update({ ...update, preview: true })],
  ["refresh", (calls) => calls.read({ id: "e1", urn, properties, inputs: properties, timeout: 0 })],
])("the outputs of a %s keep variables and arguments secret that the program does not set", async (_verb, call) => {
  const { secretPaths } = roundTrip((await call(await startCalls())).properties);
  expect(secretPaths).toContainEqual(["env", "HUB_TOKEN"]);
  expect(secretPaths).toContainEqual(["dockerArgs"]);
  expect(secretPaths).not.toContainEqual(["env", "MODEL"]);
});
