import { afterAll, beforeAll, expect, it } from "vitest";
import { fingerprinted } from "../support/default-names";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { giveAway } from "../support/secret-scan";
import type { Way } from "./way";

/** One stack through its life: every step stands on the one before. */
export function lifecycleThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    // The job's handler answers with it, to show that the worker got it.
    giveAway("sesame");
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  type Part = "job" | "secret" | "volume" | "template" | "endpoint" | "pod";

  /** One of each kind, most of it under a component, and a template of pods; `parts` are what a step changes. */
  const program = (parts: Partial<Record<Part, object>> = {}): string => `
  const pulumi = require("@pulumi/pulumi");
  const { JobInvoke, NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${way.module}");
  const parts = ${JSON.stringify(parts)};
  class Worker extends pulumi.ComponentResource {
    constructor(name) {
      super("shop:index:Worker", name);
      this.token = new Secret("token", { value: "sesame", ...parts.secret }, { parent: this });
      this.template = new Template("worker", {
        imageName: "${image("env")}", containerDiskInGb: 5, env: { TOKEN: this.token.reference }, ...parts.template,
      }, { parent: this });
    }
  }
  const worker = new Worker("worker");
  const volume = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1", ...parts.volume });
  const endpoint = new ServerlessEndpoint("api", {
    templateId: worker.template.id, networkVolumeId: volume.id, workersMax: 1, ...parts.endpoint,
  }, { parent: worker });
  const smoke = new JobInvoke("smoke", {
    endpointId: endpoint.id, input: { names: ["TOKEN"] }, triggers: [worker.template.revision], ...parts.job,
  }, { parent: endpoint });
  exports.answer = smoke.output;
  new Template("pod", { imageName: "${image("echo")}", ...parts.pod });
`;

  const everyOne = (operation: string) => ({
    "Secret token": [operation],
    "NetworkVolume models": [operation],
    "Template worker": [operation],
    "ServerlessEndpoint api": [operation],
    "JobInvoke smoke": [operation],
    "Template pod": [operation],
  });

  const ours = (operations: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(operations).filter(([name]) => !name.startsWith("Worker")));

  const sorted = (operations: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(ours(operations)).map(([name, done]) => [name, [...done].sort()]));

  it("creates one of each kind, under a component too", async () => {
    await stack.program(program());
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(ours(up.operations)).toEqual(everyOne("create"));
    const job = (await stack.resources()).find(({ type }) => type.endsWith("JobInvoke"));
    // The worker saw the secret's value; the template holds only the reference.
    expect(job?.outputs).toMatchObject({ status: "COMPLETED", output: { TOKEN: "sesame" } });
    expect(await service.holdings()).toMatchObject({
      secrets: [{ name: fingerprinted("token-dev") }],
      volumes: [{ name: fingerprinted("models-dev"), size: 10 }],
      endpoints: [{ name: fingerprinted("api-dev"), workersMax: 1 }],
      templates: expect.arrayContaining([
        expect.objectContaining({
          name: fingerprinted("worker-dev"),
          env: { TOKEN: fingerprinted("{{ RUNPOD_SECRET_token-dev }}") },
        }),
        expect.objectContaining({ name: fingerprinted("pod-dev") }),
      ]),
    });
  });

  it("asks the service nothing when nothing changed", async () => {
    service.proxy.clear();
    const up = await stack.up();
    expect(ours(up.operations), up.output).toEqual(everyOne("same"));
    expect(service.proxy.requests).toEqual([]);
  });

  // Only the dynamic way keeps a text in state that leads to the package's version.
  const { upgrade } = way;
  if (upgrade) {
    it("changes nothing under a new version of the package", async () => {
      await upgrade(stack);
      service.proxy.clear();
      const up = await stack.up();
      expect(ours(up.operations), up.output).toEqual(everyOne("same"));
      expect(service.proxy.requests).toEqual([]);
    });
  }

  const changed = {
    secret: { value: "open sesame", description: "opens the door" },
    volume: { size: 20, name: "models-2" },
    template: { env: { A: "1" }, dockerArgs: "--fast" },
    endpoint: { workersMax: 2, idleTimeout: 9 },
    pod: { dockerArgs: "--for-pods" },
  };

  it("updates each kind in place", async () => {
    const before = await service.holdings();
    await stack.program(program(changed));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(ours(up.operations)).toEqual(everyOne("update"));
    const after = await service.holdings();
    expect(after).toMatchObject({
      secrets: [{ id: before.secrets[0]?.id, description: "opens the door" }],
      volumes: [{ id: before.volumes[0]?.id, size: 20, name: "models-2" }],
      endpoints: [{ id: before.endpoints[0]?.id, workersMax: 2, idleTimeout: 9 }],
      templates: expect.arrayContaining([
        expect.objectContaining({ name: fingerprinted("worker-dev"), env: { A: "1" } }),
      ]),
    });
    expect(after.templates.map(({ id }) => id).sort()).toEqual(before.templates.map(({ id }) => id).sort());
  });

  it("finds nothing to refresh when nothing drifted", async () => {
    const refresh = await stack.refresh();
    expect(refresh.code, refresh.output).toBe(0);
    expect(ours(refresh.operations)).toEqual(everyOne("same"));
  });

  it("makes again what somebody deleted behind its back", async () => {
    const [gone] = (await service.holdings()).endpoints;
    await service.rest("DELETE", `/endpoints/${gone?.id}`);
    const up = await stack.up({ args: ["--refresh"] });
    expect(up.code, up.output).toBe(0);
    expect(up.operations["ServerlessEndpoint api"]).toEqual(["refresh", "create"]);
    expect(up.operations["JobInvoke smoke"]).toEqual(["refresh", "update"]);
    expect((await service.holdings()).endpoints).toMatchObject([{ name: fingerprinted("api-dev"), workersMax: 2 }]);
  });

  const replacement = ["create-replacement", "replace", "delete-replaced"];

  it("replaces each kind that is an object, as the preview said, with a warning where something is lost", async () => {
    const before = await service.holdings();
    await stack.program(
      program({
        ...changed,
        secret: { ...changed.secret, name: "token-2" },
        volume: { ...changed.volume, dataCenterId: "US-KS-2" },
        endpoint: { ...changed.endpoint, computeType: "CPU" },
        pod: { ...changed.pod, isServerless: false },
      }),
    );
    const preview = await stack.preview();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    const done = {
      "Secret token": replacement,
      "NetworkVolume models": replacement,
      "ServerlessEndpoint api": replacement,
      "Template worker": ["same"],
      // A job is no object that could be replaced: it runs again, on the new endpoint.
      "JobInvoke smoke": ["update"],
      // Its name is unique, so the old one goes first.
      "Template pod": ["delete-replaced", "replace", "create-replacement"],
    };
    expect(ours(up.operations)).toEqual(done);
    expect(sorted(preview.operations)).toEqual(sorted(up.operations));
    expect(preview.diagnostics.filter(({ severity }) => severity === "warning")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ about: "NetworkVolume models", message: expect.stringContaining("loses its data") }),
        expect.objectContaining({ about: "ServerlessEndpoint api", message: expect.stringContaining("job history") }),
      ]),
    );
    const after = await service.holdings();
    expect(after.endpoints).toHaveLength(1);
    expect(after.volumes).toMatchObject([{ dataCenterId: "US-KS-2" }]);
    expect(after.secrets).toMatchObject([{ name: "token-2" }]);
    const idsOf = ({ endpoints, volumes, secrets }: typeof after) =>
      [...endpoints, ...volumes, ...secrets].map(({ id }) => id);
    expect(idsOf(after).filter((id) => idsOf(before).includes(id))).toEqual([]);
  });

  it("reads an object that exists by its id, and says when there is none", async () => {
    const known = (await service.holdings()).templates.find(({ name }) => name.startsWith("worker-dev-"));
    const lookUp = (id: string) => `
    const { Template } = require("${way.module}");
    exports.image = new Template("known", { imageName: "" }, { id: "${id}" }).imageName;
  `;
    await stack.program(lookUp(known?.id ?? ""));
    expect((await stack.preview()).output).toMatch(new RegExp(`image *: +"${image("env")}"`));
    await stack.program(lookUp("nowhere"));
    const preview = await stack.preview();
    expect(preview.code).not.toBe(0);
    expect(preview.output).toMatch(/nowhere.* does not exist/);
  });

  it("leaves nothing behind", async () => {
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(await service.holdings()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
    expect(await stack.resources()).toEqual([]);
  });
}
