import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  callsService,
  findService,
  remainingObjects,
  startService,
} from "../../../scripts/quickstart/local-service.mjs";
import { scratchFolder } from "../../support/folders";
import { serve } from "./fake-cli";

/** The options of a service and its address file, in a folder. */
function plan() {
  const folder = scratchFolder();
  const options = {
    dataFolder: join(folder, "data"),
    images: { "acme/echo:1": process.execPath },
    runtime: "none",
  } as const;
  return { options, addressFile: join(folder, "service.json") };
}

/** Starts a service that is stopped with the test. */
async function start({ options, addressFile }: ReturnType<typeof plan>) {
  const service = await startService(options, addressFile);
  onTestFinished(() => service.stop());
  return service;
}

test.each([
  [["up"], true],
  [["--yes", "destroy"], true],
  [["refresh", "--yes"], true],
  [["destroy", "--help"], false],
  [["preview"], false],
  [["stack", "output"], false],
  [[], false],
])("the arguments %j of the CLI require the service: %j", (args, isRequired) => {
  expect(callsService(args)).toBe(isRequired);
});

test("a started service is found by its address file, with its key, and its objects are listed by kind and name", async () => {
  const service = plan();
  expect(await findService(service.addressFile, service.options.dataFolder)).toBeUndefined();
  const { serverlessUrl, apiKey, consoleUrl, hasMoved } = await start(service);
  expect({ hasMoved, apiKey }).toEqual({
    hasMoved: false,
    apiKey: readFileSync(join(service.options.dataFolder, "api-key"), "utf8").trim(),
  });
  expect(await findService(service.addressFile, service.options.dataFolder)).toEqual({ serverlessUrl, apiKey });
  const text = readFileSync(service.addressFile, "utf8");
  expect(text).not.toContain(apiKey);
  expect(consoleUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}$/);
  expect(text).not.toContain(new URL(consoleUrl ?? "").searchParams.get("t"));

  expect(await remainingObjects({ serverlessUrl, apiKey })).toEqual([]);
  const response = await fetch(`${serverlessUrl}/v1/networkvolumes`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "models", size: 10, dataCenterId: "EU-RO-1" }),
  });
  expect(response.status).toBe(200);
  expect(await remainingObjects({ serverlessUrl, apiKey })).toEqual(["networkVolumes models"]);
});

test("a later service keeps the port and the data of the earlier one; a taken port is replaced", async () => {
  const service = plan();
  // Outside of the ports that the system assigns, which another test may get after the first stop.
  const port = 20_000 + (process.pid % 5000);
  writeFileSync(service.addressFile, JSON.stringify({ serverlessUrl: `http://127.0.0.1:${port}` }));
  const first = await startService(service.options, service.addressFile);
  expect(new URL(first.serverlessUrl).port).toBe(String(port));
  await first.stop();
  expect(await findService(service.addressFile, service.options.dataFolder)).toBeUndefined();
  const second = await startService(service.options, service.addressFile);
  expect(second).toMatchObject({ hasMoved: false, apiKey: first.apiKey, serverlessUrl: first.serverlessUrl });

  await second.stop();
  const otherServer = createServer();
  await new Promise<void>((settle) => {
    otherServer.listen(Number(new URL(first.serverlessUrl).port), "127.0.0.1", settle);
  });
  onTestFinished(() => void otherServer.close());
  const third = await start(service);
  expect(third.hasMoved).toBe(true);
  expect(third.serverlessUrl).not.toBe(first.serverlessUrl);
});

test("the key is not sent to another server on the port of a stopped service", async () => {
  const requested: unknown[] = [];
  const serverlessUrl = await serve((request, response) => {
    requested.push(request.headers);
    response.end("[]");
  });
  const { addressFile, options } = plan();
  mkdirSync(options.dataFolder);
  writeFileSync(join(options.dataFolder, "api-key"), "key");
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  writeFileSync(addressFile, JSON.stringify({ serverlessUrl, pid }));
  expect(await findService(addressFile, options.dataFolder)).toBeUndefined();
  expect(requested).toEqual([]);
});
