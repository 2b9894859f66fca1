import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createService, StartError } from "serverless-compute-local";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { serviceFolder } from "../../../support/folders";
import { send } from "../../../support/raw-http";

let folder: string;
beforeEach(() => {
  folder = serviceFolder();
});

const start = (options = {}) => createService({ port: 0, dataFolder: join(folder, "data"), ...options });
const listens = async (url: string): Promise<boolean> =>
  send("GET", url).then(
    () => true,
    () => false,
  );

describe("createService", () => {
  test("rejects a folder in use, and does not affect the service that uses it", async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(StartError);
    expect(await listens(first.baseUrl)).toBe(true);
    await first.stop();
  });

  test("rejects a port in use, creates no folder and changes no existing one", async () => {
    const other = await start({ dataFolder: join(folder, "other") });
    const port = Number(new URL(other.baseUrl).port);
    const seed = join(folder, "endpoints.yaml");
    writeFileSync(seed, "volumes: { models: { size: 10, dataCenter: EU-RO-1 } }");
    const taken = `port ${port} on 127.0.0.1 is taken: stop the program that uses it or choose another port with --port (0 selects a free port)`;
    await expect(start({ port, seed, logLevel: "info" })).rejects.toThrow(taken);
    expect(readdirSync(folder).sort()).toEqual(["endpoints.yaml", "other"]);

    await (await start({ logLevel: "info" })).stop();
    const log = readFileSync(join(folder, "data", "service.log"), "utf8");
    await expect(start({ port, seed, logLevel: "info" })).rejects.toThrow(taken);
    expect(readFileSync(join(folder, "data", "service.log"), "utf8")).toBe(log);
    const second = await start();
    const volumes = await send("GET", `${second.url}/v2/network-volumes`, { key: second.apiKey });
    expect(volumes.json).toMatchObject({ networkVolumes: [] });
    await expect(start({ port: Number(new URL(second.url).port) })).rejects.toThrow(
      "is in use by another local service",
    );
    await Promise.all([other.stop(), second.stop()]);
  });

  test.each([
    [{ timings: { stopGrace: "5s" } }, 'timings.stopGrace: "5s" is not allowed'],
    [{ port: 65_536 }, "port: 65536 is not allowed; must be a whole number from 0 to 65535"],
    [{ templateRelease: -1 }, "templateRelease: -1 is not allowed; must be 0 or more"],
    [{ jobVisibilityDelay: 0.5 }, "jobVisibilityDelay: 0.5 is not allowed; must be a whole number"],
    [{ stream: "list" }, 'stream: "list" is not allowed; must be "auto", "array" or "envelope"'],
    [{ rateLimits: false }, 'rateLimits: false is not allowed; must be "on" or "off"'],
    [{ retire: "v1" }, 'retire: "v1" is not allowed; must be a list'],
    [{ retire: ["v2"] }, 'retire.0: "v2" is not allowed; must be "v1" or "graphql"'],
    [{ dataFolder: "" }, 'dataFolder: "" is not allowed; must not be empty'],
    [{ pageSize: 0 }, "pageSize: 0 is not allowed; must be a whole number from 1 to 1000"],
    [{ workerQuota: "20" }, 'workerQuota: "20" is not allowed; must be a number'],
    [{ kubernetes: { workerUrl: "pods" } }, 'kubernetes.workerUrl: "pods" is not allowed; must be an address'],
    [{ images: { "": "./echo.mjs" } }, "images"],
    [{ imagesFolder: "." }, "imagesFolder: unknown property; expected one of port, host, allowHosts"],
    [{ clock: 5 }, "clock: 5 is not allowed; must be a clock"],
    [{ ephemeral: true }, "ephemeral: true is not allowed with a dataFolder; remove one of them"],
    [{ logLevel: "loud" }, 'logLevel: "loud" is not allowed; must be "silent", "error"'],
    [
      { host: "0.0.0.0" },
      "host: 0.0.0.0 is reachable from other machines; allow the service's host name with --allow-host",
    ],
    [{ host: "::" }, "host: :: is reachable from other machines"],
    [{ host: "192.0.2.1", allowHosts: [] }, "host: 192.0.2.1 is reachable from other machines"],
    [{ host: "localhost" }, 'host: "localhost" is not allowed; must be an IP address'],
    [
      { allowHosts: ["http://here"] },
      'allowHosts: "http://here" is not allowed; must be a host name or address without a port',
    ],
    [{ allowHosts: ["here:80"] }, 'allowHosts: "here:80" is not allowed'],
    [{ host: "192.0.2.1", allowHosts: ["here"] }, "host: 192.0.2.1 is not an address of this machine"],
    [{ apiKey: "too-short" }, "apiKey: must be 16 or more printable characters without spaces"],
  ])("rejects %j with what is allowed, and creates nothing", async (options, message) => {
    const failure = await start(options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartError);
    expect(String(failure)).toContain(message);
    expect(String(failure)).not.toContain("too-short");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("creates no log file if it is silent", async () => {
    const service = await start();
    await service.stop();
    expect(readdirSync(join(folder, "data"))).not.toContain("service.log");
  });
});

describe("stop", () => {
  test("releases port and folder, may be called repeatedly, and allows a new start on the folder", async () => {
    const service = await start();
    await Promise.all([service.stop(), service.stop()]);
    await service.stop();
    expect(await listens(service.baseUrl)).toBe(false);
    const again = await start();
    expect(again.apiKey).toBe(service.apiKey);
    await again.stop();
  });

  test("does not wait for connections that clients keep open", async () => {
    const service = await start();
    await send("GET", `${service.baseUrl}/endpoints`, { key: service.apiKey });
    // Node itself ends idle connections, but not one with an unfinished request.
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined).write("GET /healthz HTTP/1.1\r\n");
    await once(socket, "connect");
    // The service has read the connection when it responds to a later request.
    await send("GET", `${service.baseUrl}/endpoints`, { key: service.apiKey });
    // Clients keep connections open for 72 s, longer than this test may take.
    await service.stop(0);
  });

  test("succeeds immediately after the start and leaves only the data folder", async () => {
    const service = await start();
    await service.stop(0);
    expect(readdirSync(folder)).toEqual(["data"]);
  });
});
