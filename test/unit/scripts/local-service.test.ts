import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../scripts/child.mjs";
import {
  callsService,
  findService,
  remainingObjects,
  startService,
} from "../../../scripts/quickstart/local-service.mjs";
import { serve, temporaryFolder } from "./fake-cli";

const root = fileURLToPath(new URL("../../../", pathToFileURL(__filename)));

/** A plan for the real service, run from its sources without a build. */
function plan(folder = temporaryFolder()) {
  return {
    folder,
    program: [
      "--import",
      pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href,
      join(root, "service/cli/main.ts"),
    ],
    env: { PATH: process.env["PATH"], TSX_TSCONFIG_PATH: join(root, "test/unit/service/cli/source-paths.json") },
    dataFolder: join(folder, "data"),
    addressFile: join(folder, "service.json"),
    images: { "acme/echo:1": process.execPath },
    templateRelease: 1,
  };
}

/** Starts a service that is stopped with the test. */
async function start(options: ReturnType<typeof plan>) {
  const service = await startService(options);
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
  const options = plan();
  expect(await findService(options.addressFile)).toBeUndefined();
  const service = await start(options);
  expect(service).toMatchObject({ hasMoved: false, apiKey: readFileSync(service.addresses.apiKeyFile, "utf8").trim() });
  expect(await findService(options.addressFile)).toEqual({ addresses: service.addresses, apiKey: service.apiKey });
  const addresses = readFileSync(options.addressFile, "utf8");
  expect(addresses).not.toContain(service.apiKey);
  expect(service.consoleUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}$/);
  expect(addresses).not.toContain(new URL(service.consoleUrl).searchParams.get("t"));

  expect(await remainingObjects(service)).toEqual([]);
  const response = await fetch(`${service.addresses.baseUrl}/networkvolumes`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "models", size: 10, dataCenterId: "EU-RO-1" }),
  });
  expect(response.status).toBe(200);
  expect(await remainingObjects(service)).toEqual(["networkVolumes models"]);
});

test("a start waits for an earlier service to stop and keeps its port and data; a taken port is replaced", async () => {
  const options = plan();
  const first = await startService(options);
  const [second] = await Promise.all([startService(options), first.stop()]);
  expect(isAlive(first.addresses.pid)).toBe(false);
  expect(second).toMatchObject({ hasMoved: false, apiKey: first.apiKey });
  expect(second.addresses).toEqual({ ...first.addresses, pid: second.addresses.pid });
  expect(statSync(second.addresses.apiKeyFile).mode & 0o777).toBe(0o600);

  await second.stop();
  expect(await findService(options.addressFile)).toBeUndefined();
  const otherServer = createServer();
  await new Promise<void>((settle) => {
    otherServer.listen(Number(new URL(first.addresses.baseUrl).port), "127.0.0.1", settle);
  });
  onTestFinished(() => void otherServer.close());
  const third = await start(options);
  expect(third.hasMoved).toBe(true);
  expect(third.addresses.baseUrl).not.toBe(first.addresses.baseUrl);
});

test("the key is not sent to another server on the port of a stopped service", async () => {
  const requested: unknown[] = [];
  const address = await serve((request, response) => {
    requested.push(request.headers);
    response.end("[]");
  });
  const { dataFolder, addressFile } = plan();
  const apiKeyFile = `${dataFolder}-key`;
  writeFileSync(apiKeyFile, "key");
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const addresses = { baseUrl: address, graphqlUrl: address, serverlessUrl: address, apiKeyFile, pid };
  writeFileSync(addressFile, JSON.stringify(addresses));
  expect(await findService(addressFile)).toBeUndefined();
  expect(requested).toEqual([]);
});

test("a service that ends during its start is an error with its output", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "program.mjs"), 'console.error("the data folder is taken"); process.exit(1);');
  const options = { ...plan(folder), program: [join(folder, "program.mjs")], env: {} };
  await expect(startService(options)).rejects.toThrow("The local service did not start.\nthe data folder is taken");
});
