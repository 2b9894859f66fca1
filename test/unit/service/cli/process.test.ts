import { execFileSync } from "node:child_process";
import { appendFileSync, closeSync, constants, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../../service/store/database";
import { readServiceAddress } from "../../../../service/store/service-address";
import { createEndpoint } from "../../../support/endpoint";
import { expectResponse, pollUntil, send } from "../../../support/raw-http";
import { registerSecret } from "../../../support/secret-scan";
import { handlerFile } from "../../../support/target";
import { command, program, runLine, startService, useFolder } from "./command";

const folder = useFolder();
const slow = handlerFile("slow");

test("start --json prints its addresses as the only line on stdout, and stops on SIGTERM", async () => {
  const data = join(folder, "json");
  const { addresses, apiKey, child, ended } = await startService(data, "--no-console");
  const { baseUrl, graphqlUrl, serverlessUrl, apiKeyFile, pid } = addresses;
  expect(serverlessUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect([baseUrl, graphqlUrl]).toEqual([`${serverlessUrl}/v1`, `${serverlessUrl}/graphql`]);
  expect(pid).toBe(child.pid);
  expect(apiKeyFile).toBe(join(data, "api-key"));
  expect(apiKey).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(apiKeyFile).mode & 0o777).toBe(0o600);
  expect(statSync(data).mode & 0o777).toBe(0o700);
  expectResponse(await send("GET", `${baseUrl}/endpoints`, { key: apiKey }), 200);
  child.kill("SIGTERM");
  const { code, stdout, stderr } = await ended;
  expect(stdout.trim().split("\n")).toHaveLength(1);
  expect(stdout).not.toContain("consoleUrl");
  expect(stdout + stderr).not.toContain(apiKey);
  expect(code).toBe(0);
});

const unlisted = `
  chat:
    image: acme/chat:2
    type: QUEUE
    gpu: { pools: [AMPERE_24] }
    scaling: { type: QUEUE_DELAY, queueDelay: 4 }
`;

test("start prints addresses, the seed file's endpoints, images, the console's link and how to get the key, never the key itself", async () => {
  const project = join(folder, "friendly");
  const data = join(project, "data");
  const handler = join(project, "handler.py");
  const seed = join(project, "endpoints.yaml");
  mkdirSync(project);
  appendFileSync(handler, "");
  await runLine("init", handler);
  appendFileSync(seed, unlisted);
  const { child, firstLine, ended } = command(["start", "--port", "0", "--data", data, "--seed", seed]);
  expect(await firstLine()).toBe("The service is running. Ctrl-C stops it.");
  const key = (await readFile(join(data, "api-key"), "utf8")).trim();
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  const [, token = ""] = /^Open http:\/\/127\.0\.0\.1:\d+\/\?t=([\w-]{43})$/m.exec(stdout) ?? [];
  registerSecret(token, "the token of a link");
  expect(token).not.toBe("");
  expect(stdout).toMatch(
    /REST v2 +http:\/\/127\.0\.0\.1:\d+\/v2 +contract: REST API 2\.0\.0, SDK 0\.2\.0, commit 71be666\n/,
  );
  expect(stdout).toMatch(/REST v1\s+http:\/\/127\.0\.0\.1:\d+\/v1\n/);
  expect(stdout).toMatch(/ {2}Endpoints echo {3}[a-z0-9]{14}\n {12}chat {3}[a-z0-9]{14}\n/);
  expect(stdout).toContain(`  Images    acme/echo:1   python3 -u ${handler}
            acme/chat:2   no --image: a container pulls it
            others        a container pulls the image if a Docker Engine is available; --runtime none prevents it
`);
  expect(stdout).toContain(join(data, "api-key"));
  expect(stdout).toContain("Stopping");
  expect(stdout + stderr).not.toContain(key);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("start --ephemeral rejects requests after the first Ctrl-C, ends after the second, and leaves nothing on disk", async () => {
  const temporary = join(folder, "ephemeral");
  mkdirSync(temporary);
  const words = ["start", "--port", "0", "--ephemeral", "--json", "--image", `acme/slow:1=${slow}`];
  const { child, firstLine, ended } = command(words, { TMPDIR: temporary });
  const { apiKeyFile, consoleUrl, url } = JSON.parse(await firstLine());
  registerSecret(new URL(consoleUrl).searchParams.get("t") ?? "", "the token of a link");
  const used = dirname(apiKeyFile);
  expect(dirname(used)).toBe(temporary);
  const key = (await runLine("key", "--data", used)).out;
  const id = await createEndpoint({ url, apiKey: key }, "acme/slow:1");
  const job = (await runLine("run", id, '{"ms":30000}', "--data", used)).out;
  await pollUntil(
    () => send("GET", `${url}/v2/${id}/status/${JSON.parse(job).id}`, { key }),
    ({ text }) => text.includes("IN_PROGRESS"),
  );
  child.kill("SIGINT");
  for (const path of ["v2/serverless", "readyz"])
    await pollUntil(
      () => send("GET", `${url}/${path}`, { key }),
      ({ status }) => status === 503,
    );
  child.kill("SIGINT");
  const { code, stderr } = await ended;
  expect(stderr).toContain("Stopping: running jobs have 5 s to finish. Press Ctrl-C again to stop immediately.");
  expect(code).toBe(130);
  expect(readdirSync(temporary).filter((name) => !name.startsWith("tsx-"))).toEqual([]);
  expect((await runLine("start", "--ephemeral", "--data", used)).err).toMatch(
    /option '--ephemeral' cannot be used with option '--data <dir>'/,
  );
});

// The other tests send SIGINT and SIGTERM.
test("start --ephemeral that receives SIGHUP before it listens ends and leaves nothing on disk", async () => {
  const temporary = join(folder, "early");
  mkdirSync(temporary);
  // The start waits for the response of the Docker Engine.
  const sockets: Socket[] = [];
  const engine = createServer((socket) => sockets.push(socket.on("error", () => undefined)));
  const socketFile = join(folder, "early.sock");
  await new Promise<void>((resolve) => engine.listen(socketFile, resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => engine.close(resolve));
  });
  const words = ["start", "--port", "0", "--ephemeral", "--runtime", "docker"];
  const { child, ended } = command(words, { TMPDIR: temporary, DOCKER_HOST: `unix://${socketFile}` });
  await expect.poll(() => sockets.length).toBe(1);
  child.kill("SIGHUP");
  expect(await ended).toEqual({ code: 130, stdout: "", stderr: "" });
  expect(readdirSync(temporary).filter((name) => !name.startsWith("tsx-"))).toEqual([]);
});

test("a signal at the end of the start stops the service", async () => {
  const data = join(folder, "late-signal");
  openDatabase(data).close();
  // The start blocks while it reads the pipe, and the service runs at the end of this turn of its event loop.
  const pipe = join(data, "charts.json");
  execFileSync("mkfifo", [pipe]);
  const { child, ended } = command(["start", "--port", "0", "--data", data, "--json"]);
  const openPipe = (): number => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  let descriptor = 0;
  // ENXIO until the service reads.
  await expect.poll(() => (descriptor = openPipe())).toBeGreaterThan(0);
  child.kill("SIGTERM");
  closeSync(descriptor);
  expect(await ended).toMatchObject({ code: 0, stderr: expect.stringContaining("Stopping") });
});

const unwritable = "the output: cannot be written (ENOSPC); write it to another place";

test("an output that cannot be written does not end the service", async () => {
  const data = join(folder, "full-output");
  const output = openSync("/dev/full", "w");
  const { child, ended } = program("service/cli/main.ts", ["start", "--port", "0", "--data", data], {}, output);
  closeSync(output);
  await expect.poll(() => readServiceAddress(data)?.pid).toBe(child.pid);
  const { serverlessUrl } = readServiceAddress(data) ?? {};
  await expect.poll(async () => (await send("GET", `${serverlessUrl}/readyz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ code: 0, stderr: `serverless-compute-local: ${unwritable}\n` });
});

test.each([
  ["serverless-compute-local", "service/cli/main.ts"],
  ["serverless-compute", "test/unit/provider/cli/programs/command.ts"],
])("%s: a command whose output cannot be written fails with the reason", async (name, file) => {
  const output = openSync("/dev/full", "w");
  const { ended } = program(file, ["--help"], {}, output);
  closeSync(output);
  expect(await ended).toMatchObject({ code: 1, stderr: `${name}: ${unwritable}\n` });
});
