import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { withFingerprints } from "../support/default-names";
import { changeWithoutRevision, restPaths } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { deployedInputs, previewPlan } from "../support/preview-plan";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

const listedShape = z.array(z.looseObject({ id: z.string(), name: z.string() }));

/** The lifecycle of one stack with every kind of resource; each step continues from the previous step. */
export function describeLifecycle(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  type Part = "job" | "secret" | "volume" | "template" | "endpoint" | "spare" | "pod" | "registry";

  /**
   * Every kind, most of it under a component: a verified endpoint with a job, a spare endpoint, a template of pods, a volume of
   * an explicit provider, and templates that depend on outputs. `parts` are the properties that a step changes.
   */
  const program = (parts: Partial<Record<Part, object>> = {}): string => `
  const pulumi = require("@pulumi/pulumi");
  const sc = require("${way.module}");
  const { ContainerRegistryAuth, JobInvoke, NetworkVolume, Secret, ServerlessEndpoint, Template } = sc;
  const parts = ${JSON.stringify(parts)};
  class Worker extends pulumi.ComponentResource {
    constructor(name) {
      super("shop:index:Worker", name);
      this.token = new Secret("token", { value: "token-value", ...parts.secret }, { parent: this });
      this.template = new Template("worker", {
        imageName: "${image("env")}", containerDiskInGb: 5, env: { TOKEN: this.token.reference, B: "2" }, ...parts.template,
      }, { parent: this });
    }
  }
  const worker = new Worker("worker");
  const volume = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1", ...parts.volume });
  const endpoint = new ServerlessEndpoint("api", {
    templateId: worker.template.id, networkVolumeId: volume.id, workersMax: 1,
    verify: { input: { names: [] }, timeout: 60 }, ...parts.endpoint,
  }, { parent: worker });
  const smoke = new JobInvoke("smoke", {
    endpointId: endpoint.id, input: { names: ["B"] }, triggers: [worker.template.revision], ...parts.job,
  }, { parent: endpoint });
  const registry = new ContainerRegistryAuth("registry", { username: "robot", password: "password-value", ...parts.registry });
  const pod = new Template("pod", { name: "pod", imageName: "${image("echo")}", containerRegistryAuthId: registry.id, ...parts.pod });
  const args = { imageName: "${image("echo")}" };
  const quiet = new Template("quiet", { ...args, replaceOnChange: true, env: { URL: endpoint.url, REFERENCE: worker.token.reference, REVISION: pod.revision } });
  new Template("loud", { ...args, env: { REVISION: worker.template.revision } });
  new ServerlessEndpoint("spare", { templateId: quiet.id, workersMax: 0, ...parts.spare });
  const own = ${way.provider(`pulumi.secret("${service.service.apiKey}")`)};
  new NetworkVolume("own", { size: 10, dataCenterId: "EU-RO-1" }, { provider: own });
`;

  const forEveryResource = (operation: string): Record<string, string[]> => ({
    "Secret token": [operation],
    "NetworkVolume models": [operation],
    "NetworkVolume own": [operation],
    "Template worker": [operation],
    "Template pod": [operation],
    "Template quiet": [operation],
    "Template loud": [operation],
    "ServerlessEndpoint api": [operation],
    "ServerlessEndpoint spare": [operation],
    "JobInvoke smoke": [operation],
    "ContainerRegistryAuth registry": [operation],
  });
  const ownResources = (operations: Record<string, string[]>): Record<string, string[]> =>
    Object.fromEntries(Object.entries(operations).filter(([name]) => !/^Worker|^serverless-compute /.test(name)));
  const sorted = (operations: Record<string, string[]>): Record<string, string[]> =>
    Object.fromEntries(Object.entries(ownResources(operations)).map(([name, done]) => [name, [...done].sort()]));
  const registries = async () => listedShape.parse(await service.rest("GET", "/containerregistryauth"));
  const find = <Item extends { name: string }>(all: Item[], name: string): Item | undefined =>
    all.find((item) => item.name.startsWith(name));

  it("creates each kind, in a component and in an explicit provider, and runs the verification and the job", async () => {
    await stack.writeProgram(program());
    const up = await stack.up();
    expect(ownResources(up.operations)).toEqual(forEveryResource("create"));
    const job = (await stack.resources()).find(({ type }) => type.endsWith("JobInvoke"));
    expect(job?.outputs).toMatchObject({ status: "COMPLETED", output: { B: "2" } });
    expect(service.proxy.requests.filter(({ path }) => /\/run$/.test(path))).toHaveLength(2);
    const { secrets, volumes, endpoints, templates } = await service.listObjects();
    expect(secrets).toMatchObject([{ name: withFingerprints("token-dev") }]);
    expect(find(volumes, "models-dev")).toMatchObject({ size: 10 });
    expect(find(volumes, "own-dev")).toMatchObject({ size: 10 });
    expect(find(endpoints, "api-dev")).toMatchObject({ workersMax: 1 });
    expect(find(templates, "worker-dev")).toMatchObject({
      name: withFingerprints("worker-dev"),
      env: { TOKEN: withFingerprints("{{ RUNPOD_SECRET_token-dev }}"), B: "2" },
    });
    expect(await registries()).toMatchObject([{ name: withFingerprints("registry-dev") }]);
  });

  // Only the state of dynamic resources contains a reference to the package.
  it(`changes nothing and sends no request without a change${way.upgrade ? ", under a new version of the package" : ""}`, async () => {
    await way.upgrade?.(stack);
    service.proxy.clear();
    const up = await stack.up();
    expect(ownResources(up.operations), up.output).toEqual(forEveryResource("same"));
    expect(service.proxy.requests).toEqual([]);
  });

  const replacement = ["create-replacement", "replace", "delete-replaced"];

  const changed = {
    secret: { value: "another-value", description: "opens the door" },
    volume: { size: 20, name: "models-2" },
    template: { env: { A: "1", B: "2" }, dockerArgs: "--fast" },
    endpoint: { workersMax: 2, idleTimeout: 9 },
    spare: { idleTimeout: 7 },
    pod: changeWithoutRevision,
  };

  it("updates in place; the preview requires neither key nor service, and only dependents of changed outputs change", async () => {
    const before = await service.listObjects();
    await stack.writeProgram(program(changed));
    const unusedAddress = {
      SERVERLESS_COMPUTE_API_KEY: "",
      SERVERLESS_COMPUTE_BASE_URL: `http://127.0.0.1:9${restPaths.root}`,
    };
    const planned = await previewPlan(stack, unusedAddress);
    const up = await stack.up();
    const unchangedPreview = ["ContainerRegistryAuth registry", "NetworkVolume own", "Template quiet"];
    expect(ownResources(up.operations)).toEqual({
      ...forEveryResource("update"),
      ...Object.fromEntries(unchangedPreview.map((name) => [name, ["same"]])),
    });
    for (const [name, [operation]] of Object.entries(ownResources(up.operations)))
      expect(planned.steps[name.split(" ")[1] ?? ""], name).toBe(operation);
    // The plan contains only known values.
    for (const name of ["quiet", "loud"])
      expect(planned.inputs[name]?.["env"], name).toEqual((await deployedInputs(stack, name))?.["env"]);
    const after = await service.listObjects();
    expect(after.secrets).toMatchObject([{ id: before.secrets[0]?.id, description: "opens the door" }]);
    expect(find(after.volumes, "models-2")).toMatchObject({ id: find(before.volumes, "models-dev")?.id, size: 20 });
    expect(find(after.endpoints, "api-dev")).toMatchObject({ workersMax: 2, idleTimeout: 9 });
    expect(find(after.templates, "worker-dev")).toMatchObject({ env: { A: "1", B: "2" } });
    const ids = ({ templates, endpoints }: typeof after) => [...templates, ...endpoints].map(({ id }) => id).sort();
    expect(ids(after)).toEqual(ids(before));
  });

  it("a refresh and `drift` report exactly the outside changes and deletions, by property", async () => {
    const { templates, endpoints } = await service.listObjects();
    await service.rest("DELETE", `/endpoints/${find(endpoints, "api-dev")?.id}`);
    await service.rest("PATCH", `/endpoints/${find(endpoints, "spare-dev")?.id}`, { idleTimeout: 60 });
    await service.rest("PATCH", `/templates/${find(templates, "loud-dev")?.id}`, { env: { REVISION: "3" } });
    const drift = await stack.tool(["drift"]);
    expect(drift.stdout, drift.stderr).toMatch(/^Drift in 3 of \d+ resources of dev/);
    expect(drift.stdout).toMatch(/^ServerlessEndpoint "api"\n {2}the service no longer has this object$/m);
    expect(drift.stdout).toMatch(/^ServerlessEndpoint "spare"\n {2}idleTimeout: 7 → 60$/m);
    expect(drift.stdout).toMatch(/^Template "loud"\n {2}env\.REVISION: "\w+" → "3"$/m);
    expect(drift.code).toBe(3);
    const refresh = await stack.refresh({ args: ["--diff"] });
    expect(ownResources(refresh.operations)).toEqual({
      ...forEveryResource("same"),
      "Template loud": ["update"],
      "ServerlessEndpoint spare": ["update"],
      "ServerlessEndpoint api": ["delete"],
    });
    expect(refresh.output).toMatch(/~ env *: \{[^}]*~ REVISION: "\w+" => "3"\s+\}/);
    expect(refresh.output).toMatch(/~ idleTimeout *: 7 => 60/);
  });

  it("the next deployment reverts both", async () => {
    const up = await stack.up();
    expect(ownResources(up.operations)).toEqual({
      ...forEveryResource("same"),
      "Template loud": ["update"],
      "ServerlessEndpoint spare": ["update"],
      "ServerlessEndpoint api": ["create"],
      // The new endpoint has another id, which is part of its address.
      "JobInvoke smoke": ["update"],
      "Template quiet": replacement,
    });
    const { endpoints } = await service.listObjects();
    expect(find(endpoints, "spare-dev")).toMatchObject({ idleTimeout: 7 });
    expect(find(endpoints, "api-dev")).toMatchObject({ workersMax: 2, idleTimeout: 9 });
  });

  it("replaces each kind of object according to the preview, with a warning about losses", async () => {
    const before = await service.listObjects();
    const [registry] = await registries();
    await stack.writeProgram(
      program({
        ...changed,
        secret: { ...changed.secret, name: "token-2" },
        volume: { ...changed.volume, dataCenterId: "US-KS-2" },
        endpoint: { ...changed.endpoint, computeType: "CPU" },
        registry: { name: "registry-2" },
        pod: { ...changed.pod, isServerless: false },
      }),
    );
    const preview = await stack.preview();
    const up = await stack.up();
    expect(ownResources(up.operations)).toEqual({
      ...forEveryResource("same"),
      "Secret token": replacement,
      "NetworkVolume models": replacement,
      "ServerlessEndpoint api": replacement,
      "ContainerRegistryAuth registry": replacement,
      // The program sets its name, which is unique, so the old object is deleted first.
      "Template pod": ["delete-replaced", "replace", "create-replacement"],
      // A job cannot be replaced; it runs again on the new endpoint.
      "JobInvoke smoke": ["update"],
      // It reads an output of "pod". Its old object is not deleted together with that of "pod", because an endpoint uses it.
      "Template quiet": replacement,
      "ServerlessEndpoint spare": ["update"],
    });
    expect(sorted(preview.operations)).toEqual(sorted(up.operations));
    expect(preview.diagnostics.filter(({ severity }) => severity === "warning")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          resource: "NetworkVolume models",
          message: expect.stringContaining("loses its data"),
        }),
        expect.objectContaining({
          resource: "ServerlessEndpoint api",
          message: expect.stringContaining("job history"),
        }),
      ]),
    );
    const after = await service.listObjects();
    expect(after.secrets).toMatchObject([{ name: "token-2" }]);
    expect(find(after.volumes, "models-2")).toMatchObject({ dataCenterId: "US-KS-2" });
    const keptIds = ["own-dev", "spare-dev"];
    const idsOf = ({ endpoints, volumes, secrets }: typeof after): string[] =>
      [...endpoints, ...volumes, ...secrets].flatMap(({ id, name }) =>
        keptIds.some((item) => name.startsWith(item)) ? [] : [id],
      );
    expect(idsOf(after).filter((id) => idsOf(before).includes(id))).toEqual([]);
    expect(await registries()).toEqual([expect.not.objectContaining({ id: registry?.id })]);
  });

  it("reads existing objects by resources with an id, and by functions, which reject missing objects", async () => {
    const { templates, endpoints } = await service.listObjects();
    const id = find(templates, "worker-dev")?.id;
    const endpointId = find(endpoints, "api-dev")?.id;
    await stack.writeProgram(`
    const pulumi = require("@pulumi/pulumi");
    const sc = require("${way.module}");
    const known = new sc.Template("known", { imageName: "" }, { id: "${id}" });
    const rejected = (promise) => promise.then(() => "found", (error) => error.message);
    const found = Promise.all([
      sc.getTemplate({ id: "${id}" }),
      sc.getServerlessEndpoint({ id: "${endpointId}" }),
      sc.getNetworkVolume({ name: "models-2" }),
      sc.getSecret({ name: "token-2" }),
      sc.getEndpointHealth(${way.health(`"${endpointId}"`)}),
      rejected(sc.getTemplate({ name: "nobody" })),
      rejected(sc.getTemplate({})),
    ]);
    pulumi.all([known.imageName, found]).apply((all) => require("node:fs").writeFileSync("found.json", JSON.stringify(all)));
  `);
    await stack.preview();
    const text = await readFile(join(stack.folder, "program", "found.json"), "utf8");
    expect(JSON.parse(text)).toMatchObject([
      image("env"),
      [
        {
          name: withFingerprints("worker-dev"),
          env: { A: "1", B: "2" },
          revision: expect.stringMatching(/^[0-9a-f]{16}$/),
        },
        { id: endpointId, workersMax: 2, url: `${service.proxy.origin}/v2/${endpointId}` },
        { name: "models-2", size: 20, dataCenterId: "US-KS-2" },
        { name: "token-2", reference: "{{ RUNPOD_SECRET_token-2 }}" },
        { jobs: { inQueue: 0 }, workers: { idle: expect.any(Number) } },
        expect.stringContaining('Template "nobody" does not exist'),
        expect.stringContaining("requires an id or a name"),
      ],
    ]);
  });

  it("destroys everything", async () => {
    await stack.destroy();
    expect(await service.listObjects()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
    expect(await registries()).toEqual([]);
    expect(await stack.resources()).toEqual([]);
  });
}
