import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { run } from "../../scripts/child.mjs";
import { makeServiceImageContext } from "../../scripts/release/service-image.mjs";
import type { EngineClient } from "../../service/workers/runtimes/container/engine-client";
import { scratchFolder } from "../support/folders";
import { createStack } from "../support/pulumi";
import { getWithHost } from "../support/raw-http";
import { registerSecret } from "../support/secret-scan";
import { useTestEngine } from "./rig";

const root = fileURLToPath(new URL("../..", import.meta.url));
const composeFile = join(root, "service", "compose.yaml");
const apiKey = "a-key-for-the-service-container";
const withId = z.looseObject({ Id: z.string() });
const networkShape = z.looseObject({
  IPAM: z.looseObject({ Config: z.array(z.looseObject({ Gateway: z.string() })) }),
});
const containerShape = z.looseObject({
  State: z.looseObject({ Pid: z.number(), Health: z.looseObject({ Status: z.string() }).optional() }),
  NetworkSettings: z.looseObject({ Networks: z.record(z.string(), z.looseObject({ IPAddress: z.string() })) }),
});
/** Strict shape of the compose file, which detects misspelt keys. */
const composeShape = z.strictObject({
  services: z.strictObject({
    "serverless-compute": z.strictObject({
      image: z.literal("serverless-compute-local"),
      init: z.literal(true),
      command: z.array(z.string()),
      environment: z.strictObject({
        SERVERLESS_COMPUTE_LOCAL_API_KEY: z.string().regex(/^\$\{SERVERLESS_COMPUTE_API_KEY:\?.+\}$/),
      }),
      volumes: z.tuple([z.literal("data:/data"), z.string().regex(/^\.\.\/examples\/quickstart:\/handlers:ro$/)]),
      ports: z.tuple([z.literal("127.0.0.1:7337:7337")]),
    }),
  }),
  volumes: z.strictObject({ data: z.null() }),
});

/** Builds the image from its Dockerfile on a local base, because none can be pulled; removed after the test. */
async function buildImage(host: string, base: string, client: EngineClient): Promise<string> {
  const image = `serverless-compute-test/service:${process.pid}`;
  const folder = scratchFolder();
  await makeServiceImageContext(folder);
  const words = ["--host", host, "build", "--quiet", "--build-arg", `BASE=${base}`, "--tag", image, folder];
  const built = await run("docker", words, { env: { ...process.env, DOCKER_BUILDKIT: "0" }, timeout: 100_000 });
  expect(built.code, built.stderr).toBe(0);
  onTestFinished(() => client.call("DELETE", `/images/${image}`, { query: { force: "1" } }).then(() => undefined));
  return image;
}

/** The service's entry in the compose file, with paths of this machine. */
async function composed() {
  const { services } = composeShape.parse(parse(await readFile(composeFile, "utf8")));
  const { command, init, volumes } = services["serverless-compute"];
  const [data = "", handlers = ""] = volumes.map((text) => text.split(":")[0]);
  return { command, init, volume: data, handlers: resolve(dirname(composeFile), handlers) };
}

beforeAll(async () => {
  const built = await run(process.execPath, [join(root, "node_modules", "typescript-native", "bin", "tsc"), "-b"], {
    cwd: root,
  });
  expect(built.code, built.stdout).toBe(0);
});

test("the service's image runs as in compose.yaml: the quickstart deploys from outside, and its volume survives a kill -9", async (context) => {
  const { host, image: base, client } = useTestEngine(context);
  registerSecret(apiKey, "the API key");
  const image = await buildImage(host, base, client);
  const { command, init, volume, handlers } = await composed();
  const name = `service-image-${process.pid}`;
  const volumeName = `${name}-${volume}`;
  await client.call("POST", "/networks/create", { body: { Name: name, Driver: "bridge" } });
  onTestFinished(async () => {
    await client.call("DELETE", `/networks/${name}`);
    await client.call("DELETE", `/volumes/${volumeName}`);
  });
  // The first container of a network has the address after its gateway's; only containers resolve names.
  const [config] = networkShape.parse(await client.call("GET", `/networks/${name}`)).IPAM.Config;
  const address = (config?.Gateway ?? "").replace(/\.1$/, ".2");
  const start = async (Cmd: string[]): Promise<string> => {
    const body = {
      Image: image,
      Cmd,
      Env: [`SERVERLESS_COMPUTE_LOCAL_API_KEY=${apiKey}`],
      HostConfig: {
        NetworkMode: name,
        Init: init,
        Mounts: [
          { Type: "volume", Source: volumeName, Target: "/data" },
          { Type: "bind", Source: handlers, Target: "/handlers", ReadOnly: true },
        ],
      },
    };
    const { Id } = withId.parse(await client.call("POST", "/containers/create", { body }));
    onTestFinished(() =>
      client.call("DELETE", `/containers/${Id}`, { query: { force: "1" } }).then(
        () => undefined,
        () => undefined,
      ),
    );
    await client.call("POST", `/containers/${Id}/start`);
    return Id;
  };
  const inspect = async (id: string) => containerShape.parse(await client.call("GET", `/containers/${id}/json`));
  const isHealthy = (id: string) =>
    expect
      .poll(async () => (await inspect(id)).State.Health?.Status, { timeout: 60_000, interval: 200 })
      .toBe("healthy");

  // The service does not start without an allowed host for its address.
  const rejectedContainer = await start(["--json"]);
  const { StatusCode } = z
    .looseObject({ StatusCode: z.number() })
    .parse(await client.call("POST", `/containers/${rejectedContainer}/wait`));
  expect(StatusCode).toBe(1);
  const logs = await run("docker", ["--host", host, "logs", rejectedContainer]);
  expect(logs.stderr).toContain("--allow-host HOST");
  await client.call("DELETE", `/containers/${rejectedContainer}`);

  const first = await start([...command, "--allow-host", address]);
  await isHealthy(first);
  const { State, NetworkSettings } = await inspect(first);
  expect(NetworkSettings.Networks[name]?.IPAddress).toBe(address);
  expect(await readFile(`/proc/${State.Pid}/status`, "utf8"), "the user is not root").toMatch(
    /^Uid:\t1000\t1000\t1000\t1000$/m,
  );
  const origin = `http://${address}:7337`;
  expect(await getWithHost(`${origin}/v1/endpoints`, "evil.example")).toMatchObject({ status: 421 });
  expect(await getWithHost(`${origin}/v1/endpoints`, "serverless-compute:7337")).toMatchObject({ status: 401 });

  const environment = {
    SERVERLESS_COMPUTE_API_KEY: apiKey,
    SERVERLESS_COMPUTE_URL: origin,
  };
  const stack = await createStack(environment);
  onTestFinished(() => stack.remove());
  const text = await readFile(join(root, "examples", "quickstart", "index.ts"), "utf8");
  const module = ts.ModuleKind.CommonJS;
  await stack.writeProgram(ts.transpileModule(text, { compilerOptions: { module } }).outputText);
  const hubToken = "a-hub-token-for-the-service-container";
  registerSecret(hubToken, "the quickstart's secret");
  await stack.command(["config", "set", "--secret", "hubToken", hubToken]);
  const up = await stack.up();
  expect(up.output).toContain("Hello, world!");
  expect(up.code).toBe(0);

  await client.call("POST", `/containers/${first}/kill`);
  await client.call("POST", `/containers/${first}/wait`, { query: { condition: "not-running" } });
  await client.call("DELETE", `/containers/${first}`);
  const second = await start([...command, "--allow-host", address]);
  await isHealthy(second);
  const refreshed = await stack.refresh();
  expect(refreshed.output).toMatch(/5 unchanged/);
  const [endpoint] = z
    .array(z.looseObject({ id: z.string() }))
    .parse(await (await fetch(`${origin}/v1/endpoints`, { headers: { authorization: `Bearer ${apiKey}` } })).json());
  const job = await fetch(`${origin}/v2/${endpoint?.id}/runsync`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ input: { name: "again" } }),
  });
  expect(await job.json()).toMatchObject({ status: "COMPLETED", output: { text: "Hello, again!" } });
}, 300_000);
