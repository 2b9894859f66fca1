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

  /**
   * Runs a command of words, followed by arguments that may contain spaces. The program resolves the host of a file relay at each
   * start, which takes 5 s if no name server responds.
   */
  const call = (words: string, ...args: string[]): Promise<Finished> =>
    run("path" in program ? program.path : "", [...words.split(" "), ...args], {
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        RUNPOD_API_KEY: rig.service.apiKey,
        RUNPOD_API_URL: rig.service.baseUrl,
        RUNPOD_GRAPHQL_URL: rig.service.graphqlUrl,
      },
    });
  /** Runs a command and returns its JSON; fails if the command does. */
  const output = async (words: string, ...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await call(words, ...args);
    expect(code, `${words}: ${stderr}${stdout}`).toBe(0);
    return JSON.parse(stdout);
  };
  const createObject = async (words: string, ...args: string[]): Promise<string> => {
    const object = await output(words, ...args);
    const id = at(object, "id");
    if (typeof id !== "string") throw new Error(`no id in ${JSON.stringify(object)}`);
    return id;
  };
  const hasFields = (...fields: [string, unknown][]) => expect.objectContaining(Object.fromEntries(fields));

  it("registry create, registry get, registry list, registry delete", async () => {
    const id = await createObject("registry create --name ctl --username reader --password hush-hush");
    expect(await output(`registry get ${id}`)).toEqual({ id, name: "ctl" });
    expect(await output("registry list")).toEqual([{ id, name: "ctl" }]);
    await output(`registry delete ${id}`);
    expect(await output("registry list")).toEqual([]);
  });

  it("template create, template get, template list, template search, template update, template delete", async () => {
    const settings = '--image acme/echo:1 --serverless --env {"A":"1"} --ports 8888/http';
    const id = await createObject(`template create --name ctl-template ${settings}`);
    await output(`template update ${id} --image acme/echo:2`);
    expect(await output(`template get ${id}`)).toMatchObject({
      imageName: "acme/echo:2",
      env: { A: "1" },
      isServerless: true,
    });
    expect(await output("template list --type user")).toContainEqual(hasFields(["id", id]));
    expect(await output("template search ctl --type user")).toEqual([hasFields(["id", id])]);
    await output(`template delete ${id}`);
    expect(await output("template list --type user")).toBeNull();
  });

  it("network-volume create, network-volume get, network-volume list, network-volume update, network-volume delete", async () => {
    const id = await createObject("network-volume create --name ctl --size 20 --data-center-id EU-RO-1");
    await output(`network-volume update ${id} --size 30 --name ctl-larger`);
    const volume = { id, name: "ctl-larger", size: 30, dataCenterId: "EU-RO-1" };
    expect(await output(`network-volume get ${id}`)).toEqual(volume);
    expect(await output("network-volume list")).toEqual([volume]);
    await output(`network-volume delete ${id}`);
    expect(await output("network-volume list")).toEqual([]);
  });

  it("serverless create, serverless get, serverless list, serverless update, serverless delete", async () => {
    const template = (name: string) => createObject(`template create --name ${name} --image acme/echo:1 --serverless`);
    const [first, second] = [await template("ctl-first"), await template("ctl-second")];
    const create = `serverless create --template-id ${first} --workers-max 0 --name`;
    const scaling = "--scale-by delay --scale-threshold 4 --min-cuda-version 12.6";
    const gpu = await createObject(`${create} ctl-gpu ${scaling} --gpu-id`, "NVIDIA A40");
    const cpu = await createObject(`${create} ctl-cpu --compute-type CPU --instance-id cpu3g-4-16`);
    expect(await output(`serverless get ${cpu}`)).toMatchObject({ computeType: "CPU", instanceIds: ["cpu3g-4-16"] });
    await output(`serverless update ${gpu} --name ctl-other --idle-timeout 20 --template-id ${second}`);
    await output(`serverless update ${gpu} --scale-by requests --scale-threshold 3`);
    expect(await output(`serverless get ${gpu}`)).toMatchObject({
      name: "ctl-other",
      idleTimeout: 20,
      templateId: second,
      minCudaVersion: "12.6",
      scalerType: "REQUEST_COUNT",
      scalerValue: 3,
      gpuIds: "AMPERE_48",
    });
    const list = await output("serverless list --include-template --include-workers");
    expect(list).toEqual(expect.arrayContaining([hasFields(["id", gpu]), hasFields(["id", cpu])]));
    await output(`serverless delete ${gpu}`);
    await output(`serverless delete ${cpu}`);
    expect(await output("serverless list")).toEqual([]);
  });

  it("gpu list, datacenter list, user, billing pods, billing serverless, billing network-volume, pod list, doctor", async () => {
    expect(await output("gpu list")).toContainEqual(hasFields(["gpuId", "NVIDIA A40"], ["stockStatus", "High"]));
    const center = expect.objectContaining({ id: "EU-RO-1" });
    expect(await output("datacenter list")).toContainEqual(center);
    expect(await output("user")).toMatchObject({ clientBalance: 0 });
    for (const subject of ["pods", "serverless", "network-volume"])
      expect(await output(`billing ${subject}`)).toEqual([]);
    expect(await output("pod list")).toEqual([]);
    const doctor = await call("doctor");
    expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining('"healthy": true') });
  });

  it("ssh add-key, ssh list-keys, ssh remove-key", async () => {
    const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5f9xq8g1Jm0bqMZ0Q6n1v7mW3rY4sT5uV6wX7yZ8a9 ctl@host";
    expect(await output("ssh add-key --key", key)).toEqual({ added: true });
    expect(await output("ssh list-keys")).toMatchObject({
      keys: expect.arrayContaining([hasFields(["name", "ctl@host"])]),
    });
    expect(await output("ssh remove-key --name ctl@host")).toEqual({ removed: true });
  });

  const fails = async (text: string, words: string, ...args: string[]): Promise<void> => {
    const { code, stderr } = await call(words, ...args);
    expect(stderr).toContain(text);
    expect(code).not.toBe(0);
  };

  it("does not work: hub list, hub search, hub get (the service has no Hub)", async () => {
    const hub = 'Cannot query field \\"listing';
    for (const words of ["list", "search vllm", "get acme/hub"]) await fails(hub, `hub ${words}`);
  });

  it("does not work: model list (the service has no model repository)", async () => {
    await fails('Cannot query field \\"myModels', "model list");
  });

  it("does not work: pod create (the service has no pods)", async () => {
    await fails("pods: cannot be created", "pod create --image acme/echo:1 --gpu-id", "NVIDIA A40");
  });
});

if ("missing" in program) describe(title, () => it.skip(`not run: ${program.missing}`));
