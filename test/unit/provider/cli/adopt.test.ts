import { expect, it } from "vitest";
import { adopt } from "../../../../provider/cli/recover/recover";
import type { ExportedState } from "../../../../provider/cli/state";

const type = "serverless-compute:index:ServerlessEndpoint";
const urn = `urn:pulumi:dev::shop::${type}::chat`;
const stack = { urn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", type: "pulumi:pulumi:Stack" };
const last = { urn: "urn:pulumi:dev::shop::serverless-compute:index:JobInvoke::smoke", type, id: "j" };
const stateOf = (resources: object[], inputs: object = { name: "chat-dev-00000a1" }): ExportedState => ({
  version: 3,
  deployment: {
    manifest: { version: "v3.250.0" },
    resources: resources.map((resource) => ({ urn: "", type, ...resource })),
    pending_operations: [
      { type: "creating", resource: { urn, type, custom: true, parent: stack.urn, inputs: { ...inputs } } },
    ],
  },
});
const chat = { urn, name: "chat-dev-00000a1", id: "e1" };

it("an imported object is appended to the state, with its inputs as outputs, and no operation remains pending", () => {
  const inputs = { name: "chat-dev-00000a1" };
  expect(adopt(stateOf([stack, last]), [chat])).toEqual({
    version: 3,
    deployment: {
      manifest: { version: "v3.250.0" },
      resources: [stack, last, { urn, type, custom: true, parent: stack.urn, inputs, outputs: inputs, id: "e1" }],
    },
  });
});

it("an imported replacement takes the place of the deleted object", () => {
  const { deployment } = adopt(stateOf([stack, { urn, id: "e0", pendingReplacement: true }, last]), [chat]);
  expect(deployment.resources?.map(({ id }) => id)).toEqual([undefined, "e1", "j"]);
  expect(deployment.resources?.[1]).not.toHaveProperty("pendingReplacement");
});

it("an imported endpoint with `verify` is unverified", () => {
  const inputs = { name: "chat-dev-00000a1", verify: { input: {} } };
  const { deployment } = adopt(stateOf([stack], inputs), [chat]);
  expect(deployment.resources?.[1]?.outputs).toEqual({ ...inputs, unverified: { before: {}, neverVerified: true } });
});

it("a pending create that is missing from the state is an error", () => {
  expect(() => adopt(stateOf([stack], { name: "chat-dev-00000a2" }), [chat])).toThrow(/run the command again/);
});
