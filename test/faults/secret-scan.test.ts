import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { beforeEach, describe, expect, test } from "vitest";
import { run } from "../../scripts/child.mjs";
import { scratchFolder } from "../support/folders";
import { longSecrets } from "../support/long-secrets";
import { send } from "../support/raw-http";
import {
  allowSecret,
  expectNoSecretIn,
  formsOf,
  leaksIn,
  registerSecret,
  registerSentSecrets,
} from "../support/secret-scan";
import { discardServiceFolder, serviceArtefacts } from "../support/service-artefacts";

const secretValue = (): string => `planted-${randomBytes(9).toString("hex")}`;

describe("the scan of a service's folder", () => {
  let folder: string;
  beforeEach(async () => {
    folder = scratchFolder();
  });

  /** Runs a service with a secret, and a template with this readme. */
  async function serve(secret: string, readme: string): Promise<void> {
    const { apiKey: key, baseUrl, graphqlUrl, stop } = await createService({ port: 0, dataFolder: folder });
    const query = `mutation { secretCreate(input: { name: "a", value: "${secret}" }) { id } }`;
    expect((await send("POST", graphqlUrl, { key, json: { query } })).status).toBe(200);
    const template = { name: "a", imageName: "a:1", readme, isServerless: true, volumeInGb: 0 };
    expect((await send("POST", `${baseUrl}/templates`, { key, json: template })).status).toBeLessThan(300);
    await stop(0);
  }

  test("accepts secrets in the secret store and in the key file", async () => {
    await serve(secretValue(), "harmless");
    await discardServiceFolder(folder);
    expect(existsSync(folder)).toBe(false);
  });

  test("finds a secret in a table of the store, and still removes the folder", async () => {
    const secret = secretValue();
    await serve(secret, `it is ${secret}`);
    await expect(discardServiceFolder(folder)).rejects.toThrow(
      /^a test left secrets behind:\na secret value is in table templates$/,
    );
    expect(existsSync(folder)).toBe(false);
    allowSecret(secret);
  });

  test("finds a secret in logs and in any other file, at any depth", async () => {
    const secret = secretValue();
    await serve(secret, "harmless");
    await appendFile(join(folder, "service.log"), JSON.stringify({ msg: JSON.stringify({ secret }) }));
    await writeFile(join(folder, "left-behind"), Buffer.from(`key ${secret} key`).toString("base64"));
    const places = leaksIn(await serviceArtefacts(folder), new Map([[secret, "it"]]));
    expect(places).toContain("it is in service.log");
    await expect(discardServiceFolder(folder)).rejects.toThrow("a secret value is in service.log");
    allowSecret(secret);
  });
});

describe("the scan of texts", () => {
  const specialValue = 'sesame "4d1f"\n&9b2e';

  test.each([
    ["verbatim", specialValue],
    ["in JSON", JSON.stringify({ a: [specialValue] })],
    ["in JSON within JSON", JSON.stringify({ a: JSON.stringify({ b: specialValue }) })],
    ["in a URL", `http://127.0.0.1/?key=${encodeURIComponent(specialValue)}`],
    ["in base64", Buffer.from(specialValue).toString("base64")],
  ])("finds a secret %s and reports its place, not its value", (_how, text) => {
    const known = new Map([[specialValue, "the API key"]]);
    expect(
      leaksIn(
        [
          ["nowhere", "harmless"],
          ["here", text],
        ],
        known,
      ),
    ).toEqual(["the API key is in here"]);
  });

  test.each(Object.entries(longSecrets()))(
    "finds a long secret (%s) that is truncated at either end",
    (_name, secret) => {
      const known = new Map([[secret, "the API key"]]);
      for (const text of [
        secret.slice(0, 60),
        JSON.stringify(secret).slice(1, 78),
        secret.slice(-60),
        secret.slice(300, 360),
      ])
        expect(leaksIn([["here", `"${text}…`]], known)).toEqual(["the API key is in here"]);
      expect(leaksIn([["here", longSecrets().text]], known)).toEqual([]);
    },
  );

  test("ignores forms shorter than 6 characters", () => {
    expect(formsOf("short!").every((form) => form.length >= 6)).toBe(true);
  });

  test.each([
    [
      "variables",
      {
        query: "mutation a($v: String!) { secretCreate(input: { value: $v }) { id } }",
        variables: { v: 1, value: "V" },
      },
    ],
    ["an input", { query: "mutation { updateRegistryAuth(input: $i) { id } }", variables: { i: { password: "V" } } }],
    ["the document", { query: 'mutation { secretCreate(input: { name: "n", value: "V" }) { id } }' }],
  ])("registers the secrets that requests contain in %s", (_where, body) => {
    const secret = secretValue();
    registerSentSecrets(JSON.stringify(body).replace(/V(?=\\?")/, secret));
    expect(() => expectNoSecretIn([["a log", `so ${secret} it is`]])).toThrow("a secret value is in a log");
    allowSecret(secret);
    expect(() => expectNoSecretIn([["a log", `so ${secret} it is`]])).not.toThrow();
  });
});

test("a run fails if its own output contains a secret", async () => {
  // In the repository, so that the packages resolve.
  const dataFolder = join(process.cwd(), ".serverless-compute");
  await mkdir(dataFolder, { recursive: true });
  const folder = await mkdtemp(join(dataFolder, "secret-run-"));
  try {
    const scan = JSON.stringify(join(process.cwd(), "test", "support", "secret-scan"));
    const testSource = (text: string): string => `
      import { test } from "vitest";
      import { registerSecret } from ${scan};
      test("speaks", () => { registerSecret("planted-5e1f00d", "the API key"); ${text} });
    `;
    const reporter = join(process.cwd(), "test", "support", "secrecy-reporter.ts");
    await writeFile(
      join(folder, "vitest.config.mts"),
      `export default { test: { include: ["*.test.ts"], reporters: ["default", ${JSON.stringify(reporter)}] } };`,
    );
    const vitest = join(process.cwd(), "node_modules", "vitest", "vitest.mjs");
    const runTest = async (text: string) => {
      await writeFile(join(folder, "speaks.test.ts"), testSource(text));
      return run(process.execPath, [vitest, "run", "--root", folder], { cwd: folder, timeout: 60_000 });
    };
    const logged = await runTest('console.log("it is planted-5e1f00d")');
    expect([logged.code, logged.stderr]).toEqual([1, expect.stringContaining("the API key is in the output of")]);
    const thrown = await runTest('throw new Error("planted-5e1f00d is wrong")');
    expect(thrown.stderr).toContain('the API key is in the failure of "speaks"');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a secret that is too short to be significant is ignored", () => {
  registerSecret("abc", "the API key");
  expect(() => expectNoSecretIn([["a log", "abc"]])).not.toThrow();
});
