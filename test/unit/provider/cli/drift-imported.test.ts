import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { drift } from "../../../../provider/cli/drift/drift";
import type { Properties } from "../../../../provider/engine/values";
import { type Kind, kinds } from "../../../../provider/resources";
import { scratchFolder } from "../../../support/folders";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { expectResponse, type RawResponse, send, stringAt } from "../../../support/raw-http";
import { environmentOf, recordingTerminal } from "./terminal";

const bench = await useLifecycleBench();
const folder = scratchFolder(afterAll);

/** The state of an imported object: its inputs, and the outputs that a refresh receives. */
interface ImportedState {
  inputs: Properties;
  outputs: Properties;
}

async function readObject(kind: Kind, id: string, olds: Properties): Promise<ImportedState> {
  const reading = await kinds[kind].read(id, olds, bench.context({}, "v2"));
  if (!reading) throw new Error(`${kind} ${id} does not exist`);
  return { inputs: reading.inputs, outputs: reading.outputs };
}

/** The inputs of the shortest program that changes nothing. */
function shortestProgram(kind: Kind, { inputs, outputs }: ImportedState): Properties {
  const checked = (program: Properties): Properties => kinds[kind].check(inputs, program, naming("mine")).inputs;
  const isValid = (program: Properties): boolean => {
    const { inputs: news, failures } = kinds[kind].check(inputs, program, naming("mine"));
    return failures.length === 0 && kinds[kind].diff(outputs, news, "v2").length === 0;
  };
  let program = inputs;
  for (const key of Object.keys(inputs)) {
    const { [key]: _omitted, ...rest } = program;
    if (isValid(rest)) program = rest;
  }
  return checked(program);
}

/** How a state is imported. The command stores the inputs that it reads; the option and a deployment, those of the program. */
const imports: Record<string, (kind: Kind, id: string) => Promise<ImportedState>> = {
  "the command pulumi import": (kind, id) => readObject(kind, id, {}),
  "the resource option import": async (kind, id) => {
    const { inputs, outputs } = await readObject(kind, id, {});
    return { inputs: kinds[kind].check(inputs, inputs, naming("mine")).inputs, outputs };
  },
  "the command and a deployment": async (kind, id) => {
    const state = await readObject(kind, id, {});
    return { inputs: shortestProgram(kind, state), outputs: state.outputs };
  },
};

/** The report of a refresh of one resource. */
async function report(kind: Kind, id: string, { inputs, outputs }: ImportedState): Promise<string> {
  const { inputs: refreshed } = await readObject(kind, id, outputs);
  const urn = `urn:pulumi:dev::shop::serverless-compute:index:${kind}::mine`;
  const steps = [{ op: "update", urn, oldState: { id, inputs }, newState: { id, inputs: refreshed } }];
  const file = join(folder, "refresh.json");
  await writeFile(file, JSON.stringify({ steps }));
  const { io, printed } = recordingTerminal();
  await drift({ file, format: "text" }, io, environmentOf(bench));
  return printed().out;
}

async function v2(method: "POST" | "PATCH", path: string, json: object): Promise<RawResponse> {
  const { apiKey } = bench.addresses;
  const response = await send(method, `${bench.proxy.origin}/v2/${path}`, { key: apiKey, json });
  expectResponse(response, method === "POST" ? 201 : 200);
  return response;
}

let count = 0;
const createTemplate = (fields: object = {}) =>
  bench.create("/templates", { name: `t-${++count}`, imageName: "acme/echo:1", isServerless: true, ...fields });

const cases: [
  object: string,
  kind: keyof typeof kinds,
  create: () => Promise<string>,
  change: [string, object],
  line: string,
][] = [
  [
    "a template",
    "Template",
    createTemplate,
    ["templates", { image: "acme/echo:2" }],
    'imageName: "acme/echo:1" → "acme/echo:2"',
  ],
  [
    "a template with every section",
    "Template",
    () => createTemplate({ containerDiskInGb: 7, env: { A: "1" }, ports: ["1/tcp"], readme: "# A" }),
    ["templates", { env: { A: "2" } }],
    'env.A: "1" → "2"',
  ],
  [
    "a template of pods",
    "Template",
    () => createTemplate({ isServerless: false, volumeInGb: 20, containerDiskInGb: 20 }),
    ["templates", { disk: 30 }],
    "containerDiskInGb: 20 → 30",
  ],
  [
    "an endpoint",
    "ServerlessEndpoint",
    async () =>
      bench.create("/endpoints", {
        name: "chat",
        templateId: await createTemplate(),
        gpuTypeIds: ["NVIDIA L4"],
        workersMax: 1,
      }),
    ["serverless", { workers: { max: 2 } }],
    "workersMax: 1 → 2",
  ],
  [
    "an endpoint without GPU types",
    "ServerlessEndpoint",
    async () =>
      bench.create("/endpoints", {
        name: "chat",
        templateId: await createTemplate(),
        computeType: "CPU",
        cpuFlavorIds: ["cpu3c"],
        workersMax: 1,
      }),
    ["serverless", { workers: { max: 2 } }],
    "workersMax: 1 → 2",
  ],
  [
    "a volume",
    "NetworkVolume",
    () => bench.create("/networkvolumes", { name: "models", size: 10, dataCenterId: "EU-RO-1" }),
    ["network-volumes", { size: 20 }],
    "size: 10 → 20",
  ],
  [
    "a volume of a type",
    "NetworkVolume",
    async () =>
      stringAt(
        await v2("POST", "network-volumes", { name: "fast", size: 10, dataCenter: "EU-RO-1", type: "STANDARD" }),
        "id",
      ),
    ["network-volumes", { name: "slow" }],
    'name: "fast" → "slow"',
  ],
  [
    "a secret",
    "Secret",
    async () =>
      stringAt(
        await v2("POST", "account/secrets", { name: `HF_TOKEN_${++count}`, value: "sesame-77d1", description: "a" }),
        "id",
      ),
    ["account/secrets", { description: "b" }],
    'description: "a" → "b"',
  ],
];

describe.each(Object.entries(imports))("after an import by %s, drift of", (_, importObject) => {
  test.each(cases)("%s lists the changed property only", async (_object, kind, create, [path, change], line) => {
    const id = await create();
    const state = await importObject(kind, id);
    await v2("PATCH", `${path}/${id}`, change);
    expect((await report(kind, id, state)).split("\n").slice(3)).toEqual([`  ${line}`]);
  });
});
