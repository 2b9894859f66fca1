import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { recover } from "../../../../provider/cli/recover/recover";
import { kinds } from "../../../../provider/resources";
import { scratchFolder } from "../../../support/folders";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { environmentOf, recordingTerminal } from "./terminal";

const bench = await useLifecycleBench();
const folder = scratchFolder(afterAll);

type ObjectKind = Exclude<keyof typeof kinds, "JobInvoke">;
const typesOf = { dynamic: "pulumi-nodejs:dynamic/serverless:", plugin: "serverless-compute:index:" };
const urnOf = (kind: string, name = "chat", variant: keyof typeof typesOf = "plugin"): string =>
  `urn:pulumi:dev::shop::${typesOf[variant]}${kind}::${name}`;
const provider = (inputs: object = {}, name = "default") => {
  const type = "pulumi:providers:serverless-compute";
  return { urn: `urn:pulumi:dev::shop::${type}::${name}`, type, custom: true, id: `id-of-${name}`, inputs };
};
const referenceTo = ({ urn, id }: { urn: string; id: string }): string => `${urn}::${id}`;
const resource = (urn: string, properties: object = {}) => ({
  urn,
  type: urn.split("::")[2],
  custom: true,
  provider: referenceTo(provider()),
  ...properties,
});
const pending = (urn: string, name: unknown, properties: object = {}) => ({
  type: "creating",
  resource: resource(urn, { inputs: { name }, ...properties }),
});

/** Runs the command on a state file. */
async function run(
  { resources = [], operations = [] }: { resources?: object[]; operations?: object[] },
  flags: { json?: true; import?: string[]; ignore?: string[]; dialect?: string; environment?: NodeJS.ProcessEnv } = {},
) {
  const file = join(folder, "state.json");
  const deployment = { resources: [provider(), ...resources], pending_operations: operations };
  await writeFile(file, JSON.stringify({ version: 3, deployment }));
  const { io, printed } = recordingTerminal();
  const environment = flags.environment ?? environmentOf(bench, flags.dialect);
  const code = await recover({ file, import: [], ignore: [], ...flags }, io, environment);
  const { out, err } = printed();
  expect(out + err).not.toContain(bench.addresses.apiKey);
  return { code, out };
}
const reportOf = async (...args: Parameters<typeof run>) => {
  const { code, out } = await run(args[0], { ...args[1], json: true });
  return { code, ...JSON.parse(out) };
};

const created: { kind: ObjectKind; id: string }[] = [];
async function create(kind: ObjectKind, input: Record<string, string | number>): Promise<string> {
  const lifecycle = kinds[kind];
  const { inputs, failures } = lifecycle.check({}, input, naming());
  expect(failures).toEqual([]);
  const { id } = await lifecycle.create(inputs, bench.context());
  created.push({ kind, id });
  return id;
}
const volume = (name: string): Promise<string> => create("NetworkVolume", { name, size: 10, dataCenterId: "EU-RO-1" });
afterEach(async () => {
  for (const { kind, id } of created.splice(0).reverse()) await kinds[kind].delete(id, {}, bench.context());
});

describe.each(["v1", "v2"])("pending creates in dialect %s", (dialect) => {
  it("are found by name and kind for every kind, for dynamic resources and for the plugin", async () => {
    const templateId = await create("Template", { name: "chat-dev-00000a1", imageName: "acme/echo:1" });
    const ids: Record<ObjectKind, string> = {
      Template: templateId,
      Secret: await create("Secret", { name: "chat-dev-00000a1", value: "sesame-9c1f" }),
      NetworkVolume: await volume("chat-dev-00000a1"),
      ContainerRegistryAuth: await create("ContainerRegistryAuth", {
        name: "chat-dev-00000a1",
        username: "u",
        password: "sesame-52d1",
      }),
      ServerlessEndpoint: await create("ServerlessEndpoint", { name: "chat-dev-00000a1", templateId }),
    };
    for (const variant of ["dynamic", "plugin"] as const) {
      const operations = Object.keys(ids).map((kind) => pending(urnOf(kind, "chat", variant), "chat-dev-00000a1"));
      const { code, creates, orphans } = await reportOf({ operations }, { dialect });
      expect({ code, orphans }).toEqual({ code: 3, orphans: [] });
      expect(creates.map(({ kind, outcome, object }: never) => ({ kind, outcome, object }))).toEqual(
        Object.entries(ids).map(([kind, id]) => ({
          kind,
          outcome: "found",
          object: expect.objectContaining({ id, name: "chat-dev-00000a1" }),
        })),
      );
    }
  });

  it("without an object can be cleared", async () => {
    await volume("other-dev-00000a1");
    const { code, out } = await run({ operations: [pending(urnOf("NetworkVolume"), "chat-dev-00000a1")] }, { dialect });
    expect(code).toBe(3);
    expect(out).toMatchInlineSnapshot(`
      "1 pending create:

      NetworkVolume "chat": not created; no object is named "chat-dev-00000a1". The pending create can be cleared.
        urn:pulumi:dev::shop::serverless-compute:index:NetworkVolume::chat

      To clear 1 pending create, run:
        npx --no serverless-compute recover --yes
      or:
        pulumi refresh --clear-pending-creates --yes"
    `);
  });
});

describe("objects that may be unmanaged", () => {
  const operations = [pending(urnOf("NetworkVolume"), "models")];

  it("are listed and not imported if the program sets the name", async () => {
    const ids = [await volume("models"), await volume("models")];
    const { code, out } = await run({ operations });
    expect(code).toBe(3);
    expect(out).toContain('the account has 2 objects named "models", perhaps from another program');
    for (const id of ids) expect(out).toContain(`  ${id}  "models"`);
    expect(out).not.toContain("--yes");
  });

  it("are imported or ignored on request", async () => {
    const [first, second] = [await volume("models"), await volume("models")];
    expect((await reportOf({ operations }, { import: [first] })).creates).toMatchObject([
      { outcome: "found", object: { id: first } },
    ]);
    expect((await reportOf({ operations }, { ignore: [first] })).creates).toMatchObject([
      { outcome: "candidates", objects: [{ id: second }] },
    ]);
    expect((await reportOf({ operations }, { ignore: [first, second] })).creates).toMatchObject([
      { outcome: "absent" },
    ]);
    const { out } = await run({ operations }, { import: [first] });
    expect(out).toContain(`npx --no serverless-compute recover --import ${first} --yes`);
    const { out: quoted } = await run({ operations }, { import: [first], ignore: ["it's"] });
    expect(quoted).toContain(`recover --import ${first} --ignore 'it'\\''s' --yes`);
  });

  it("are not candidates if they belong to another resource of the state", async () => {
    const id = await volume("models");
    const resources = [resource(urnOf("NetworkVolume", "shared"), { id })];
    expect((await reportOf({ resources, operations })).creates).toMatchObject([{ outcome: "absent" }]);
  });
});

describe("orphans", () => {
  it("are objects with default names of the stack's resources outside the state", async () => {
    const keptId = await volume("chat-dev-00000a1");
    const unfinished = await volume("chat-dev-00000a2");
    for (const name of ["chat-dev-00000a", "chat-dev-0000zz1", "chat-prod-00000a1", "models-dev-00000a1"])
      await volume(name);
    await create("Secret", { name: "chat-dev-00000a1", value: "sesame-1d52" });
    const resources = [resource(urnOf("NetworkVolume"), { id: keptId })];
    const { code, creates, orphans } = await reportOf({ resources });
    expect({ code, creates }).toEqual({ code: 0, creates: [] });
    expect(orphans).toEqual([
      expect.objectContaining({ kind: "NetworkVolume", id: unfinished, name: "chat-dev-00000a2" }),
    ]);
  });

  it("include the object of a pending create whose resource was created again", async () => {
    const [keptId, unfinished] = [await volume("models"), await volume("models")];
    const resources = [resource(urnOf("NetworkVolume"), { id: keptId })];
    const operations = [pending(urnOf("NetworkVolume"), "models")];
    const { creates, orphans } = await reportOf({ resources, operations });
    expect(creates).toMatchObject([{ outcome: "superseded" }]);
    expect(orphans).toMatchObject([{ id: unfinished }]);
  });

  it("include all but one object of a resource that was interrupted twice", async () => {
    const [first, second] = [await volume("chat-dev-00000a1"), await volume("chat-dev-00000a2")];
    const operations = ["chat-dev-00000a1", "chat-dev-00000a2"].map((name) => pending(urnOf("NetworkVolume"), name));
    const { creates, orphans } = await reportOf({ operations });
    expect(creates).toMatchObject([{ outcome: "found", object: { id: first } }, { outcome: "superseded" }]);
    expect(orphans).toMatchObject([{ id: second }]);
  });
});

describe("the state", () => {
  it("provides the account's settings, so that the environment need not contain them", async () => {
    await volume("chat-dev-00000a1");
    const secret = {
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      plaintext: JSON.stringify(bench.addresses.apiKey),
    };
    const westProvider = provider({ apiKey: secret, url: bench.proxy.origin }, "west");
    const operations = [pending(urnOf("NetworkVolume"), "chat-dev-00000a1", { provider: referenceTo(westProvider) })];
    const { creates } = await reportOf({ resources: [westProvider], operations }, { environment: {} });
    expect(creates).toMatchObject([{ outcome: "found" }]);
  });

  it("without a readable key leads to an error that names the setting", async () => {
    const operations = [pending(urnOf("NetworkVolume"), "chat-dev-00000a1")];
    await expect(run({ operations }, { environment: {} })).rejects.toThrow(/the API key of .* is missing/);
  });

  it("may contain pending operations of other packages, and jobs, which are not looked up", async () => {
    const operations = [
      { type: "creating", resource: resource("urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs") },
      { type: "updating", resource: resource(urnOf("Template"), { id: "t1" }) },
      pending(urnOf("JobInvoke", "smoke"), undefined),
    ];
    bench.proxy.clear();
    const { code, out } = await run({ operations });
    expect(code).toBe(3);
    expect(out).toMatchInlineSnapshot(`
      "1 pending create:

      JobInvoke "smoke": a job cannot be imported. Clear the pending create; the next \`pulumi up\` submits another job.
        urn:pulumi:dev::shop::serverless-compute:index:JobInvoke::smoke

      Pending creates of other packages; resolve them first:
        urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs

      Other pending operations; \`pulumi refresh\` completes them:
        updating urn:pulumi:dev::shop::serverless-compute:index:Template::chat"
    `);
    expect(bench.drainRequests()).toEqual([]);
  });

  it.each([
    ["ciphertext", { ciphertext: "v1:x" }],
    ["plain text, which is not printed", { plaintext: '"chat-dev-5a7e11c"' }],
  ])("with a secret name leave the search to the user: %s", async (_, value) => {
    const name = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ...value };
    const { code, out } = await run({ operations: [pending(urnOf("NetworkVolume"), name)] });
    expect(code).toBe(3);
    expect(out).toContain(
      'NetworkVolume "chat": unclear whether it was created. Its name is secret. Look for its object in the account.',
    );
    expect(out).not.toContain("5a7e11c");
  });

  it("without pending operations and orphans needs no recovery", async () => {
    expect(await run({})).toEqual({
      code: 0,
      out: "Nothing to recover: no pending operations, no unfinished objects.",
    });
  });
});

// Runs last, because its objects remain.
it("a list that may be capped does not prove that an object is missing", async () => {
  const secretOf = (suffix: number) =>
    `mutation { secretCreate(input: { name: "other-${suffix}", value: "v" }) { id } }`;
  await Promise.all(Array.from({ length: 50 }, (_, suffix) => bench.graphql(secretOf(suffix))));
  const operations = [pending(urnOf("Secret"), "chat-dev-00000a1")];
  // REST v2 states that its list is complete.
  expect((await reportOf({ operations })).creates).toMatchObject([{ outcome: "absent" }]);
  const { creates } = await reportOf({ operations }, { dialect: "v1" });
  expect(creates).toMatchObject([
    { outcome: "unclear", reason: "The service lists 50 objects of this kind and may have more." },
  ]);
});
