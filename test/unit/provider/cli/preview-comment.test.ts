import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { command } from "./terminal";

const path = (name: string): string =>
  fileURLToPath(new URL(`../../../fixtures/previews/${name}.json`, import.meta.url));
const recorded = (name: string): string => readFileSync(path(name), "utf8");
async function comment(preview: string, ...options: string[]): Promise<string> {
  const { code, out, err } = await command(["preview-comment", ...options], preview);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}
/** A preview whose only step is this one. */
const previewOf = (step: object, ...diagnostics: object[]): string =>
  JSON.stringify({
    steps: [{ urn: "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs", ...step }],
    diagnostics,
    changeSummary: { same: 7 },
  });

describe("the comment of a recorded preview", () => {
  it("lists replacements and deletions first, with resource, property, both values and warnings", async () => {
    expect(await comment(recorded("plugin"))).toMatchInlineSnapshot(`
      "<!-- pulumi preview of dev -->
      ### Preview of \`dev\`

      1 to replace, 1 to delete, 4 to update, 1 to create; 1 unchanged.

      | operation | resource | property | old → new |
      | --- | --- | --- | --- |
      | **replace** | \`models\` NetworkVolume | \`dataCenterId\` forces replacement | \`"EU-RO-1"\` → \`"EU-SE-1"\` |
      |  |  | ⚠️ warning | dataCenterId: a replaced volume loses its data |
      | **delete** | \`old\` NetworkVolume |  |  |
      | update | \`token\` Secret | \`value\` | \`[secret]\` → \`[secret]\` |
      | update | \`chat\` ServerlessEndpoint | \`networkVolumeId\` | \`"7p8t2i59gd"\` → known after deployment |
      |  |  | \`workersMax\` | \`1\` → \`3\` |
      |  |  | ⚠️ warning | workersMax: active workers may restart |
      | update | \`embed\` ServerlessEndpoint | \`workersMax\` | \`2\` → \`5\` |
      |  |  | ⚠️ warning | workersMax: active workers may restart |
      | update | \`chat\` Template | \`env.EXTRA\` | not set → \`"a\\|b"\` |
      |  |  | \`env.MODE\` | \`"slow"\` → \`"fast"\` |
      |  |  | \`env.OLD\` | \`"1"\` → not set |
      |  |  | \`imageName\` | \`"acme/echo:1"\` → \`"acme/echo:2"\` |
      | create | \`vision\` Template | \`imageName\` | \`"acme/echo:1"\` |"
    `);
  });

  it("matches the example in the documentation", async () => {
    const page = readFileSync(new URL("../../../../docs/command-line.md", import.meta.url), "utf8");
    const [, example] = /```markdown\n(.*?)\n```/s.exec(page) ?? [];
    expect(example, "docs/command-line.md").toBe(await comment(recorded("plugin")));
  });

  it("of dynamic resources differs in the ids only", async () => {
    const ids = (text: string): string => text.replace(/`"[0-9a-z]{10}"`/g, "`id`");
    expect(ids(await comment(recorded("dynamic")))).toBe(ids(await comment(recorded("plugin"))));
  });

  it("of a failed preview begins with its errors", async () => {
    expect((await comment(recorded("failed"))).split("\n").slice(0, 9)).toEqual([
      "<!-- pulumi preview of dev -->",
      "### Preview of `dev` failed",
      "",
      "````text",
      'ServerlessEndpoint "chat": workersMax: is -3; must be 0 or more',
      "````",
      "",
      expect.stringMatching(/^1 to replace, .*; 2 unchanged\.$/),
      "",
    ]);
  });

  it("of a failed preview lists no component that Pulumi interrupted, unless there is no other error", async () => {
    const interrupted = {
      message:
        "error: serverless-compute:index:VerifiedEndpoint resource 'chat' has a problem: grpc: the client connection is closing",
      severity: "error",
    };
    const cause = { message: "error: no such image", severity: "error" };
    const errorsOf = async (...errors: object[]) =>
      (await comment(previewOf({ op: "same" }, ...errors))).split("\n").slice(4, 6);
    expect(await errorsOf(interrupted, cause)).toEqual(["no such image", "````"]);
    expect(await errorsOf(interrupted)).toEqual(["grpc: the client connection is closing", "````"]);
  });

  it("of a YAML program with an unknown property begins with its error", async () => {
    const stderr = [
      "\u001b[31mError\u001b[0m: Property workerMax does not exist on 'serverless-compute:index:ServerlessEndpoint'\n\n",
      "  on Pulumi.yaml line 20:\n\n",
      "  20:       \u001b[1;4mworkerMax\u001b[0m: 3\n\n",
    ].map((message) => ({ message, severity: "info#err" }));
    expect((await comment(previewOf({ op: "same" }, ...stderr))).split("\n").slice(1)).toEqual([
      "### Preview of `dev` failed",
      "",
      "````text",
      "Error: Property workerMax does not exist on 'serverless-compute:index:ServerlessEndpoint'",
      "on Pulumi.yaml line 20:",
      "20:       workerMax: 3",
      "````",
    ]);
    const warning = { message: "\u001b[33mWarning\u001b[0m: a deprecated field\n", severity: "info#err" };
    expect(await comment(previewOf({ op: "same" }, warning))).toMatch(/\n\nNo changes; 7 unchanged\.$/);
  });

  it("does not depend on the order of steps or on provisional names", async () => {
    for (const name of ["plugin", "dynamic"]) {
      const { steps, diagnostics, changeSummary } = JSON.parse(recorded(name));
      for (const { op, newState } of steps)
        if (op === "replace" || op === "create")
          newState.inputs.name = newState.inputs.name.replace(/.{7}$/, "0a1b2c3");
      const other = JSON.stringify({
        steps: steps.reverse(),
        diagnostics: diagnostics.reverse(),
        changeSummary,
        duration: 1,
      });
      expect(await comment(other)).toBe(await comment(recorded(name)));
    }
  });

  it("can be read from a file, and uses the stack of the command line", async () => {
    const { out } = await command(["preview-comment", "--stack", "acme/prod", path("plugin")]);
    expect(out).toMatch(/^<!-- pulumi preview of acme\/prod -->\n### Preview of `acme\/prod`\n/);
  });

  it("has the same rows as JSON", async () => {
    const { out } = await command(["preview-comment", "--json", path("plugin")]);
    expect(JSON.parse(out)).toMatchObject([
      {
        operation: "replace",
        resource: "models",
        type: "NetworkVolume",
        properties: [{ property: "dataCenterId", old: "EU-RO-1", new: "EU-SE-1", forcesReplacement: true }],
        warnings: ["dataCenterId: a replaced volume loses its data"],
      },
      ...Array.from({ length: 6 }, () => ({})),
    ]);
  });
});

describe("a comment", () => {
  it("redacts the previous value of an input that becomes secret", async () => {
    const secret = (value: unknown) => ({
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      value,
    });
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:Template::chat";
    const olds = { env: { TOKEN: "hf_1", A: "1" }, imageName: "hf_2", ports: ["hf_3"] };
    const news = { env: { TOKEN: secret("hf_1"), A: "2" }, imageName: secret("hf_2"), ports: [secret("hf_3")] };
    const out = await comment(previewOf({ urn, op: "update", oldState: { inputs: olds }, newState: { inputs: news } }));
    expect(out).not.toContain("hf_");
    expect(out).toContain('`env.A` | `"1"` → `"2"` |');
    expect(out).toContain("`env.TOKEN` | `[secret]` → `[secret]` |");
    expect(out).toContain("`imageName` | `[secret]` → `[secret]` |");
  });

  it("names unknown values at any depth", async () => {
    const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:ServerlessEndpoint::chat";
    const inputs = { templateId: unknown, env: { HOST: unknown, A: "1" }, networkVolumeIds: ["v1", unknown] };
    const out = await comment(previewOf({ urn, op: "create", newState: { inputs } }));
    expect(out).toContain("`templateId` | known after deployment |");
    expect(out).toContain('`env` | `{"HOST":known after deployment,"A":"1"}` |');
    expect(out).toContain('`networkVolumeIds` | `["v1",known after deployment]` |');
    const rows = await comment(previewOf({ urn, op: "create", newState: { inputs } }), "--json");
    expect(rows).toContain('"new": "known after deployment"');
    expect(rows).not.toContain(unknown);
  });

  it("redacts plain variables whose names look like credentials, and still lists their changes", async () => {
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:Template::chat";
    const template = (env: object) => ({ inputs: { imageName: "acme/chat:1", env } });
    const created = await comment(previewOf({ urn, op: "create", newState: template({ HF_TOKEN: "hf_1", A: "1" }) }));
    expect(created).not.toContain("hf_");
    expect(created).toContain('"HF_TOKEN":"[secret]"');
    const oldState = template({ HF_TOKEN: "hf_1", A: "1" });
    const newState = template({ HF_TOKEN: "hf_2", A: "2" });
    const updated = await comment(previewOf({ urn, op: "update", oldState, newState }));
    expect(updated).not.toContain("hf_");
    expect(updated).toContain("`env.HF_TOKEN` | `[secret]` → `[secret]` |");
    expect(updated).toContain('`env.A` | `"1"` → `"2"` |');
  });

  it.each([
    [
      "of the plugin",
      { detailedDiff: { "env.TOKEN": {}, "env.MODE": {}, 'env["a.b"]': {}, dockerStartCmd: {} } },
      ["`env.TOKEN`", '`env["a.b"]`', "`dockerStartCmd`"],
    ],
    [
      "of a resource of the plugin that is replaced",
      { detailedDiff: { "env.TOKEN": {}, "env.MODE": {} }, replaceReasons: ["env"] },
      ["`env.TOKEN` forces replacement"],
    ],
    [
      "of a dynamic resource that is replaced",
      { detailedDiff: null, replaceReasons: ["imageName", "dockerStartCmd"] },
      ["`dockerStartCmd` forces replacement"],
    ],
  ])("lists changed secrets %s beside other changes, and no unchanged secret", async (_, parts, expected) => {
    const secret = "[secret]";
    const olds = {
      env: { TOKEN: secret, KEPT: secret, "a.b": secret, MODE: "1" },
      imageName: "a:1",
      dockerStartCmd: secret,
    };
    const news = { ...olds, env: { ...olds.env, MODE: "2" }, imageName: "a:2" };
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:Template::chat";
    const step = { op: "update", urn, oldState: { inputs: olds }, newState: { inputs: news }, ...parts };
    const rows = (await comment(previewOf(step))).split("\n").filter((row) => row.includes("`[secret]` → `[secret]`"));
    const properties = rows.map((row) => row.split(" | ")[2]);
    expect(properties).toEqual(expected);
  });

  it("lists all secrets of a dynamic resource without another change, because Pulumi does not report the changed ones", async () => {
    const inputs = { inputs: { env: { TOKEN: "[secret]", MODE: "1" }, imageName: "a:1" } };
    const urn = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/serverless:Template::chat";
    const out = await comment(previewOf({ op: "update", urn, oldState: inputs, newState: inputs, detailedDiff: null }));
    expect(out).toContain("| update | `chat` Template | `env.TOKEN` | `[secret]` → `[secret]` |");
  });

  it("omits a difference that is no change in the provider's dialect", async () => {
    const [olds, news] = [
      ["NVIDIA L4", "NVIDIA A40"],
      ["NVIDIA A40", "NVIDIA L4"],
    ].map((gpuTypeIds, index) => ({
      inputs: { templateId: "t", gpuTypeIds, workersMax: index },
    }));
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:ServerlessEndpoint::chat";
    const step = { op: "update", urn, oldState: olds, newState: news };
    const comparedWith = (detailedDiff: object) => comment(previewOf({ ...step, detailedDiff }));
    expect(await comparedWith({ workersMax: {} })).not.toContain("gpuTypeIds");
    expect(await comparedWith({ workersMax: {}, gpuTypeIds: {} })).toContain("gpuTypeIds");
  });

  it("redacts secrets even if the preview contains them", async () => {
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:Secret::token";
    const wrapped = {
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      plaintext: '"sesame-7a"',
    };
    const step = (value: unknown) => ({ inputs: { value, name: "n", nested: { list: [wrapped] } } });
    const out = await comment(
      previewOf({
        urn,
        op: "update",
        oldState: step("sesame-1"),
        newState: step("sesame-2"),
        detailedDiff: { value: {} },
      }),
    );
    expect(out).toContain("| update | `token` Secret | `value` | `[secret]` → `[secret]` |");
    expect(out).not.toContain("sesame");
    expect(await comment(previewOf({ urn, op: "create", newState: step("sesame-2") }))).not.toContain("sesame");
  });

  it("escapes markup in values and messages", async () => {
    const sides = {
      oldState: { inputs: { a: "x" } },
      newState: { inputs: { a: "`|\n<b>", "b c": ["y".repeat(200)] } },
    };
    const out = await comment(
      previewOf(
        { op: "update", ...sides },
        {
          urn: "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs",
          message: "warning: a|b\n<script> @team",
          severity: "warning",
        },
      ),
    );
    expect(out.split("\n").slice(-3)).toEqual([
      '| update | `logs` Bucket | `a` | `"x"` → ``"`\\|\\n<b>"`` |',
      `|  |  | \`["b c"]\` | not set → \`["${"y".repeat(118)}…\` |`,
      "|  |  | ⚠️ warning | a\\|b \\<script\\> \\@team |",
    ]);
  });

  it("without changes states that, with warnings of unchanged resources", async () => {
    expect(await comment(previewOf({ op: "same" }))).toMatch(/\n\nNo changes; 7 unchanged\.$/);
    const urn = "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs";
    const out = await comment(previewOf({ op: "same" }, { urn, message: "warning: old", severity: "warning" }));
    expect(out).toContain("| none | `logs` Bucket | ⚠️ warning | old |");
  });

  it("names an error's property once, without the value in Go's form", async () => {
    const urn = "urn:pulumi:dev::shop::serverless-compute:index:ServerlessEndpoint::chat";
    const subject = "error: serverless-compute:index:ServerlessEndpoint resource 'chat'";
    for (const message of [
      `${subject} has a problem: workersMax: is -3; must be 0 or more`,
      `${subject}: property workersMax value {-3} has a problem: is -3; must be 0 or more\n`,
    ]) {
      const out = await comment(previewOf({ op: "same" }, { urn, message, severity: "error" }));
      expect(out).toContain('\nServerlessEndpoint "chat": workersMax: is -3; must be 0 or more\n');
    }
  });

  it("stays within GitHub's limit", async () => {
    const steps = Array.from({ length: 3000 }, (_, index) => ({
      urn: `urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs-${index}`,
      op: "delete",
      oldState: { inputs: {} },
    }));
    const out = await comment(JSON.stringify({ steps }));
    expect(out.length).toBeLessThan(65_536);
    expect(out).toMatch(/\n\n\d+ more resources omitted\.$/);
  });

  it.each(["", "{", '{"steps": [1]}', "{}", '{"version": 3, "deployment": {}}'])(
    "rejects the input %j",
    async (input) => {
      const { code, out, err } = await command(["preview-comment"], input);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toBe("serverless-compute: the input is not a preview; pass the output of `pulumi preview --json`");
    },
  );
});
