import { expect, test } from "vitest";
import { findServer } from "../../../../service/workers/runtimes/container/network";
import { createBody } from "../../../../service/workers/runtimes/container/spec";
import { plainNeeds } from "./support/container-needs";

const ports = { port: 80, healthPort: 81, healthPath: "/ping" };
const network = { name: "net", serverlessUrl: "http://127.0.0.1:1", extraHosts: [] };
const description = {
  NetworkSettings: {
    Networks: { net: { IPAddress: "172.18.0.2" } },
    Ports: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "20080" }], "81/tcp": [{ HostPort: "20081" }] },
  },
};
const client = {
  call: async (method: string, path: string) =>
    `${method} ${path}` === "GET /containers/c/json" ? description : undefined,
};
const bodyOf = (isDirect: boolean, serverPorts?: typeof ports) =>
  createBody(
    {
      ...plainNeeds,
      image: "i",
      workerId: "w",
      cmd: [],
      env: {},
      labels: {},
      volumeFolder: undefined,
      gpuMode: "none",
      serverPorts,
      network: { ...network, isDirect },
    },
    { cpus: 1, gpus: false, diskLimit: false },
  );

test("if the host can reach a container's network, its server is called there and no port is published", async () => {
  expect(bodyOf(true, ports)).toMatchObject({ ExposedPorts: {}, HostConfig: { PortBindings: {} } });
  expect(await findServer(client, "c", ports, { ...network, isDirect: true })).toEqual({
    ...ports,
    host: "172.18.0.2",
  });
});

test("otherwise its ports are published on loopback, unless the worker serves a queue", async () => {
  const any = [{ HostIp: "127.0.0.1", HostPort: "" }];
  expect(bodyOf(false, ports)).toMatchObject({
    ExposedPorts: { "80/tcp": {}, "81/tcp": {} },
    HostConfig: { PortBindings: { "80/tcp": any, "81/tcp": any } },
  });
  expect(await findServer(client, "c", ports, { ...network, isDirect: false })).toEqual({
    host: "127.0.0.1",
    port: 20_080,
    healthPort: 20_081,
    healthPath: "/ping",
  });
  expect(bodyOf(false)).toMatchObject({ ExposedPorts: {}, HostConfig: { PortBindings: {} } });
});
