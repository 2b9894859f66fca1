import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MoveFlags, moveRecorded } from "../../../../provider/cli/move/move-recorded";
import { scratchFolder } from "../../../support/folders";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { send, stringAt } from "../../../support/raw-http";
import { type RecordedIds, recordedStates, recordedText } from "../../../support/recorded-states";
import { command, environmentOf, recordingTerminal } from "./terminal";

const bench = await useLifecycleBench();
const folder = scratchFolder(afterAll);
let ids: RecordedIds;
beforeAll(async () => {
  const created = await bench.graphql('mutation { secretCreate(input: { name: "HF_TOKEN", value: "s3cr3t" }) { id } }');
  const volume = await bench.create("/networkvolumes", { name: "models", size: 10, dataCenterId: "EU-RO-1" });
  const registry = await bench.create("/containerregistryauth", { name: "ghcr", username: "me", password: "whisper" });
  const template = await bench.create("/templates", { name: "worker-7", imageName: "acme/echo:1", isServerless: true });
  const workers = { workersMax: 0, networkVolumeId: volume };
  const endpoint = await bench.create("/endpoints", { name: "chat", templateId: template, ...workers });
  await bench.create("/networkvolumes", { name: "of others", size: 10, dataCenterId: "EU-RO-1" });
  const { secretCreate } = JSON.parse(JSON.stringify(created));
  ids = { volume, registry, template, endpoint, secret: secretCreate.id };
});

let count = 0;
async function run(from: MoveFlags["from"], text: string, dialect = "v2", key = bench.addresses.apiKey) {
  const out = join(folder, `out-${++count}`);
  const { io, printed } = recordingTerminal();
  const flags = { out, language: "typescript", json: true } as const;
  const code = await moveRecorded({ ...flags, from }, text, io, environmentOf(bench, dialect, key));
  return { code, out, report: JSON.parse(printed().out), stderr: printed().err };
}

describe.each(Object.entries(recordedStates))("a state of %s", (_, { from, text }) => {
  it.each(["v1", "v2"])("becomes a program with the same objects and names in dialect %s", async (dialect) => {
    bench.drainRequests();
    const { code, out, report } = await run(from, text(ids), dialect);
    expect(code).toBe(3);
    expect(bench.drainRequests().filter((line) => !/^GET |^POST \/graphql$/.test(line))).toEqual([]);
    const namesById = Object.fromEntries(
      report.resources.map(({ id, name }: { id: string; name: string }) => [id, name]),
    );
    expect(namesById).toMatchObject({ [ids.template]: "worker-template", [ids.endpoint]: "llm-endpoint" });
    expect(namesById[ids.volume]).toMatch(/^models(-0)?-volume$/);
    const program = await readFile(join(out, "index.ts"), "utf8");
    expect(program).toContain("templateId: workerTemplate.id");
    expect(program).toMatch(/networkVolumeId: models0?Volume\.id/);
    expect(program).not.toContain("of others");
    expect(program + JSON.stringify(report)).not.toMatch(/in-tf-state|whisper|s3cr3t|v1:xyz/);
    expect(report.skipped).toEqual([]);
    const reasons = report.noCounterpart.map(({ reason }: { reason: string }) => reason).join("\n");
    expect(reasons).toMatch(/(runpod:index:Pod|runpod_pod|runpod_cluster): this package has no such resource/);
  });
});

it.each(["v1", "v2"])(
  "a state of the community's Terraform provider 1.0.1 becomes a program that refers to its template by id, in dialect %s",
  async (dialect) => {
    const { code, out, report } = await run("terraform", recordedText("terraform", ids), dialect);
    expect(report).toMatchObject({ skipped: [], noCounterpart: [] });
    expect(code).toBe(0);
    const namesById = report.resources.map(({ id, name }: { id: string; name: string }) => [id, name]);
    expect(namesById).toEqual([
      [ids.volume, "models-volume"],
      [ids.endpoint, "llm-endpoint"],
    ]);
    const program = await readFile(join(out, "index.ts"), "utf8");
    expect(program).toContain(`templateId: "${ids.template}"`);
    expect(program).toContain("networkVolumeId: modelsVolume.id");
  },
);

it.each([
  [
    "Terraform 1.x",
    ["gpuTypePriority, cloudType: this package has no such property"],
    ["pod", "pod_action", "machine", "endpoint_job", "endpoint_worker", "ecr_delegation"],
  ],
  [
    "Terraform 2.0",
    ["minCudaVersion: the service returned no value"],
    ["cluster", "pod", "pod_action", "machine", "registry_delegation", "account_ssh_keys"],
  ],
])("%s: lists exactly the properties and resources without a counterpart", async (name, properties, types) => {
  const { report } = await run("terraform", recordedStates[name]?.text(ids) ?? "");
  const reasons = report.noCounterpart.map(({ reason }: { reason: string }) => reason);
  expect(reasons).toEqual([...properties, ...types.map((type) => `runpod_${type}: this package has no such resource`)]);
});

it("an endpoint with its own image keeps its container, or has the template with its settings", async () => {
  const { apiKey } = bench.addresses;
  const post = (path: string, json: object) =>
    send("POST", `${bench.proxy.origin}/v2/${path}`, { key: apiKey, json }).then((response) =>
      stringAt(response, "id"),
    );
  const container = { image: "acme/own:1", disk: 20, env: { MODE: "fast" }, ports: ["80/http"], args: "serve" };
  const endpoint = await post("serverless", {
    ...container,
    name: "own",
    type: "QUEUE",
    gpu: { pools: ["ADA_24"] },
    workers: { max: 0 },
    scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  });
  const state = recordedStates["Terraform 2.0"]?.text({ ...ids, endpoint }) ?? "";
  const before = await run("terraform", state);
  expect(before.report.skipped).toEqual([]);
  expect(await readFile(join(before.out, "index.ts"), "utf8")).toContain('imageName: "acme/own:1"');
  const template = await post("templates", { ...container, name: "own", serverless: true });
  const after = await run("terraform", recordedStates["Terraform 2.0"]?.text({ ...ids, endpoint, template }) ?? "");
  expect(after.report.skipped).toEqual([]);
  expect(await readFile(join(after.out, "index.ts"), "utf8")).toContain("templateId: workerTemplate.id");
});

it("lists properties without a counterpart, and objects missing from the account", async () => {
  const { "the official Pulumi provider": official } = recordedStates;
  const { report } = await run("runpod-pulumi", official?.text({ ...ids, volume: "gone" }) ?? "");
  expect(report.noCounterpart.map(({ reason }: { reason: string }) => reason)).toEqual([
    "startScript: this package has no such property",
    "modelReferences: this package has no such property",
    "runpod:index:Pod: this package has no such resource",
  ]);
  expect(report.skipped).toEqual([
    { kind: "NetworkVolume", id: "gone", name: "models", reason: "the account has no object with this id" },
  ]);
});

it("reports ignored data sources and resources of other providers in one line", async () => {
  const state = JSON.parse(recordedStates["Terraform 1.x"]?.text(ids) ?? "");
  const other = (name: string) => ({
    address: `null_resource.${name}`,
    mode: "managed",
    type: "null_resource",
    name,
    values: {},
  });
  state.values.root_module.resources.push(other("smoke"), other("warm"));
  const { stderr } = await run("terraform", JSON.stringify(state));
  expect(stderr.split("\n").filter((line) => /ignored/i.test(line))).toEqual([
    "Ignored data sources and resources of other providers: 1 data.runpod_gpu_types, 2 null_resource.",
  ]);
  expect((await run("terraform", recordedText("terraform", ids))).stderr).not.toMatch(/ignored/i);
});

it("with a wrong key, names the variable that contains it", async () => {
  await expect(run("terraform", recordedText("terraform", ids), "v2", "wrong-key")).rejects.toThrow(
    `${bench.proxy.origin} rejected the API key, or the key lacks permission. The key comes from SERVERLESS_COMPUTE_API_KEY; `,
  );
});

it.each<[MoveFlags["from"], string, string]>([
  [
    "terraform",
    "{",
    "--from terraform: the input is not a state of this provider; pass the output of `terraform show -json`",
  ],
  [
    "runpod-native",
    "[]",
    "--from runpod-native: the input is not a state of this provider; pass the output of `pulumi stack export`",
  ],
  ["terraform", '{"format_version": "1.0"}', "--from terraform: the state has no resources of this provider"],
  ["runpod-pulumi", '{"deployment": {"resources": null}}', "--from runpod-pulumi: the state has no resources of this"],
])("rejects input for %s that is not its state, and writes nothing", async (from, text, message) => {
  const before = await readdir(folder);
  bench.drainRequests();
  await expect(run(from, text)).rejects.toThrow(message);
  expect(bench.drainRequests()).toEqual([]);
  expect(await readdir(folder)).toEqual(before);
});

it("requires --from and --out together", async () => {
  const file = join(folder, "state.json");
  await writeFile(file, "{}");
  expect(await command(["move", file, "--out", "x"])).toMatchObject({ code: 2, out: "" });
  expect(await command(["move", file, "--from", "terraform"])).toMatchObject({ code: 2, out: "" });
  expect((await command(["move", file, "--from", "ansible", "--out", "x"])).err).toContain("runpod-native, terraform");
});
