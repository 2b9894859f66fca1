import { expect, test } from "vitest";
import type { ProviderProcess } from "../../../../provider/framework/process";
import { lookupCalls } from "../../../../provider/plugin/lookup-calls";
import { startRig } from "../../../support/client-rig";
import { connectedProcess } from "../../../support/configured-process";
import { json } from "../../../support/faulty-server";
import { longSecrets } from "../../../support/long-secrets";
import { engineProperties } from "../../../support/property-sets";
import { asSecret } from "../dynamic/box";

const secret = longSecrets().pem;

/** Creates a host whose service rejects every request with this message. */
async function createLoggingHost(message: string): Promise<ProviderProcess> {
  const { clients, clock } = await startRig([json({ errors: [{ message }], message }, 400)]);
  return { ...connectedProcess(clients), clock };
}

const failureOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "it succeeded",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

test("a lookup's message contains no secret", async () => {
  const request = { token: "serverless-compute:index:getSecret", args: engineProperties({ name: asSecret(secret) }) };
  const readObject = lookupCalls(await createLoggingHost(`no ${secret}`));
  const message = await failureOf(readObject.invoke(request));
  expect(message).toMatch(/^Secret "\[secret\]\s": .*no \[secret\]$/);
});

test("a lookup rejects functions and arguments with the names of properties of every object", async () => {
  const { invoke } = lookupCalls(await createLoggingHost(""));
  const failed = (name: string, args: object) =>
    failureOf(invoke({ token: `serverless-compute:index:${name}`, args: engineProperties(args) }));
  expect(await failed("toString", {})).toMatch(/^unknown function serverless-compute:index:toString;/);
  expect(await failed("getTemplate", { toString: "x" })).toMatch(/^getTemplate: unknown argument "toString";/);
});

test.each([
  ["getGpuTypes", { pool: 24 }, 'getGpuTypes: "pool" must be a string'],
  ["getTemplate", { id: ["t1"] }, 'getTemplate: "id" must be a string'],
  ["getEndpointHealth", { endpointId: true }, 'getEndpointHealth: "endpointId" must be a string'],
  ["getEndpointHealth", {}, 'getEndpointHealth: "endpointId" is required'],
])("the lookup %s rejects the arguments %j", async (name, args, message) => {
  const { invoke } = lookupCalls(await createLoggingHost(""));
  const request = { token: `serverless-compute:index:${name}`, args: engineProperties(args) };
  expect(await failureOf(invoke(request))).toBe(message);
});
