import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { serveCalls } from "../../../../provider/engine/grpc-server";
import { message, text } from "../../../../provider/engine/protobuf";
import { createProviderProcess, type ProviderProcess } from "../../../../provider/framework/process";
import { listenOnLoopback } from "../../../support/loopback";

const config = (values: Record<string, string>) => (key: string) => values[key];
const keyed = config({ "serverless-compute:apiKey": "rpa_only-for-tests" });

const untestedWarning =
  "serverless-compute:target: the provider has not been tested with the hosted service; follow the checklist in docs/hosted-service.md#checklist";

describe("the process that the engine starts", () => {
  it("stays cancelled when another kind is configured after the Ctrl-C", async () => {
    const host = createProviderProcess(() => undefined);
    host.setConfiguration(keyed);
    host.cancellation.cancel();
    host.setConfiguration(keyed);
    expect(await host.cancellation.run(async (signal) => signal.aborted)).toBe(true);
  });

  it("has one connection for all kinds, which share its limits and pauses", () => {
    const host = createProviderProcess(() => undefined);
    host.setConfiguration(keyed);
    const { clients } = host.connect();
    host.setConfiguration(keyed);
    expect(host.connect().clients).toBe(clients);
  });

  it("is reset by the next deployment", async () => {
    const host = createProviderProcess(() => undefined);
    host.beginDeployment(keyed);
    const { clients } = host.connect();
    host.cancellation.cancel();
    host.beginDeployment(keyed);
    expect(await host.cancellation.run(async (signal) => signal.aborted)).toBe(false);
    expect(host.connect().clients).not.toBe(clients);
  });

  /** The warnings of a host. */
  async function warningsOf(act: (host: ProviderProcess) => Promise<void>): Promise<string[]> {
    const logRequest = message({ message: text(2), urn: text(3) });
    const messages: string[] = [];
    const engine = createServer();
    serveCalls(engine, () => (request) => {
      messages.push(logRequest.decode(request).message);
      return Buffer.alloc(0);
    });
    const { host: address } = new URL(await listenOnLoopback(engine));
    const host = createProviderProcess(() => address);
    try {
      await act(host);
      await host.log.warning("", "the last one");
      return messages.slice(0, -1);
    } finally {
      engine.close();
    }
  }

  it("warns at the end of a command that found none of its objects, with the address, and not after a Ctrl-C", async () => {
    const none = (objects: string, were: string): string =>
      `http://127.0.0.1:7337/v2: the service ${objects} that this command looked up; unless ${were} deleted, ` +
      "check the API key, its account, and serverless-compute:url (or SERVERLESS_COMPUTE_URL)";
    const warnings = await warningsOf(async (host) => {
      for (const lookups of [[false, false, false], [false], [false, true], []]) {
        host.beginDeployment(keyed);
        host.connect();
        for (const exists of lookups) host.reportFound(exists);
        host.cancellation.cancel();
        await host.cancellation.waitUntilIdle();
      }
      host.beginDeployment(keyed);
      host.connect();
      host.reportFound(false);
      await host.cancellation.run(async () => host.cancellation.cancel());
      await host.cancellation.waitUntilIdle();
    });
    expect(warnings).toEqual([
      none("has none of the 3 objects", "they were"),
      none("does not have the only object", "it was"),
    ]);
  });

  it("warns once per deployment that the hosted service is untested, if the deployment adds a resource", async () => {
    const warnings = await warningsOf(async (host) => {
      host.beginDeployment(keyed);
      host.warnBeforeCheck(true);
      for (let deployment = 0; deployment < 2; deployment++) {
        host.beginDeployment(config({ "serverless-compute:target": "hosted" }));
        for (const isNew of [false, true, true]) host.warnBeforeCheck(isNew);
      }
    });
    expect(warnings).toEqual([untestedWarning, untestedWarning]);
  });

  it("warns once per deployment, also in a preview without requests, that the key is sent unencrypted", async () => {
    const warning = "serverless-compute:url: the API key is sent to http://gpu.example.com unencrypted; use https://";
    const warnings = await warningsOf(async (host) => {
      for (let deployment = 0; deployment < 2; deployment++) {
        host.beginDeployment(
          config({ "serverless-compute:url": "http://gpu.example.com", "serverless-compute:apiKey": "k" }),
        );
        host.warnBeforeCheck(false);
        host.warnBeforeCheck(true);
        host.connect();
      }
    });
    expect(warnings).toEqual([warning, warning]);
  });
});
