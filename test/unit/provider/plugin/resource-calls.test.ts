import {
  CheckRequest,
  type CheckResponse,
  CreateRequest,
  InvokeRequest,
  ReadRequest,
} from "@pulumi/pulumi/proto/provider_pb";
import { beforeEach, expect, test } from "vitest";
import { createHost, type Host } from "../../../../provider/engine/host";
import { lookUpCalls } from "../../../../provider/plugin/look-up-calls";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { readStruct, writeStruct } from "../../../../provider/plugin/structs";
import { kinds } from "../../../../provider/resources";
import { startRig } from "../../../support/client-rig";
import { json } from "../../../support/faulty-server";
import { longSecrets } from "../../../support/long-secrets";
import { asSecret, boxLifecycle } from "../dynamic/box";

const urnOf = (kind: string): string => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::lunch`;
const secret = longSecrets().pem;

/** A host whose clients talk to a service that refuses everything and repeats a text. */
async function hostThatHears(message: string): Promise<Host> {
  const { clients, clock } = await startRig([json({ errors: [{ message }], message }, 400)], { deadline: 500 });
  const host = createHost(() => undefined);
  return { ...host, clock, connect: () => ({ clients, settings: { templateReleaseLimit: 1 } }) };
}

let calls: ReturnType<typeof resourceCalls>;
beforeEach(async () => {
  calls = resourceCalls(await hostThatHears(`no ${JSON.stringify(secret)}`), { ...kinds, Box: boxLifecycle() });
});

function check(kind: string, news: object): CheckResponse {
  const request = new CheckRequest();
  request.setUrn(urnOf(kind));
  request.setNews(writeStruct(news));
  return calls.check(request);
}

const reasonsOf = (response: CheckResponse): string[] => response.getFailuresList().map((one) => one.getReason());

const failureOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "it succeeded",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

test("a check's message shows no value that is secret by its shape or by the program", () => {
  expect(reasonsOf(check("Box", { size: 0, pin: "4711" }))).toEqual(['size: 0 is too small, "[secret]"']);
  expect(
    reasonsOf(check("Template", { imageName: "a:1", ports: asSecret(secret), dockerArgs: asSecret(4711) })),
  ).toEqual(["dockerArgs: must be a string", expect.stringMatching(/^ports: must be a comma-separated list/)]);
});

test("a verb's message shows none, however the service repeats it", async () => {
  const request = new CreateRequest();
  request.setUrn(urnOf("NetworkVolume"));
  request.setProperties(writeStruct({ name: asSecret(secret), size: 10, dataCenterId: "EU-RO-1" }));
  const message = await failureOf(calls.create(request));
  expect(message).toMatch(/^NetworkVolume "\[secret\]\s": the service rejected the request: no "\[secret\](\\n)?"$/);
});

test("a look-up's message shows none", async () => {
  const request = new InvokeRequest();
  request.setTok("serverless-compute:index:getSecret");
  request.setArgs(writeStruct({ name: asSecret(secret) }));
  const look = lookUpCalls(await hostThatHears(`no ${secret}`));
  const message = await failureOf(look.invoke(request));
  expect(message).toMatch(/^Secret "\[secret\]\s": .*no \[secret\]$/);
});

test("a list with something secret in it is kept as a whole: what stands where may change behind the program's back", async () => {
  const request = new ReadRequest();
  request.setId("box-1");
  request.setUrn(urnOf("Box"));
  request.setProperties(writeStruct({ tags: ["a", asSecret("4711")] }));
  request.setInputs(writeStruct({ tags: ["a", asSecret("4711")] }));
  const read = await calls.read(request);
  expect(readStruct(read.getProperties()).secretPaths).toEqual([["tags"]]);
  expect(readStruct(read.getInputs()).secretPaths).toEqual([["tags"]]);
});
