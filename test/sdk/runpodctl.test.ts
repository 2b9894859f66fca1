import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Finished, run } from "../../scripts/child.mjs";
import { at } from "../support/raw-http";
import { findGoProgram } from "./programs";
import { type SdkRig, startRig } from "./rig";
import { versions } from "./versions";

const program = await findGoProgram("runpodctl");
const title = `Go runpodctl ${versions.runpodctl}`;

describe.skipIf("missing" in program)(title, () => {
  let rig: SdkRig;
  let home: string;
  beforeAll(async () => {
    if ("failure" in program) throw new Error(program.failure);
    rig = await startRig();
    home = await mkdtemp(join(tmpdir(), "runpodctl-"));
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  });

  /** Runs a command line. The program looks up the host of a file relay at each start, which takes 5 s where no name server responds. */
  const call = (...words: string[]): Promise<Finished> =>
    run("path" in program ? program.path : "", words, {
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        RUNPOD_API_KEY: rig.service.apiKey,
        RUNPOD_API_URL: rig.service.baseUrl,
        RUNPOD_GRAPHQL_URL: rig.service.graphqlUrl,
      },
    });
  /** Runs a command and returns its JSON; fails if the command does. */
  const said = async (...words: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await call(...words);
    expect(code, `${words.join(" ")}: ${stderr}${stdout}`).toBe(0);
    return JSON.parse(stdout);
  };
  const made = async (...words: string[]): Promise<string> => {
    const object = await said(...words);
    const id = at(object, "id");
    if (typeof id !== "string") throw new Error(`no id in ${JSON.stringify(object)}`);
    return id;
  };
  const has = (...fields: [string, unknown][]) => expect.objectContaining(Object.fromEntries(fields));

  it("registry create, registry get, registry list, registry delete", async () => {
    const id = await made("registry", "create", "--name", "ctl", "--username", "reader", "--password", "hush-hush");
    expect(await said("registry", "get", id)).toEqual({ id, name: "ctl" });
    expect(await said("registry", "list")).toEqual([{ id, name: "ctl" }]);
    await said("registry", "delete", id);
    expect(await said("registry", "list")).toEqual([]);
  });

  it("template create, template get, template list, template search, template update, template delete", async () => {
    const settings = ["--image", "acme/echo:1", "--serverless", "--env", '{"A":"1"}', "--ports", "8888/http"];
    const id = await made("template", "create", "--name", "ctl-template", ...settings);
    await said("template", "update", id, "--image", "acme/echo:2");
    expect(await said("template", "get", id)).toMatchObject({
      imageName: "acme/echo:2",
      env: { A: "1" },
      isServerless: true,
    });
    expect(await said("template", "list", "--type", "user")).toContainEqual(has(["id", id]));
    expect(await said("template", "search", "ctl", "--type", "user")).toEqual([has(["id", id])]);
    await said("template", "delete", id);
    expect(await said("template", "list", "--type", "user")).toBeNull();
  });

  it("network-volume create, network-volume get, network-volume list, network-volume update, network-volume delete", async () => {
    const id = await made("network-volume", "create", "--name", "ctl", "--size", "20", "--data-center-id", "EU-RO-1");
    await said("network-volume", "update", id, "--size", "30", "--name", "ctl-larger");
    const volume = { id, name: "ctl-larger", size: 30, dataCenterId: "EU-RO-1" };
    expect(await said("network-volume", "get", id)).toEqual(volume);
    expect(await said("network-volume", "list")).toEqual([volume]);
    await said("network-volume", "delete", id);
    expect(await said("network-volume", "list")).toEqual([]);
  });

  it("serverless create, serverless get, serverless list, serverless update, serverless delete", async () => {
    const template = (name: string) =>
      made("template", "create", "--name", name, "--image", "acme/echo:1", "--serverless");
    const [first, second] = [await template("ctl-first"), await template("ctl-second")];
    const create = ["serverless", "create", "--template-id", first, "--workers-max", "0", "--name"];
    const scaling = ["--scale-by", "delay", "--scale-threshold", "4", "--min-cuda-version", "12.6"];
    const gpu = await made(...create, "ctl-gpu", "--gpu-id", "NVIDIA A40", ...scaling);
    const cpu = await made(...create, "ctl-cpu", "--compute-type", "CPU", "--instance-id", "cpu3g-4-16");
    expect(await said("serverless", "get", cpu)).toMatchObject({ computeType: "CPU", instanceIds: ["cpu3g-4-16"] });
    await said("serverless", "update", gpu, "--name", "ctl-other", "--idle-timeout", "20", "--template-id", second);
    await said("serverless", "update", gpu, "--scale-by", "requests", "--scale-threshold", "3");
    expect(await said("serverless", "get", gpu)).toMatchObject({
      name: "ctl-other",
      idleTimeout: 20,
      templateId: second,
      minCudaVersion: "12.6",
      scalerType: "REQUEST_COUNT",
      scalerValue: 3,
      gpuIds: "AMPERE_48",
    });
    const listed = await said("serverless", "list", "--include-template", "--include-workers");
    expect(listed).toEqual(expect.arrayContaining([has(["id", gpu]), has(["id", cpu])]));
    await said("serverless", "delete", gpu);
    await said("serverless", "delete", cpu);
    expect(await said("serverless", "list")).toEqual([]);
  });

  it("gpu list, datacenter list, user, billing pods, billing serverless, billing network-volume, pod list, doctor", async () => {
    expect(await said("gpu", "list")).toContainEqual(has(["gpuId", "NVIDIA A40"], ["stockStatus", "High"]));
    const center = expect.objectContaining({ id: "EU-RO-1" });
    expect(await said("datacenter", "list")).toContainEqual(center);
    expect(await said("user")).toMatchObject({ clientBalance: 0 });
    for (const what of ["pods", "serverless", "network-volume"]) expect(await said("billing", what)).toEqual([]);
    expect(await said("pod", "list")).toEqual([]);
    const doctor = await call("doctor");
    expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining('"healthy": true') });
  });

  it("ssh add-key, ssh list-keys, ssh remove-key", async () => {
    const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5f9xq8g1Jm0bqMZ0Q6n1v7mW3rY4sT5uV6wX7yZ8a9 ctl@host";
    expect(await said("ssh", "add-key", "--key", key)).toEqual({ added: true });
    expect(await said("ssh", "list-keys")).toMatchObject({ keys: expect.arrayContaining([has(["name", "ctl@host"])]) });
    expect(await said("ssh", "remove-key", "--name", "ctl@host")).toEqual({ removed: true });
  });

  const fails = async (words: string[], text: string): Promise<void> => {
    const { code, stderr } = await call(...words);
    expect(stderr).toContain(text);
    expect(code).not.toBe(0);
  };

  it("does not work: hub list, hub search, hub get (the service has no Hub)", async () => {
    const hub = 'Cannot query field \\"listing';
    for (const words of [["list"], ["search", "vllm"], ["get", "acme/hub"]]) await fails(["hub", ...words], hub);
  });

  it("does not work: model list (the service has no model repository)", async () => {
    await fails(["model", "list"], 'Cannot query field \\"myModels');
  });

  it("does not work: pod create (the service has no pods)", async () => {
    await fails(["pod", "create", "--image", "acme/echo:1", "--gpu-id", "NVIDIA A40"], "pods: cannot be created");
  });
});

if ("missing" in program) describe(title, () => it.skip(`not run: ${program.missing}`));
