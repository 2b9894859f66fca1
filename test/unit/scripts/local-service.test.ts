import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
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
  expect(await findService(service.addressFile)).toBeUndefined();
  const { addresses, apiKey, consoleUrl, hasMoved } = await start(service);
  expect({ hasMoved, apiKey }).toEqual({ hasMoved: false, apiKey: readFileSync(addresses.apiKeyFile, "utf8").trim() });
  expect(await findService(service.addressFile)).toEqual({ addresses, apiKey });
  const text = readFileSync(service.addressFile, "utf8");
  expect(text).not.toContain(apiKey);
  expect(consoleUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}$/);
  expect(text).not.toContain(new URL(consoleUrl ?? "").searchParams.get("t"));

  expect(await remainingObjects({ addresses, apiKey })).toEqual([]);
  const response = await fetch(`${addresses.baseUrl}/networkvolumes`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "models", size: 10, dataCenterId: "EU-RO-1" }),
  });
  expect(response.status).toBe(200);
  expect(await remainingObjects({ addresses, apiKey })).toEqual(["networkVolumes models"]);
});

test("a later service keeps the port and the data of the earlier one; a taken port is replaced", async () => {
  const service = plan();
  // Outside of the ports that the system assigns, which another test may get after the first stop.
  const { addresses } = await start(plan());
  const port = 20_000 + (process.pid % 5000);
  writeFileSync(service.addressFile, JSON.stringify({ ...addresses, baseUrl: `http://127.0.0.1:${port}/v1` }));
  const first = await startService(service.options, service.addressFile);
  expect(new URL(first.addresses.baseUrl).port).toBe(String(port));
  await first.stop();
  expect(await findService(service.addressFile)).toBeUndefined();
  const second = await startService(service.options, service.addressFile);
  expect(second).toMatchObject({ hasMoved: false, apiKey: first.apiKey, addresses: first.addresses });
  expect(statSync(second.addresses.apiKeyFile).mode & 0o777).toBe(0o600);

  await second.stop();
  const otherServer = createServer();
  await new Promise<void>((settle) => {
    otherServer.listen(Number(new URL(first.addresses.baseUrl).port), "127.0.0.1", settle);
  });
  onTestFinished(() => void otherServer.close());
  const third = await start(service);
  expect(third.hasMoved).toBe(true);
  expect(third.addresses.baseUrl).not.toBe(first.addresses.baseUrl);
});

test("the key is not sent to another server on the port of a stopped service", async () => {
  const requested: unknown[] = [];
  const address = await serve((request, response) => {
    requested.push(request.headers);
    response.end("[]");
  });
  const { addressFile } = plan();
  const apiKeyFile = `${addressFile}-key`;
  writeFileSync(apiKeyFile, "key");
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const addresses = { baseUrl: address, graphqlUrl: address, serverlessUrl: address, apiKeyFile, pid };
  writeFileSync(addressFile, JSON.stringify(addresses));
  expect(await findService(addressFile)).toBeUndefined();
  expect(requested).toEqual([]);
});
