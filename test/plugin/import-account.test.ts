import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { z } from "zod";
import { findHost } from "../../scripts/cli/hosts.mjs";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { runChecked } from "../support/run-checked";
import { registerSecret } from "../support/secret-scan";
import { importProject } from "./support/imported-project";
import { findPython } from "./support/python";
import { missingGo, sdkFor } from "./support/sdk";
import { pluginWay } from "./support/way";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();
const isFull = Boolean(process.env["FULL"]);
const python = isFull ? await findPython(await sdkFor("python")) : undefined;
const goSdk = isFull ? await sdkFor("go") : undefined;
/** Secret values of the imported objects, which must never be shown. */
const secrets = { value: "sesame-91c0", password: "whisper-91c1" };

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  for (const value of Object.values(secrets)) registerSecret(value, "a secret of the account");
  service = await useEngineService();
  stack = await pluginWay.createStack({ ...service.environment, PATH: yaml.path });
  const create = async (path: string, body: object): Promise<string> =>
    z.looseObject({ id: z.string() }).parse(await service.rest("POST", path, body)).id;
  await service.graphql(
    `mutation { secretCreate(input: { name: "HF_TOKEN", value: "${secrets.value}", description: "für 模型" }) { id } }`,
  );
  const auth = { name: "registry", username: "me", password: secrets.password };
  const containerRegistryAuthId = await create("/containerregistryauth", auth);
  const volumes = [10, 20].map((size) => create("/networkvolumes", { name: "models", size, dataCenterId: "EU-RO-1" }));
  const [networkVolumeId] = await Promise.all(volumes);
  const env = { TOKEN: "{{ RUNPOD_SECRET_HF_TOKEN }}", TEXT: `a "b": $\${HOME} # \${HOME}\n`, 模型: "yes" };
  const workers = { imageName: image("echo"), isServerless: true, env, ports: ["8888/http"], containerDiskInGb: 5 };
  const templateId = await create("/templates", { ...workers, name: "模型", containerRegistryAuthId });
  const cpu = { imageName: image("echo"), isServerless: true, dockerStartCmd: ["a", "b c"] };
  const cpuTemplateId = await create("/templates", { ...cpu, name: "class" });
  await create("/templates", { name: "3d pod", imageName: "acme/pod:1", isServerless: false, volumeInGb: 20 });
  const endpoint = {
    name: "chat",
    templateId,
    networkVolumeId,
    gpuTypeIds: ["NVIDIA L4"],
    workersMax: 1,
    idleTimeout: 9,
  };
  await create("/endpoints", endpoint);
  const cpuTemplate = { computeType: "CPU", cpuFlavorIds: ["cpu3c"], scalerType: "REQUEST_COUNT", workersMax: 2 };
  await create("/endpoints", { name: "chat", templateId: cpuTemplateId, ...cpuTemplate, flashboot: true });
});
afterAll(() => stack.remove());

/** One program; every dialect and language in full runs. */
const cases = [
  ["v2", "typescript"],
  ...(isFull
    ? [
        ["v1", "typescript"],
        ["v1", "yaml"],
        ["v2", "yaml"],
      ]
    : []),
].filter(([, language]) => language !== "yaml" || yaml.missing === undefined);
if (python?.missing === undefined && python) cases.push(["v2", "python"]);
if (goSdk && "folder" in goSdk && (await missingGo()) === undefined) {
  // In the folder of the host for YAML, which is on PATH.
  const host = await findHost("go", inject("cli"));
  if ("folder" in host) cases.push(["v2", "go"]);
}

/** Installs the packages of a project in languages that require more than the Node SDK. */
const installers: Record<string, (folder: string) => Promise<void>> = {
  python: (folder) => symlink(python?.venv ?? "", join(folder, "venv")),
  go: async (folder) => {
    if (goSdk && "folder" in goSdk) await cp(goSdk.folder, join(folder, "sdks", "go"), { recursive: true });
    await runChecked("go", ["-C", folder, "mod", "tidy"]);
  },
};

it.each(cases)(
  "imports an account in dialect %s as a program in %s that changes nothing",
  async (dialect = "", language = "") => {
    const before = await service.listObjects();
    const address = { SERVERLESS_COMPUTE_BASE_URL: `${service.proxy.origin}/${dialect}` };
    const environment = { ...address, ...(language === "python" && python && { PATH: python.path }) };
    const { report, preview } = await importProject(stack, language, environment, service.proxy, installers[language]);
    expect(report).toMatchObject({ skipped: [], config: expect.arrayContaining(["hfTokenSecretValue"]) });
    expect(report.resources).toHaveLength(9);
    expect(preview.output).toMatch(/10 unchanged/);
    expect(await service.listObjects()).toEqual(before);
  },
);
