import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { kinds } from "../../provider/resources";
import { scratchFolder } from "../support/folders";
import { createStack } from "../support/pulumi";
import { registerSecret } from "../support/secret-scan";
import { pluginFolder } from "./support/way";
import { findYaml } from "./support/yaml";

/**
 * Programs and states of examples on 28 November 2026 (commit d78d47c6), before endpoints had their own container: all resources and
 * properties of the examples of that day. `<secret>` and `<origin>` replace secrets and the service's address.
 */
const recordings = fileURLToPath(new URL("../fixtures/upgrades", import.meta.url));
const names = readdirSync(recordings);
const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Secrets of the config that programs read. */
const configSecrets: Record<string, string[]> = {
  languages: ["hubToken"],
  "private-registry": ["registryPassword"],
  quickstart: ["hubToken"],
  "two-accounts": ["eastKey", "westKey"],
};

const yaml = await findYaml();
const isYaml = (name: string): boolean => readdirSync(join(recordings, name)).includes("Pulumi.yaml");
const isFull = Boolean(process.env["FULL"]);

/** Each variant in one dialect, with every kind of resource; all recordings in both dialects in full runs. */
const cases = names
  .flatMap((name) => ["v1", "v2"].map((dialect): [string, string] => [name, dialect]))
  .filter(
    ([name, dialect]) =>
      isFull || `${name} ${dialect}` === "quickstart v1" || `${name} ${dialect}` === "safe-rollout v2",
  )
  .filter(([name]) => yaml.missing === undefined || !isYaml(name));

/** Copies a recorded program into an empty folder as a project with its runtime. */
async function copyProgram(name: string): Promise<string> {
  const folder = scratchFolder();
  await cp(join(recordings, name), folder, { recursive: true });
  if (isYaml(name)) {
    const file = join(folder, "Pulumi.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("node_modules/pulumi-serverless-compute/bin", pluginFolder()));
  } else {
    await writeFile(join(folder, "Pulumi.yaml"), `name: ${name}\nruntime: nodejs\nmain: index.ts\n`);
    await writeFile(join(folder, "package.json"), '{ "private": true }\n');
    await cp(join(repository, "examples/minimal/tsconfig.json"), join(folder, "tsconfig.json"));
  }
  return folder;
}

describe("after an upgrade", () => {
  it("the recorded states contain every kind of resource", () => {
    const states = names.map((name) => readFileSync(join(recordings, name, "v2.json"), "utf8")).join("");
    for (const kind of [...Object.keys(kinds), "VerifiedEndpoint"])
      expect(states).toMatch(new RegExp(`"type": ".*:${kind}"`));
  });

  it.each(cases)("the recorded state of the example %s in dialect %s has no changes", async (name, dialect) => {
    const secret = `secret-${randomUUID()}`;
    registerSecret(secret, "a secret of the recorded state");
    // Nothing listens on this port: a preview without changes sends no requests.
    const origin = "http://127.0.0.1:9";
    const stack = await createStack(
      {
        SERVERLESS_COMPUTE_API_KEY: secret,
        SERVERLESS_COMPUTE_BASE_URL: `${origin}/${dialect}`,
        SERVERLESS_COMPUTE_GRAPHQL_URL: `${origin}/graphql`,
        SERVERLESS_COMPUTE_SERVERLESS_URL: origin,
        PULUMI_NODEJS_TRANSPILE_ONLY: "true",
        ...(isYaml(name) && { PATH: yaml.path }),
      },
      { example: await copyProgram(name) },
    );
    onTestFinished(() => stack.remove());
    for (const key of configSecrets[name] ?? []) await stack.command(["config", "set", "--secret", key, secret]);
    if (name === "private-registry") await stack.command(["config", "set", "registryUser", "me"]);
    const text = await readFile(join(recordings, name, `${dialect}.json`), "utf8");
    const resources = JSON.parse(text.replaceAll("<secret>", secret).replaceAll("<origin>", origin));
    const manifest = { time: new Date(0).toISOString(), magic: "", version: "" };
    const stackConfig = await readFile(join(stack.folder, "program", "Pulumi.dev.yaml"), "utf8");
    const [, salt = ""] = /^encryptionsalt: (\S+)$/m.exec(stackConfig) ?? [];
    const secretsProvider = { type: "passphrase", state: { salt } };
    const exported = join(stack.folder, "exported.json");
    await writeFile(
      exported,
      JSON.stringify({ version: 3, deployment: { manifest, secrets_providers: secretsProvider, resources } }),
    );
    await stack.command(["stack", "import", "--file", exported]);
    await rm(exported);
    const { operations } = await stack.preview({ args: ["--expect-no-changes"] });
    expect(Object.keys(operations).length).toBeGreaterThan(1);
  });
});
