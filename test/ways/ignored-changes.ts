import { afterAll, beforeAll, expect, it } from "vitest";
import { dialect } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** Inputs that the engine copies from the state, and values that the program adds, in a stack whose objects drift. */
export function describeIgnoredChanges(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  /** One path for one resource of each kind, all paths for another; `volume` and `variables` are further inputs. */
  const program = (volume: object = {}, variables: object = {}): string => `
  const { ContainerRegistryAuth, NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${way.module}");
  for (const [name, all] of [["one", false], ["all", true]]) {
    const ignore = (path) => ({ ignoreChanges: [all ? "*" : path] });
    new Secret("secret-" + name, { value: "sesame-61b0" }, ignore("description"));
    new ContainerRegistryAuth("registry-" + name, { username: "robot", password: "pass-61b0" }, ignore("username"));
    new NetworkVolume("volume-" + name, { size: 10, dataCenterId: "EU-RO-1" }, ignore("type"));
    const args = { imageName: "${image("echo")}", replaceOnChange: true };
    new Template("disk-" + name, args, ignore("containerDiskInGb"));
    const template = new Template("env-" + name, args, ignore("env"));
    new ServerlessEndpoint("endpoint-" + name, { templateId: template.id, gpuTypeIds: ["NVIDIA L4"] }, ignore("workersMax"));
  }
  const env = { TOKEN: "program", ...${JSON.stringify(variables)} };
  new Template("variables", { imageName: "a:1", env }, { ignoreChanges: ["env.TOKEN"] });
  new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1", ...${JSON.stringify(volume)} });
`;
  const expectNoChanges = () => stack.preview({ args: ["--expect-no-changes"] });

  it("a second preview has no changes", async () => {
    await stack.writeProgram(program());
    await stack.up();
    await expectNoChanges();
  });

  it("drift of inputs that the program omits is no change, before and after a refresh", async () => {
    const { endpoints, templates } = await service.listObjects();
    for (const { id } of endpoints) await service.rest("PATCH", `/endpoints/${id}`, { workersMax: 9 });
    // Another container of the template of an endpoint would be drift of its templateId.
    for (const { id } of templates.filter(({ name }) => name.startsWith("disk-")))
      await service.rest("PATCH", `/templates/${id}`, { containerDiskInGb: 70, env: { A: "1" } });
    await expectNoChanges();
    await stack.refresh({ args: ["--expect-no-changes"] });
    await expectNoChanges();
    await stack.up({ args: ["--expect-no-changes"] });
    await expectNoChanges();
    expect(await service.rest("GET", `/endpoints/${endpoints[0]?.id}`)).toMatchObject({ workersMax: 9 });
  });

  // REST v1 has no types of volumes.
  it.runIf(dialect === "v2")("a type that is added to a volume that has it is no change", async () => {
    await stack.writeProgram(program({ type: "STANDARD" }));
    await expectNoChanges();
  });

  it("an ignored variable keeps its value when another one changes, without a refresh", async () => {
    const { templates } = await service.listObjects();
    const id = templates.find(({ name }) => name.startsWith("variables-"))?.id;
    await service.rest("PATCH", `/templates/${id}`, { env: { TOKEN: "rotated" } });
    await stack.writeProgram(program({}, { MODEL: "small" }));
    await stack.up();
    expect(await service.rest("GET", `/templates/${id}`)).toMatchObject({ env: { TOKEN: "rotated", MODEL: "small" } });
    await expectNoChanges();
  });
}
