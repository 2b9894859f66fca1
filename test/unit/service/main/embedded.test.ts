import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createService, StartError } from "serverless-compute-local";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { send } from "../../../support/raw-http";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "embedded-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const start = (options = {}) => createService({ port: 0, dataFolder: join(folder, "data"), ...options });
const listens = async (url: string): Promise<boolean> =>
  send("GET", url).then(
    () => true,
    () => false,
  );

describe("createService", () => {
  test("rejects when the folder is taken, and leaves the service that has it alone", async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(StartError);
    expect(await listens(first.baseUrl)).toBe(true);
    await first.stop();
  });

  test("rejects when the port is taken, and gives the folder free again", async () => {
    const first = await start({ dataFolder: join(folder, "other") });
    const port = Number(new URL(first.baseUrl).port);
    await expect(start({ port })).rejects.toThrow(`port ${port} on 127.0.0.1 is taken`);
    const second = await start();
    await Promise.all([first.stop(), second.stop()]);
  });

  test("makes no log file when it is to be silent", async () => {
    const service = await start();
    await service.stop();
    expect(readdirSync(join(folder, "data"))).not.toContain("service.log");
  });
});

describe("stop", () => {
  test("frees the port and the folder, may be called twice, and a start on the same folder goes on", async () => {
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
    const begun = Date.now();
    await service.stop(0);
    expect(Date.now() - begun).toBeLessThan(1000);
  });

  test("right after the start works too", async () => {
    const service = await start();
    await service.stop(0);
    expect(readdirSync(folder)).toEqual(["data"]);
  });
});
