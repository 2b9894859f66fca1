import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { parse } from "yaml";
import { moveRecorded } from "../../../../provider/cli/move/move-recorded";
import { scratchFolder } from "../../../support/folders";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { send, stringAt } from "../../../support/raw-http";
import { recordedText } from "../../../support/recorded-states";
import { environmentOf, recordingTerminal } from "./terminal";

const bench = await useLifecycleBench();
const folder = scratchFolder(afterAll);

const create = async (path: string, json: object): Promise<string> => {
  const url = `${bench.proxy.origin}/v2/${path}`;
  return stringAt(await send("POST", url, { key: bench.addresses.apiKey, json }), "id");
};

async function move(state: string, out: string) {
  const { io, printed } = recordingTerminal();
  const flags = { out: join(folder, out), language: "yaml", json: true, from: "terraform" } as const;
  const code = await moveRecorded(flags, state, io, environmentOf(bench));
  const read = (file: string): Promise<string> => readFile(join(flags.out, file), "utf8");
  const [program, imports] = [parse(await read("Pulumi.yaml")), JSON.parse(await read("import.json"))];
  return { code, report: JSON.parse(printed().out), program, imports };
}

it("a state that runpod/runpod 1.x recorded becomes a program, and a report of the attributes that it lacks", async () => {
  // The requests of the provider: an endpoint receives the image of its template_id, but no other setting of the template.
  const volume = await create("network-volumes", { name: "models", size: 10, dataCenter: "EU-RO-1", type: "STANDARD" });
  const template = await create("templates", {
    name: "worker-7",
    image: "acme/echo:1",
    category: "NVIDIA",
    disk: 20,
    public: false,
    serverless: true,
    env: { HF_TOKEN: "removed", MODE: "fast" },
    ports: ["8888/http", "22/tcp"],
  });
  const gpu = { pools: ["AMPERE_24"], count: 1 };
  const endpoint = await create("serverless", {
    name: "chat",
    type: "QUEUE",
    image: "acme/echo:1",
    gpu,
    workers: { min: 0, max: 2 },
    timeout: 600_000,
    scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
    networkVolumes: [volume],
    dataCenterIds: ["EU-RO-1"],
  });
  const ownEndpoint = await create("serverless", {
    name: "own",
    type: "QUEUE",
    image: "acme/own:1",
    gpu,
    workers: { max: 1 },
    env: { MODE: "fast" },
    scaling: { type: "REQUEST_COUNT", requestCount: 2 },
  });
  const ids = { volume, template, endpoint, own: ownEndpoint, registry: "", secret: "" };
  const state = recordedText("terraform-official", ids);

  const after = await move(state, "after");
  expect(after.report.skipped).toEqual([]);
  expect(after.report.noCounterpart).toEqual([
    { address: "runpod_endpoint.llm", reason: "cloudType, gpuTypePriority: this package has no such property" },
    { address: "runpod_endpoint.own", reason: "cpuFlavorPriority: this package has no such property" },
    { address: "runpod_endpoint.own", reason: "cpuFlavorIds: the service returned no value" },
  ]);
  const pool = { gpuTypeIds: ["NVIDIA L4", "NVIDIA RTX A5000", "NVIDIA GeForce RTX 3090"] };
  const type = (kind: string): string => `serverless-compute:${kind}`;
  expect(after.program.resources).toEqual({
    "models-volume": {
      type: type("NetworkVolume"),
      properties: { name: "models", size: 10, dataCenterId: "EU-RO-1", type: "STANDARD" },
    },
    "worker-template": {
      type: type("Template"),
      properties: {
        name: "worker-7",
        imageName: "acme/echo:1",
        category: "NVIDIA",
        containerDiskInGb: 20,
        env: { HF_TOKEN: "removed", MODE: "fast" },
        ports: "8888/http,22/tcp",
        startSsh: true,
        startJupyter: true,
        isPublic: false,
      },
    },
    "llm-endpoint": {
      type: type("ServerlessEndpoint"),
      properties: {
        // The service's idle timeout: the provider never sent the 30 of the state.
        name: "chat",
        imageName: "acme/echo:1",
        containerDiskInGb: 50,
        ...pool,
        workersMax: 2,
        idleTimeout: 10,
        dataCenterIds: ["EU-RO-1"],
        networkVolumeId: `\${models-volume.id}`,
      },
    },
    "own-endpoint": {
      type: type("ServerlessEndpoint"),
      properties: {
        name: "own",
        imageName: "acme/own:1",
        containerDiskInGb: 50,
        env: { MODE: "fast" },
        ...pool,
        workersMax: 1,
        scalerType: "REQUEST_COUNT",
        scalerValue: 2,
      },
    },
  });
  expect(after.imports.resources).toEqual([
    { type: type("index:NetworkVolume"), name: "models-volume", id: volume },
    { type: type("index:Template"), name: "worker-template", id: template },
    { type: type("index:ServerlessEndpoint"), name: "llm-endpoint", id: endpoint },
    { type: type("index:ServerlessEndpoint"), name: "own-endpoint", id: ownEndpoint },
  ]);
});

it("an attribute that is unknown, or that REST v2 does not return, is in the report", async () => {
  const template = await create("templates", { name: "worker-8", image: "acme/echo:1", serverless: true });
  const values = {
    id: template,
    name: "worker-8",
    image_name: "acme/echo:1",
    readme: "The worker",
    added_later: ["x"],
  };
  const resource = {
    address: "runpod_template.worker",
    mode: "managed",
    type: "runpod_template",
    name: "worker",
    values,
  };
  const { code, report } = await move(
    JSON.stringify({ format_version: "1.0", values: { root_module: { resources: [resource] } } }),
    "unknown",
  );
  expect(code).toBe(3);
  expect(report.noCounterpart).toEqual([
    { address: "runpod_template.worker", reason: "addedLater: this package has no such property" },
    { address: "runpod_template.worker", reason: "readme: the service returned no value" },
  ]);
});
