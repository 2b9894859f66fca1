import { mkdir, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { run } from "../../scripts/child.mjs";
import { type CleanRoom, createCleanRoom } from "../packages/support/clean-room";
import { type EngineService, useEngineService } from "../support/engine-service";
import { followPage } from "../support/page-run";
import { noteSecret } from "../support/secret-scan";
import { repository } from "./support/sdk";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();

/** The guides whose commands are run as they stand, and what their readers have before they begin. */
const guides: Record<
  string,
  { before?: string; env?: Record<string, string>; after?(service: EngineService): Promise<void> }
> = {
  "docs/guides/secrets.md": {
    before: "pulumi stack init dev && pulumi config set --secret hubToken sesame-61b0-old && pulumi up",
    env: { NEW_TOKEN: "sesame-61b0-new" },
    after: async (service) => expect((await service.holdings()).secrets).toHaveLength(1),
  },
};

/** A project in YAML whose stack has a secret, a template, an endpoint and a smoke test of it. */
const program = `name: chat
runtime: yaml
plugins:
  providers:
    - name: serverless-compute
      path: node_modules/pulumi-serverless-compute/bin
      version: 0.1.0
configuration:
  hubToken: { type: string, secret: true }
resources:
  token:
    type: serverless-compute:Secret
    properties: { value: "\${hubToken}" }
  template:
    type: serverless-compute:Template
    properties: { imageName: acme/echo:1, env: { HUB_TOKEN: "\${token.reference}" } }
  chat:
    type: serverless-compute:ServerlessEndpoint
    properties: { templateId: "\${template.id}", workersMax: 1 }
  answers:
    type: serverless-compute:JobInvoke
    properties: { endpointId: "\${chat.id}", input: { text: pong }, expect: { output: { text: pong } } }
outputs:
  url: \${chat.url}
`;

if (yaml.missing === undefined)
  describe("a reader who follows a guide", () => {
    let service: EngineService;
    beforeAll(async () => {
      service = await useEngineService();
    });

    /** A room with the packages as they are installed, and the rest of what npm would have put beside them. */
    const roomWithPackages = async (): Promise<CleanRoom> => {
      const room = await createCleanRoom(process.execPath);
      onTestFinished(room.remove);
      const modules = join(room.folder, "node_modules");
      await mkdir(modules);
      for (const name of ["pulumi-serverless-compute", "serverless-compute-api"])
        await symlink(join(inject("packed"), "node_modules", name), join(modules, name));
      for (const name of ["@pulumi", "typescript", "@types"])
        await symlink(join(repository, "node_modules", name), join(modules, name));
      await symlink(
        fileURLToPath(new URL("../../service", import.meta.url)),
        join(modules, "serverless-compute-local"),
      );
      await room.write("Pulumi.yaml", program);
      return room;
    };

    it.each(Object.keys(guides))("%s", async (page) => {
      const { before, env: own = {}, after } = guides[page] ?? {};
      for (const value of Object.values(own)) noteSecret(value, "a value of the guide");
      const room = await roomWithPackages();
      const path = [yaml.path, room.env["PATH"]].join(delimiter);
      const env = { ...room.env, ...service.environment, ...own, PATH: path, PULUMI_SKIP_CONFIRMATIONS: "true" };
      if (before) {
        const { code, stdout, stderr } = await run("bash", ["-ec", before], {
          cwd: room.folder,
          env,
          timeout: 120_000,
        });
        expect(code, stdout + stderr).toBe(0);
      }
      const ran = await followPage(page, { folder: room.folder, env });
      expect(ran.length).toBeGreaterThan(0);
      await after?.(service);
      const destroyed = await run("pulumi", ["destroy"], { cwd: room.folder, env, timeout: 120_000 });
      expect(destroyed.code, destroyed.stdout + destroyed.stderr).toBe(0);
    });
  });
