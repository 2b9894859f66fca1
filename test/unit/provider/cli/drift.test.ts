import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { scratchFolder } from "../../../support/folders";
import { command } from "./terminal";

/** Recorded refreshes; this one has a changed template and endpoint, a deleted volume, a secret and a volume without changes. */
const fixture = (name: string): string => fileURLToPath(new URL(`../../../fixtures/previews/${name}`, import.meta.url));
const recorded = fixture("drift.json");

const report = (format: string, file = recorded) => command(["drift", "--file", file, "--format", format]);

const folder = scratchFolder(afterAll);
async function fileWith(text: string): Promise<string> {
  const file = join(folder, "refresh.json");
  await writeFile(file, text);
  return file;
}

test("text: names each resource that differs, with the values in the state and in the service", async () => {
  const { code, out, err } = await report("text");
  expect({ code, err }).toEqual({
    code: 3,
    err: expect.stringMatching(/^The report contains no releases: the API key of /),
  });
  expect(out).toMatchInlineSnapshot(`
    "Drift in 3 of 5 resources of dev (state → service):

    NetworkVolume "cache"
      the service no longer has this object

    ServerlessEndpoint "chat"
      workersMax: 1 → 3
      warning: env did not change: the endpoint keeps the previous settings of template "template"

    Template "template"
      env.MODE: "slow" → "fast"
      env.TOKEN: "{{ RUNPOD_SECRET_token-dev-f68c758 }}" → [secret]"
  `);
});

test("markdown: is the table of a preview comment", async () => {
  expect((await report("markdown")).out).toMatchInlineSnapshot(`
    "### Drift in \`dev\`

    Drift in 3 of 5 resources of dev (state → service):

    | operation | resource | property | state → service |
    | --- | --- | --- | --- |
    | **delete** | \`cache\` NetworkVolume |  |  |
    | update | \`chat\` ServerlessEndpoint | \`workersMax\` | \`1\` → \`3\` |
    |  |  | ⚠️ warning | env did not change: the endpoint keeps the previous settings of template "template" |
    | update | \`template\` Template | \`env.MODE\` | \`"slow"\` → \`"fast"\` |
    |  |  | \`env.TOKEN\` | \`"{{ RUNPOD_SECRET_token-dev-f68c758 }}"\` → \`[secret]\` |"
  `);
});

test("junit: contains a test case for each resource, and a failure for each difference", async () => {
  expect((await report("junit")).out).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <testsuite name="drift of dev" tests="5" failures="3">
      <testcase classname="NetworkVolume" name="models"/>
      <testcase classname="Secret" name="token"/>
      <testcase classname="NetworkVolume" name="cache">
        <failure message="the service no longer has this object">the service no longer has this object</failure>
      </testcase>
      <testcase classname="Template" name="template">
        <failure message="env.MODE: &#34;slow&#34; → &#34;fast&#34;">env.MODE: &#34;slow&#34; → &#34;fast&#34;&#10;env.TOKEN: &#34;{{ RUNPOD_SECRET_token-dev-f68c758 }}&#34; → [secret]</failure>
      </testcase>
      <testcase classname="ServerlessEndpoint" name="chat">
        <failure message="workersMax: 1 → 3">workersMax: 1 → 3&#10;warning: env did not change: the endpoint keeps the previous settings of template &#34;template&#34;</failure>
      </testcase>
    </testsuite>"
  `);
});

test("json: contains the compared resources and the differences", async () => {
  const { stack, resources, drifted } = JSON.parse((await report("json")).out);
  expect(stack).toBe("dev");
  expect(resources).toHaveLength(5);
  expect(
    drifted.map(({ operation, resource }: { operation: string; resource: string }) => [operation, resource]),
  ).toEqual([
    ["delete", "cache"],
    ["update", "chat"],
    ["update", "template"],
  ]);
});

test("exits with 0 and one sentence if nothing differs", async () => {
  const { steps, ...rest } = JSON.parse(readFileSync(recorded, "utf8"));
  const same = steps.filter(({ op }: { op: string }) => op === "refresh");
  const file = await fileWith(JSON.stringify({ ...rest, diagnostics: [], steps: same, changeSummary: { same: 2 } }));
  expect(await report("text", file)).toEqual({
    code: 0,
    err: "",
    out: "No drift in 2 resources of dev.",
  });
});

test("fails with the reason of a refresh that failed", async () => {
  const urn = "urn:pulumi:dev::shop::serverless-compute:index:NetworkVolume::models";
  const diagnostics = [{ urn, message: "error: Preview failed: rejected the API key\n", severity: "error" }];
  const file = await fileWith(JSON.stringify({ steps: [], diagnostics }));
  expect(await report("text", file)).toEqual({
    code: 1,
    out: "",
    err: "serverless-compute: the refresh failed: Preview failed: rejected the API key",
  });
});

test("reports the changes of dynamic resources, which only the events of a refresh contain", async () => {
  expect(await report("text", fixture("dynamic-refresh-events.jsonl"))).toMatchObject({
    code: 3,
    out: expect.stringContaining(
      'Drift in 1 of 1 resources of dev (state → service):\n\nServerlessEndpoint "chat"\n  workersMax: 2 → 1',
    ),
  });
  expect(await report("text", fixture("dynamic-refresh.json"))).toEqual({
    code: 1,
    out: "",
    err: expect.stringContaining(
      "lacks the changes of dynamic resources; set PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true",
    ),
  });
});

test("fails with the reason in the events of a refresh that failed", async () => {
  const [prelude = ""] = readFileSync(fixture("dynamic-refresh-events.jsonl"), "utf8").split("\n");
  const event = (part: object): string => JSON.stringify({ sequence: 1, timestamp: 1, diagnosticEvent: part });
  const lines = [
    prelude,
    event({ prefix: "error: ", message: "request failed; retrying", severity: "error", ephemeral: true }),
    event({ prefix: "error: ", message: "Preview failed: rejected the API key\n", severity: "error" }),
  ];
  expect(await report("text", await fileWith(lines.join("\n")))).toMatchObject({
    code: 1,
    err: "serverless-compute: the refresh failed: Preview failed: rejected the API key",
  });
});

test("rejects a file of another kind and an unknown format", async () => {
  expect((await report("text", await fileWith("[]"))).err).toContain(
    "pass the output of `pulumi refresh --preview-only --json`",
  );
  expect(await report("xml")).toMatchObject({ code: 2, out: "" });
});

test("the documentation shows this report", async () => {
  const page = readFileSync(new URL("../../../../docs/command-line.md", import.meta.url), "utf8");
  expect(page).toContain(`\`\`\`text\n${(await report("text")).out}\n\`\`\``);
});
