import { describe, expect, it } from "vitest";
import { createHost } from "../../../../provider/process/host";

const config = (values: Record<string, string>) => (key: string) => values[key];
const keyed = config({ "serverless-compute:apiKey": "rpa_only-for-tests" });

describe("the process that the engine starts", () => {
  it("stays cancelled when a further kind is configured after the Ctrl-C", async () => {
    const host = createHost(() => undefined);
    host.keepConfiguration(keyed);
    host.cancellation.cancel();
    host.keepConfiguration(keyed);
    expect(await host.cancellation.run(async (signal) => signal.aborted)).toBe(true);
  });

  it("has one connection for all kinds, so that they share its limits and its pauses", () => {
    const host = createHost(() => undefined);
    host.keepConfiguration(keyed);
    const { clients } = host.connect();
    host.keepConfiguration(keyed);
    expect(host.connect().clients).toBe(clients);
  });

  it("begins anew with the next deployment", async () => {
    const host = createHost(() => undefined);
    host.beginDeployment(keyed);
    const { clients } = host.connect();
    host.cancellation.cancel();
    host.beginDeployment(keyed);
    expect(await host.cancellation.run(async (signal) => signal.aborted)).toBe(false);
    expect(host.connect().clients).not.toBe(clients);
  });
});
