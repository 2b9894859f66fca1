import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { withCliOnPath } from "../../scripts/cli/cli.mjs";
import { type ConnectProxy, startConnectProxy } from "../support/connect-proxy";
import { at, send } from "../support/raw-http";
import { startTlsFront, type TlsFront } from "../support/tls-front";
import { versions } from "./versions";

const plugin = inject("pulumiPlugin");
const title = `Go pulumi-runpod-native ${versions.pulumiNative}: Pulumi provider, with --template-release 0`;

const program = `name: shop
runtime: yaml
resources:
  models:
    type: runpod:NetworkStorage
    properties: { name: models, size: 10, dataCenterId: EU-RO-1 }
  worker:
    type: runpod:Template
    properties:
      { name: worker, imageName: "acme/echo:1", readme: The worker, isServerless: true, containerDiskInGb: 5, volumeInGb: 0,
        dockerArgs: python handler.py, env: [{ key: MODEL, value: small }] }
  chat:
    type: runpod:Endpoint
    properties:
      { name: chat, templateId: "\${worker.template.id}", gpuIds: AMPERE_24, workersMax: 1, idleTimeout: 5,
        scalerType: QUEUE_DELAY, scalerValue: 4, networkVolumeId: "\${models.networkStorage.id}" }
`;

describe.skipIf("missing" in plugin)(title, () => {
  let service: Service;
  let folder: string;
  let front: TlsFront;
  let proxy: ConnectProxy;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    if (!("path" in plugin)) throw new Error("failure" in plugin ? plugin.failure : plugin.missing);
    service = await createService({ port: 0, ephemeral: true, templateRelease: 0 });
    folder = await mkdtemp(join(tmpdir(), "pulumi-native-"));
    // The plugin has no setting for the address. Its HTTP client honours the variables of proxies and certificates.
    front = await startTlsFront(service.serverlessUrl, folder, "DNS:api.runpod.io");
    proxy = await startConnectProxy(front.origin);
    await mkdir(join(folder, "backend"));
    await writeFile(join(folder, "Pulumi.yaml"), program);
    const { PATH, HOME } = process.env;
    env = withCliOnPath(inject("cli"), {
      ...{ PATH: `${dirname(plugin.path)}:${PATH}`, HOME, TMPDIR: folder, PULUMI_HOME: join(folder, "home") },
      ...{ PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`, PULUMI_CONFIG_PASSPHRASE: "only for tests" },
      ...{ PULUMI_SKIP_UPDATE_CHECK: "true", PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true", DO_NOT_TRACK: "1" },
      ...{ HTTPS_PROXY: proxy.origin, SSL_CERT_FILE: front.certificate },
    });
    await pulumi(["stack", "init", "prod"]);
    // The key goes by standard input: an argument would show in the list of processes.
    await pulumi(["config", "set", "--secret", "runpod:token"], service.apiKey);
  });
  afterAll(async () => {
    await proxy.close();
    await front.close();
    await service.stop(0);
    await rm(folder, { recursive: true, force: true });
  });

  const pulumi = async (words: string[], input?: string): Promise<void> => {
    const { code, stdout, stderr } = await run("pulumi", [...words, "--non-interactive"], { cwd: folder, env, input });
    expect(code, `pulumi ${words.join(" ")}:\n${stdout}${stderr}`).toBe(0);
  };
  const listed = async (path: string, key: string): Promise<unknown> =>
    at((await send("GET", `${service.serverlessUrl}/v2/${path}`, { key: service.apiKey })).json, key);

  it("up, preview, refresh, destroy", async () => {
    await pulumi(["up", "--yes"]);
    expect(await listed("serverless", "endpoints")).toMatchObject([{ name: expect.stringMatching(/^chat/) }]);
    expect(await listed("templates", "templates")).toMatchObject([{ name: "worker", image: "acme/echo:1" }]);
    expect(await listed("network-volumes", "networkVolumes")).toMatchObject([{ name: "models", size: 10 }]);
    await pulumi(["preview", "--expect-no-changes"]);
    await pulumi(["refresh", "--yes", "--expect-no-changes"]);
    await pulumi(["destroy", "--yes"]);
    expect(await listed("serverless", "endpoints")).toEqual([]);
    expect(await listed("templates", "templates")).toEqual([]);
    expect(await listed("network-volumes", "networkVolumes")).toEqual([]);
    expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set(["api.runpod.io:443"]));
  });
});

if ("missing" in plugin) describe(title, () => it.skip(`not run: ${plugin.missing}`));
