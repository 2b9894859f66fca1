import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConnectProxy, startConnectProxy } from "../support/connect-proxy";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** A service that is reachable only through a proxy, at unencrypted addresses. */
export function describeProxies(way: Way): void {
  let service: EngineService;
  let proxy: ConnectProxy;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    proxy = await startConnectProxy(service.proxy.origin);
    const remote = Object.entries(service.environment).map(([name, value]) => [
      name,
      value.replace(service.proxy.origin, "http://service.test:8080"),
    ]);
    stack = await way.createStack({ ...Object.fromEntries(remote), HTTP_PROXY: proxy.origin });
    await stack.writeProgram(`
    const { NetworkVolume } = require("${way.module}");
    for (const name of ["a", "b"]) new NetworkVolume(name, { size: 10, dataCenterId: "EU-RO-1" });
  `);
  });
  afterAll(async () => {
    await stack.remove();
    await proxy.close();
  });

  it("uses HTTP_PROXY, and one warning names each address that receives the key unencrypted", async () => {
    const up = await stack.up();
    expect((await service.listObjects()).volumes).toHaveLength(2);
    expect(new Set(proxy.requests.map(({ target }) => target))).toEqual(new Set(["service.test:8080"]));
    const warnings = up.diagnostics.filter(({ severity }) => severity === "warning").map(({ message }) => message);
    expect(warnings.filter((text) => text.includes("unencrypted")).sort()).toEqual(
      ["BASE_URL", "GRAPHQL_URL", "SERVERLESS_URL"].map((name) =>
        expect.stringMatching(
          new RegExp(`^SERVERLESS_COMPUTE_${name}: the API key is sent to http://service.test:8080`),
        ),
      ),
    );
  });
}
