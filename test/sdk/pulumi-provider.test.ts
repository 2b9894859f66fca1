import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Finished, run } from "../../scripts/child.mjs";
import { findCli, withCliOnPath } from "../../scripts/cli/cli.mjs";
import { at, send } from "../support/raw-http";
import { findGoProgram } from "./programs";
import { versions } from "./versions";

const plugin = await findGoProgram("pulumi-resource-runpod");
const title = `Go pulumi-runpod ${versions.pulumiProvider}: up, update, preview, refresh and destroy with --template-release 0`;

const header = "name: shop\nruntime: yaml\nresources:\n";
const program = (image: string, workersMax: number): string => `${header}
  registry:
    type: runpod:ContainerRegistryAuth
    properties: { name: ghcr, username: reader, password: { "fn::secret": hush-hush } }
  token:
    type: runpod:Secret
    properties: { name: hub, value: { "fn::secret": hush-hush }, description: Token of the hub }
  models:
    type: runpod:NetworkVolume
    properties: { name: models, size: 10, dataCenterId: EU-RO-1 }
  worker:
    type: runpod:Template
    properties:
      { name: worker, imageName: "${image}", isServerless: true, containerDiskInGb: 5, volumeInGb: 0, env: { MODEL: small },
        containerRegistryAuthId: "\${registry.registryAuthId}" }
  chat:
    type: runpod:Endpoint
    properties:
      { name: chat, templateId: "\${worker.templateId}", gpuIds: AMPERE_24, workersMin: 0, workersMax: ${workersMax}, idleTimeout: 5,
        scalerType: QUEUE_DELAY, scalerValue: 4, networkVolumeId: "\${models.networkVolumeId}" }
outputs:
  gpus: { "fn::invoke": { function: runpod:getGpuTypes, arguments: {} } }
  cpus: { "fn::invoke": { function: runpod:getCPUFlavors, arguments: {} } }
  places: { "fn::invoke": { function: runpod:getDataCenters, arguments: {} } }
`;

describe.skipIf("missing" in plugin)(title, () => {
  let service: Service;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    if (!("path" in plugin)) throw new Error("failure" in plugin ? plugin.failure : plugin.missing);
    service = await createService({ port: 0, ephemeral: true, templateRelease: 0 });
    folder = await mkdtemp(join(tmpdir(), "pulumi-provider-"));
    await mkdir(join(folder, "backend"));
    const { PATH, HOME } = process.env;
    env = withCliOnPath(await findCli(), {
      PATH: `${dirname(plugin.path)}:${PATH}`,
      HOME,
      TMPDIR: folder,
      PULUMI_HOME: join(folder, "home"),
      PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
      PULUMI_CONFIG_PASSPHRASE: "only for tests",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      DO_NOT_TRACK: "1",
      RUNPOD_API_KEY: service.apiKey,
      RUNPOD_API_URL: service.graphqlUrl,
    });
    await writeProgram(program("acme/echo:1", 1));
    await pulumi("stack", "init", "prod");
  });
  afterAll(async () => {
    await service.stop(0);
    await rm(folder, { recursive: true, force: true });
  });

  const writeProgram = (text: string): Promise<void> => writeFile(join(folder, "Pulumi.yaml"), text);
  const call = (...args: string[]): Promise<Finished> =>
    run("pulumi", [...args, "--non-interactive"], { cwd: folder, env });
  /** Runs a command of the CLI, which must succeed. */
  const pulumi = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await call(...args);
    expect(code, `pulumi ${args.join(" ")}:\n${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  /** The objects of the service, by REST v2. */
  const listObjects = async (): Promise<Record<string, unknown>> => {
    const lists = [
      ["serverless", "endpoints"],
      ["templates", "templates"],
      ["network-volumes", "networkVolumes"],
      ["registries", "registries"],
      ["account/secrets", "secrets"],
    ] as const;
    const entries = lists.map(async ([path, key]) => {
      const { json } = await send("GET", `${service.serverlessUrl}/v2/${path}`, { key: service.apiKey });
      return [key, at(json, key)] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  };

  it("Template, Endpoint, NetworkVolume, Secret, ContainerRegistryAuth, getGpuTypes, getCPUFlavors, getDataCenters", async () => {
    await pulumi("up", "--yes");
    const registry = expect.any(String);
    expect(await listObjects()).toMatchObject({
      endpoints: [{ name: expect.stringMatching(/^chat/), workers: { max: 1 }, image: "acme/echo:1" }],
      templates: [{ name: "worker", image: "acme/echo:1", registry }],
      networkVolumes: [{ name: "models", size: 10, dataCenter: "EU-RO-1" }],
      registries: [{ name: "ghcr" }],
      secrets: [{ name: "hub", description: "Token of the hub" }],
    });
    const outputs = await pulumi("stack", "output", "--json");
    for (const name of ["NVIDIA A40", "cpu3c", "EU-RO-1"]) expect(outputs).toContain(name);
    await pulumi("preview", "--expect-no-changes");
    await pulumi("refresh", "--yes", "--expect-no-changes");
    await writeProgram(program("acme/echo:2", 2));
    await pulumi("up", "--yes");
    expect(await listObjects()).toMatchObject({
      endpoints: [{ workers: { max: 2 }, image: "acme/echo:2" }],
      templates: [{ image: "acme/echo:2" }],
    });
    await pulumi("preview", "--expect-no-changes");
    await pulumi("destroy", "--yes");
    const noObjects = { endpoints: [], templates: [], networkVolumes: [], registries: [], secrets: [] };
    expect(await listObjects()).toEqual(noObjects);
  });

  it("does not work: Pod (the service has no pods)", async () => {
    const pod = "{ name: pod, imageName: 'acme/echo:1', gpuTypeId: NVIDIA A40, gpuCount: 1, cloudType: ALL }";
    await writeProgram(`${header}  pod:\n    type: runpod:Pod\n    properties: ${pod}\n`);
    const { code, stdout, stderr } = await call("up", "--yes");
    expect(`${stdout}${stderr}`).toContain("pods: cannot be created");
    expect(code).not.toBe(0);
  });
});

if ("missing" in plugin) describe(title, () => it.skip(`not run: ${plugin.missing}`));
