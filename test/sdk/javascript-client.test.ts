import runpod from "runpod-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SdkRig, startRig } from "./rig";
import { versions } from "./versions";

let rig: SdkRig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

function sdk(endpointId: string) {
  const endpoint = runpod(rig.service.apiKey, { baseUrl: `${rig.service.serverlessUrl}/v2` }).endpoint(endpointId);
  if (!endpoint) throw new Error("the SDK created no endpoint");
  return endpoint;
}

describe(`npm runpod-sdk ${versions.javascriptSdk}`, () => {
  it("run, runSync, status", async () => {
    const endpoint = sdk(await rig.endpoint("plain.mjs"));
    const synced = await endpoint.runSync({ input: { text: "now" } });
    expect(synced).toMatchObject({ status: "COMPLETED", succeeded: true, output: { echo: { text: "now" } } });
    const { id } = await endpoint.run({ input: { text: "later" } });
    await expect
      .poll(() => endpoint.status(id), { timeout: 30_000, interval: 50 })
      .toMatchObject({ completed: true, output: { echo: { text: "later" } } });
  });

  it("stream", async () => {
    const endpoint = sdk(await rig.endpoint("generator.mjs"));
    const { id } = await endpoint.run({ input: { count: 3 } });
    const chunks = [];
    for await (const chunk of endpoint.stream(id)) chunks.push(chunk.output);
    expect(chunks).toEqual([{ index: 0 }, { index: 1 }, { index: 2 }]);
  });

  it("cancel, purgeQueue, health", async () => {
    const endpoint = sdk(await rig.endpoint("plain.mjs"));
    const { id } = await endpoint.run({ input: { do: "progress", seconds: 20 } });
    await expect
      .poll(() => endpoint.status(id), { timeout: 30_000, interval: 50 })
      .toMatchObject({ status: "IN_PROGRESS" });
    await endpoint.run({ input: { text: "purged" } });
    expect(await endpoint.purgeQueue()).toEqual({ removed: 1, status: "completed" });
    expect(await endpoint.cancel(id)).toMatchObject({ id, status: "CANCELLED" });
    expect(await endpoint.health()).toMatchObject({ jobs: { inQueue: 0, inProgress: 0 } });
  });
});
