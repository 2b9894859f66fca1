import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createEngineClient } from "../../../../service/workers/runtimes/container/engine-client";
import { createNetworkFinder } from "../../../../service/workers/runtimes/container/network";
import { serve } from "../../../support/loopback";

const gateways = [{}, { Gateway: "fd00::1" }, { Gateway: "172.30.0.1" }];
const direct = { name: "net", serverlessUrl: "http://172.30.0.1:7", extraHosts: [], isDirect: true };
const forwarded = {
  name: "net",
  serverlessUrl: "http://host.docker.internal:7",
  extraHosts: ["host.docker.internal:host-gateway"],
  isDirect: false,
};

/** An engine, with a network or not, that responds to a create with isolation with `status`, on a machine with `addresses`. */
async function useEngine({
  exists = false,
  status = 201,
  configs = gateways,
  failure = "EADDRNOTAVAIL",
  addresses = ["127.0.0.1", "172.30.0.1"],
}: {
  exists?: boolean;
  status?: number;
  configs?: object[];
  failure?: string;
  addresses?: string[];
} = {}) {
  const creates: unknown[] = [];
  let isCreated = exists;
  const origin = await serve(async (request, response) => {
    if (request.method === "GET" && request.url === "/networks/net")
      return response.writeHead(isCreated ? 200 : 404).end(JSON.stringify({ IPAM: { Config: configs } }));
    const body = await json(request);
    creates.push(body);
    const isRejected = JSON.stringify(body).includes("enable_icc") && status !== 201;
    isCreated = !isRejected;
    return response.writeHead(isRejected ? status : 201).end('{"message":"rejected"}');
  });
  const port = Number(new URL(origin).port);
  const find = createNetworkFinder({
    client: createEngineClient({ displayUrl: "engine", host: "127.0.0.1", port }),
    name: "net",
    labels: { owner: "o" },
    async listen(address) {
      if (addresses.includes(address)) return 7;
      throw Object.assign(new Error("no such address"), { code: failure });
    },
  });
  return { find, creates };
}
const plain = { Name: "net", Driver: "bridge", CheckDuplicate: true, Labels: { owner: "o" } };
const isolated = { ...plain, Options: { "com.docker.network.bridge.enable_icc": "false" } };

test("containers reach the service at the IPv4 address of this machine on their network", async () => {
  const { find, creates } = await useEngine({ exists: true });
  expect(await find()).toEqual(direct);
  expect(creates).toEqual([]);
});

test.each([
  ["has an address that this machine does not", { addresses: ["127.0.0.1"] }],
  ["has no IPv4 address", { configs: [{ Gateway: "fd00::1" }] }],
])("containers reach the service by a host name if the network %s", async (_reason, engine) => {
  expect(await (await useEngine(engine)).find()).toEqual(forwarded);
});

test("an address on which the service may not listen is an error", async () => {
  const { find } = await useEngine({ addresses: [], failure: "EACCES" });
  await expect(find()).rejects.toThrow("no such address");
});

test("a missing network is created once, and its containers cannot reach each other", async () => {
  const { find, creates } = await useEngine();
  expect(await Promise.all([find(), find()])).toEqual([direct, direct]);
  expect(creates).toEqual([isolated]);
  expect(await find()).toEqual(direct);
});

test("an engine without isolation gets a network without it", async () => {
  const { find, creates } = await useEngine({ status: 500 });
  expect(await find()).toEqual(direct);
  expect(creates).toEqual([isolated, plain]);
});

test("a name that another network has is an error, and the next lookup tries again", async () => {
  const { find, creates } = await useEngine({ status: 409 });
  for (let lookup = 1; lookup <= 2; lookup++) {
    await expect(find()).rejects.toThrow("rejected");
    expect(creates).toHaveLength(lookup);
  }
});
