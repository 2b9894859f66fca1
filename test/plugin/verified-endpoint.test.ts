import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { createStack, type Stack } from "../support/pulumi";
import { pluginFolder } from "./support/way";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();

describe.skipIf(yaml.missing !== undefined)("a VerifiedEndpoint in YAML", () => {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await createStack({ ...service.environment, PATH: yaml.path }, { plugin: pluginFolder(), runtime: "yaml" });
  });
  afterAll(() => stack.remove());

  const program = (options = "{}"): string => `
resources:
  greeting:
    type: serverless-compute:Secret
    properties: { value: { "fn::secret": "hello from the vault" } }
  chat:
    type: serverless-compute:VerifiedEndpoint
    properties:
      template:
        imageName: ${image("echo")}
        env: { GREETING: "\${greeting.reference}", WORD: { "fn::secret": "open sesame" } }
      endpoint: { workersMax: 1 }
      verify: { input: { text: pong }, expect: { output: { text: pong } }, timeout: 60 }
    options: ${options}
  watcher:
    type: serverless-compute:Template
    properties:
      imageName: ${image("echo")}
      dockerArgs: "\${chat.url}"
outputs:
  url: \${chat.url}
  id: \${chat.endpointId}
  template: \${chat.templateId}
  version: \${chat.version}
  revision: \${chat.revision}
`;
  const component = "serverless-compute:index:VerifiedEndpoint";
  const typesOf = ({ urn }: { urn: string }): string => urn.split("::").slice(2).join(" ");

  it("creates a child template and a child endpoint, and returns their outputs", async () => {
    await stack.writeProgram(program());
    await stack.up();
    const { endpoints, templates } = await service.listObjects();
    const { output } = await stack.command(["stack", "output", "--json", "--show-secrets"]);
    const [endpoint] = endpoints;
    const template = templates.find(({ name }) => name.startsWith("chat-dev-"));
    expect(JSON.parse(output)).toEqual({
      url: `${service.proxy.origin}/v2/${endpoint?.id}`,
      id: endpoint?.id,
      template: template?.id,
      version: 1,
      revision: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    const resources = await stack.resources();
    expect(resources.map(typesOf)).toEqual(
      expect.arrayContaining([
        `${component} chat`,
        `${component}$serverless-compute:index:Template chat`,
        `${component}$serverless-compute:index:ServerlessEndpoint chat`,
      ]),
    );
    for (const [path, text] of await stack.files())
      if (!path.endsWith("Pulumi.yaml")) expect(text.includes("open sesame"), path).toBe(false);
  });

  it("changes nothing on the second deployment", async () => {
    service.proxy.clear();
    const up = await stack.up();
    expect(Object.values(up.operations).flat()).toEqual(expect.not.arrayContaining(["create", "update", "replace"]));
    expect(service.proxy.requests).toEqual([]);
  });

  it("passes protect, customTimeouts and ignoreChanges to its resources", async () => {
    const options =
      "{ protect: true, customTimeouts: { update: 90s }, ignoreChanges: [endpoint.workersMax, workersMin] }";
    await stack.writeProgram(program(options).replace("workersMax: 1", "workersMax: 2"));
    const { output } = await stack.up();
    expect(output).toContain('ignoreChanges: "workersMin" has no effect');
    const ownResources = (await stack.resources()).filter((resource) => typesOf(resource).startsWith(component));
    expect(ownResources).toHaveLength(3);
    for (const resource of ownResources)
      expect(resource).toMatchObject({ protect: true, customTimeouts: { update: 90 } });
    const [endpoint] = ownResources.filter(({ type }) => type.endsWith(":ServerlessEndpoint"));
    expect(endpoint?.inputs).toMatchObject({ workersMax: 1 });
  });

  it("keeps its resources under another name with an alias", async () => {
    const alias = `urn:pulumi:dev::shop::${component}::chat`;
    await stack.writeProgram(
      program(`{ aliases: ["${alias}"] }`).replaceAll("chat", "talk").replace("::talk", "::chat"),
    );
    service.proxy.clear();
    await stack.up();
    expect(service.proxy.requests).toEqual([]);
    expect((await stack.resources()).map(typesOf)).toContain(`${component}$serverless-compute:index:Template talk`);
    await stack.writeProgram(program().replaceAll("chat", "talk"));
  });

  it("is refreshed without a change and destroyed", async () => {
    const refresh = await stack.refresh();
    expect(Object.values(refresh.operations).flat()).toEqual(expect.not.arrayContaining(["update", "delete"]));
    await stack.destroy();
    expect(await service.listObjects()).toEqual({ endpoints: [], templates: [], volumes: [], secrets: [] });
  });
});
