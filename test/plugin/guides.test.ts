import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { run } from "../../scripts/child.mjs";
import type { CleanRoom } from "../packages/support/clean-room";
import { dialect } from "../support/dialect";
import { type EngineService, useCrowdedService, useEngineService } from "../support/engine-service";
import { followPage, type PageOptions } from "../support/page-runner";
import { type RecordedIds, recordedStates } from "../support/recorded-states";
import { registerSecret } from "../support/secret-scan";
import { handlerFile } from "../support/target";
import { environmentWithPackages, hasPython } from "./support/guide-room";
import { findYaml } from "./support/yaml";

// Guides with several deployments of a TypeScript program take minutes on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

const yaml = await findYaml();
const isPythonPresent = await hasPython();
const echo = handlerFile("echo");

/** A project in YAML whose stack has a template, an endpoint and a smoke test of it. */
const project = `name: chat
runtime: yaml
plugins:
  providers:
    - name: serverless-compute
      path: node_modules/pulumi-serverless-compute/bin
      version: 0.1.0
resources:
  template:
    type: serverless-compute:Template
    properties: { imageName: acme/echo:1, env: {} }
  chat:
    type: serverless-compute:ServerlessEndpoint
    properties: { templateId: "\${template.id}", workersMax: 1, gpuTypeIds: ["NVIDIA L4"] }
  answers:
    type: serverless-compute:JobInvoke
    properties: { endpointId: "\${chat.id}", input: { text: pong }, expect: { output: { text: pong } } }
outputs:
  url: \${chat.url}
`;

/** The same with a secret of the stack's config, which the workers receive. */
const projectWithSecret = project
  .replace("resources:\n", "config:\n  hubToken: { type: string, secret: true }\nresources:\n")
  .replace("env: {}", `env: { HUB_TOKEN: "\${token.reference}" }`)
  .replace(
    "  template:\n",
    `  token:\n    type: serverless-compute:Secret\n    properties: { value: "\${hubToken}" }\n  template:\n`,
  );

interface Guide {
  /** Followed only with FULL=1: programs in TypeScript, deployed several times. */
  onlyFull?: true;
  /** The reader's account has no other objects, because the guide imports all of them. */
  fillsAccount?: true;
  program?: string;
  /** Subfolder with the program that the guide leaves behind. */
  subfolder?: string;
  /** Preparation by the reader, in bash. */
  before?: string;
  /** Creates unmanaged objects that the guide requires. */
  objects?(service: EngineService, environment: CleanRoom): Promise<void>;
  env?: Record<string, string>;
  skip?: PageOptions["skip"];
  after?(
    service: EngineService,
    environment: CleanRoom,
    secondPreview: (commands: string) => Promise<string>,
  ): Promise<void>;
}

/** Creates a volume, a template and an endpoint. Returns ids for a recorded state. */
async function createChat(service: EngineService): Promise<RecordedIds> {
  const create = async (path: string, body: object): Promise<string> =>
    z.looseObject({ id: z.string() }).parse(await service.rest("POST", path, body)).id;
  const volume = await create("/networkvolumes", { name: "models", size: 10, dataCenterId: "EU-RO-1" });
  const image = { imageName: "acme/echo:1", containerDiskInGb: 5, isServerless: true };
  const template = await create("/templates", { name: "chat-template", ...image });
  const workers = { gpuTypeIds: ["NVIDIA L4"], workersMax: 2 };
  const endpoint = await create("/endpoints", {
    name: "chat",
    templateId: template,
    networkVolumeId: volume,
    ...workers,
  });
  return { volume, template, endpoint, registry: "", secret: "" };
}

/** The guides whose commands are run unchanged, with the prerequisites of their readers. */
const guides: Record<string, Guide> = {
  "docs/guides/secrets.md": {
    program: projectWithSecret,
    before: "pulumi stack init dev && pulumi config set --secret hubToken sesame-61b0-old && pulumi up",
    env: { NEW_TOKEN: "sesame-61b0-new" },
    after: async (service) => expect((await service.listObjects()).secrets).toHaveLength(1),
  },
  "docs/guides/share-a-container.md": {
    after: async (service, _room, secondPreview) => {
      expect((await service.listObjects()).endpoints).toHaveLength(2);
      expect(await secondPreview("pulumi preview --expect-no-changes")).toContain("5 unchanged");
    },
  },
  "docs/guides/upgrade.md": {
    // The stopped service of the reader's folder; the stack is deployed to the test's service.
    before: `pulumi stack init dev && pulumi up
      npx --no serverless-compute-local start --port 0 >start.txt & service=$!
      npx --no serverless-compute-local key --wait >/dev/null
      kill $service; wait $service || true`,
    after: async (service, environment) => {
      expect((await service.listObjects()).endpoints).toHaveLength(1);
      expect(existsSync(join(environment.folder, "before-upgrade", "service.db"))).toBe(true);
    },
  },
  "docs/guides/costs.md": { before: "pulumi stack init dev && pulumi up" },
  "docs/guides/pull-requests.md": {
    before: `pulumi stack init dev && pulumi up &&
      sed -i "s/echo:1/echo:2/; s/workersMax: 1/workersMax: 3/" Pulumi.yaml`,
    after: async (service, environment, secondPreview) => {
      // The page deploys the change at its end, so another change is previewed twice from the same state.
      await secondPreview(
        "sed -i 's/echo:2/echo:3/' Pulumi.yaml && sh preview.sh dev && cp comment.md first.md && sh preview.sh dev",
      );
      const [first, second] = await Promise.all(
        ["first.md", "comment.md"].map((name) => readFile(join(environment.folder, name))),
      );
      expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
      expect(second?.toString().split("\n").length).toBeLessThanOrEqual(12);
      expect(second?.toString()).toContain('`imageName` | `"acme/echo:2"` → `"acme/echo:3"`');
      const [endpoint] = (await service.listObjects()).endpoints;
      await service.rest("PATCH", `/endpoints/${endpoint?.id}`, { workersMax: 2 });
      const drift = await secondPreview("npx --no serverless-compute drift --stack dev || test $? = 3");
      expect(drift).toMatch(/workersMax: 3 → 2/);
      // The state still contains the deployed resources.
      expect(await secondPreview("pulumi stack export")).toContain('"workersMax": 3');
      const overBudget = [
        "pulumi preview --stack dev --json --show-sames --non-interactive >costs.json",
        "npx --no serverless-compute estimate --prices prices.json --max-hourly 2 costs.json || test $? = 3",
      ].join("\n");
      expect(await secondPreview(overBudget)).toContain("2.070 per hour at workersMax is above the budget of 2");
      const failed = await secondPreview(
        "sed -i 's/workersMax: 3/workersMax: -3/' Pulumi.yaml; sh preview.sh dev || cat comment.md; exit 0",
      );
      expect(failed).toMatch(/### Preview of `dev` failed[\s\S]*workersMax: is -3; must be 0 or more/);
      await secondPreview("sed -i 's/workersMax: -3/workersMax: 3/' Pulumi.yaml");
    },
  },
  "docs/guides/adopt-and-import.md": {
    fillsAccount: true,
    subfolder: "account",
    objects: async (service) => void (await createChat(service)),
    after: async (service, _room, secondPreview) => {
      expect((await service.listObjects()).endpoints).toMatchObject([{ workersMax: 2 }]);
      expect(await secondPreview("pulumi up")).toContain("4 unchanged");
    },
  },
  "docs/guides/migrate.md": {
    fillsAccount: true,
    subfolder: "moved",
    objects: async (service, environment) => {
      const ids = await createChat(service);
      const state = z.looseObject({
        deployment: z.looseObject({ resources: z.array(z.looseObject({ type: z.string() })) }),
      });
      const { deployment } = state.parse(JSON.parse(recordedStates["the official Pulumi provider"]?.text(ids) ?? ""));
      // Only the objects named by the page, without properties that have no counterpart.
      const movedProject = deployment.resources.filter(({ type }) => /:(NetworkVolume|Template|Endpoint)$/.test(type));
      const resources = movedProject.map((resource) => ({ ...resource, inputs: {} }));
      await environment.write("old.json", JSON.stringify({ deployment: { resources } }));
    },
    after: async (service, _room, secondPreview) => {
      expect((await service.listObjects()).endpoints).toMatchObject([{ workersMax: 2 }]);
      expect(await secondPreview("pulumi up")).toContain("4 unchanged");
    },
  },
  "docs/guides/stages.md": {
    onlyFull: true,
    after: async (service, _room, secondPreview) => {
      expect((await service.listObjects()).endpoints).toHaveLength(1);
      await secondPreview("pulumi destroy --stack dev");
    },
  },
  "docs/guides/blue-green.md": {
    onlyFull: true,
    after: async (service) => expect((await service.listObjects()).endpoints).toHaveLength(2),
  },
  "docs/guides/integration-tests.md": {
    onlyFull: true,
    before: "pulumi stack init dev",
    skip: ({ text }) => !isPythonPresent && text.includes("pytest"),
  },
};

const testedGuides = Object.entries(guides).filter(([, { onlyFull }]) => !onlyFull || process.env["FULL"]);

if (yaml.missing === undefined)
  describe("a reader who follows a guide", () => {
    it.each(testedGuides)("%s", async (page, guide) => {
      const {
        program = project,
        subfolder = ".",
        fillsAccount,
        before,
        objects,
        env: guideEnv = {},
        skip,
        after,
      } = guide;
      for (const value of Object.values(guideEnv)) registerSecret(value, "a value of the guide");
      const images = { "acme/echo": echo };
      const service = await (fillsAccount ? useEngineService({ images }) : useCrowdedService({ images }));
      const environment = await environmentWithPackages();
      await environment.write("Pulumi.yaml", program);
      const path = [yaml.path, environment.env["PATH"]].join(delimiter);
      const env = { ...environment.env, ...service.environment, ...guideEnv, PATH: path };
      const runIn = async (folder: string, commands: string): Promise<string> => {
        const options = {
          cwd: join(environment.folder, folder),
          env: { ...env, PULUMI_SKIP_CONFIRMATIONS: "true" },
          timeout: 120_000,
        };
        const { code, stdout, stderr } = await run("bash", ["-ec", commands], options);
        expect(code, stdout + stderr).toBe(0);
        return stdout + stderr;
      };
      const secondPreview = (commands: string): Promise<string> => runIn(subfolder, commands);
      await objects?.(service, environment);
      if (before) await runIn(".", before);
      const runs = await followPage(
        page,
        { folder: environment.folder, env },
        { fullLifecycle: true, ...(skip && { skip }) },
      );
      expect(runs.length).toBeGreaterThan(0);
      await after?.(service, environment, secondPreview);
      await secondPreview("pulumi destroy");
      if (dialect === "v2") expect(service.retiredRequests()).toEqual([]);
    });
  });
