import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { dialect } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { longSecrets } from "../support/long-secrets";
import { type Stack, withoutDebugMessages } from "../support/pulumi";
import { formsOf } from "../support/secret-scan";
import type { Way } from "./way";

/** True to run each verb with every output format. */
const isFull = Boolean(process.env["FULL"]);

const longValues = longSecrets();
const open = longSecrets();

/** Secret values that must not be found. The search must find the plain values of the same forms below. */
const secrets = {
  value: "sesame-4d1f",
  prompt: "whisper-77aa",
  env: 'quoted"-line\n-9b2e',
  password: "whisper-58e0",
  key: longValues.pem,
  token: longValues.jwt,
  text: longValues.text,
};
/** The values without the prefixes and suffixes that all keys and tokens share. */
const plantedSecrets = ["planted-c0ffee", open.pem.split("\n").slice(2, -2).join("\n"), open.jwt.slice(60), open.text];

/** Asserts that no readable text contains a key or a secret value. */
export function describeSecrecy(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  /** Output and events of all commands. */
  let transcript = "";
  beforeAll(async () => {
    service = await useEngineService();
    const { SERVERLESS_COMPUTE_API_KEY: _key, ...environment } = service.environment;
    stack = await way.createStack(environment);
  });
  afterAll(() => stack.remove());

  async function placesOf(value: string): Promise<string[]> {
    const logs = (await readdir(service.dataFolder, { recursive: true })).filter((file) => file.endsWith(".log"));
    const places = new Map([["output", transcript], ...(await stack.files())]);
    for (const log of logs) places.set(log, await readFile(join(service.dataFolder, log), "utf8"));
    const forms = formsOf(value);
    return [...places]
      .filter(([, text]) => forms.some((form) => withoutDebugMessages(text).includes(form)))
      .map(([place]) => place);
  }

  async function run(
    command: "up" | "preview" | "refresh" | "destroy",
    args: string[],
    end?: "failure",
  ): Promise<void> {
    const { output, diagnostics, operations } = await stack[command]({ args, ...(end && { end }) });
    transcript += output + JSON.stringify({ diagnostics, operations });
  }

  const plantedText = JSON.stringify(plantedSecrets.join(" "));
  const program = (job: string): string => `
  const pulumi = require("@pulumi/pulumi");
  const { ContainerRegistryAuth, JobInvoke, Secret, ServerlessEndpoint, Template } = require("${way.module}");
  const config = new pulumi.Config();
  const open = (key) => config.require(key).slice(1);
  const hidden = (key) => config.requireSecret(key).apply((value) => value.slice(1));
  const token = new Secret("token", { value: config.require("value").slice(1) });
  const template = new Template("worker", {
    imageName: "${image("echo")}", ${dialect === "v1" ? `readme: ${plantedText},` : ""}
    env: { ${dialect === "v2" ? `NOTE: ${plantedText},` : ""} TOKEN: token.reference, RAW: config.requireSecret("env"), KEY: hidden("key") },
  });
  new Secret("long", { value: open("token"), description: "a long one" });
  new ContainerRegistryAuth("registry", { username: "me", password: config.require("password").slice(1) });
  const endpoint = new ServerlessEndpoint("worker", { templateId: template.id, workersMax: 1 });
  const job = new JobInvoke("echo", { endpointId: endpoint.id, input: { prompt: config.requireSecret("prompt"), text: hidden("text") }, s3Config: { accessSecret: open("value") } ${job} });
  const setPrompt = ({ props, opts }) => ({ props: { ...props, input: { prompt: config.requireSecret("prompt") } }, opts });
  for (const option of ["transforms", "transformations"])
    new JobInvoke(option, { endpointId: endpoint.id, input: {} }, { [option]: [setPrompt] });
  const component = new pulumi.ComponentResource("shop:index:Group", "group", {}, { transformations: [setPrompt] });
  new JobInvoke("inherited", { endpointId: endpoint.id, input: {} }, { parent: component });
  exports.answer = job.output;
  exports.revision = template.revision;
`;

  /** Asserts that only the program contains the values. */
  async function expectInNoPlace(values: string[]): Promise<void> {
    for (const value of values) {
      const places = await placesOf(value);
      expect(places.filter((place) => !place.endsWith("program/index.js"))).toEqual([]);
    }
  }

  async function configure(config: Record<string, string>): Promise<void> {
    const values = Object.entries(config).flatMap(([key, value]) => ["--secret", `${key}=${value}`]);
    await stack.command(["config", "set-all", ...values]);
  }

  it("neither the key nor a secret value appears in state, logs or output, also in failures", async () => {
    await configure({
      // Values that the engine does not mark as secret: only the class or the plugin does.
      "shop:value": `x${secrets.value}`,
      "shop:password": `x${secrets.password}`,
      "shop:prompt": secrets.prompt,
      "shop:env": secrets.env,
      "shop:key": `x${secrets.key}`,
      "shop:token": `x${secrets.token}`,
      "shop:text": `x${secrets.text}`,
      "serverless-compute:apiKey": service.service.apiKey,
    });
    await stack.writeProgram(program(""));
    if (isFull) {
      await run("preview", ["--diff"]);
      await run("preview", ["--json"]);
    }
    await run("up", ["--diff"]);
    if (isFull) await run("preview", ["--json", "--show-sames"]);
    for (const args of [
      ["stack", "export"],
      ["stack", "output", "--json"],
    ])
      transcript += (await stack.command(args)).output;
    if (isFull) await run("refresh", ["--diff"]);
    // The message of a failed expectation contains both values.
    await stack.writeProgram(
      program(`, expect: { output: { prompt: pulumi.secret("whisper-77aa!"), text: "other" } }`),
    );
    await run("up", ["--diff"], "failure");
    expect(transcript).toContain("output.prompt: expected [secret], got [secret]");
    expect(transcript).toContain('output.text: expected "other", got [secret]');

    for (const value of plantedSecrets)
      expect(await placesOf(value)).toEqual(
        expect.arrayContaining(["output", expect.stringMatching(/backend\/\.pulumi\/stacks\/shop\/dev\.json$/)]),
      );
    await expectInNoPlace([...Object.values(secrets), service.service.apiKey]);
    // A dozen commands.
  }, 360_000);

  if (isFull) {
    it("a rejected check contains no secret", async () => {
      await stack.writeProgram(`${program("")}
      new Template("refused", { imageName: "a:1", ports: hidden("text"), volumeInGb: pulumi.secret(90210), dockerArgs: pulumi.secret([open("key")]) });
    `);
      await run("preview", ["--diff"], "failure");
      // The plugin's path of a secret has quotes, so that the engine does not print the value.
      for (const property of ["ports", "volumeInGb", "dockerArgs"])
        expect(transcript).toMatch(new RegExp(`${property}(: |"] value {<nil>} has a problem: )must be `));
      await expectInNoPlace([...Object.values(secrets), "90210"]);
    });

    it("a handler's error contains no secret, escaped or truncated", async () => {
      await stack.writeProgram(
        program("")
          .replaceAll(image("echo"), image("fail"))
          .replace(
            "prompt:",
            `message: hidden("text").apply((text) => "x".repeat(3900) + JSON.stringify(text)), prompt:`,
          ),
      );
      const before = transcript.length;
      await run("up", ["--diff"], "failure");
      expect(transcript.slice(before)).toMatch(/ended FAILED, expected COMPLETED\n *error: Error: \[secret\]/);
      // The worker's log contains what the handler writes, like the log of any program.
      await rm(join(service.dataFolder, "logs"), { recursive: true });
      await expectInNoPlace(Object.values(secrets));
    });

    it("outputs derived from a secret, such as a template's revision, are secret, also in a preview", async () => {
      await configure({ "shop:env": "whisper-ee10" });
      await stack.writeProgram(program(""));
      const before = transcript.length;
      await run("preview", ["--diff"]);
      await run("up", ["--diff"]);
      expect(transcript.slice(before)).toMatch(/revision *: "?\[secret\]/);
      const [worker] = (await stack.resources()).filter(
        ({ urn }) => urn.endsWith("::worker") && urn.includes("Template"),
      );
      expect(JSON.stringify(worker?.outputs?.["revision"])).toContain("ciphertext");
      await expectInNoPlace([...Object.values(secrets), "whisper-ee10"]);
    });
  }

  it("a secret that the program or an outside change replaces appears nowhere", async () => {
    const [template] = (await service.listObjects()).templates;
    const driftedValue = { RAW: "whisper-3c1e" };
    await service.rest("PATCH", `/templates/${template?.id}`, { env: driftedValue });
    if (isFull) {
      await run("refresh", ["--diff"]);
      await run("refresh", ["--json"]);
    }
    const laterValue = { value: "sesame-99ab", password: "whisper-aa01", env: "whisper-bb02", prompt: "whisper-cc03" };
    await configure({
      "shop:value": `x${laterValue.value}`,
      "shop:password": `x${laterValue.password}`,
      "shop:env": laterValue.env,
      "shop:prompt": laterValue.prompt,
    });
    await stack.writeProgram(program(""));
    await run("preview", ["--diff", "--refresh"]);
    if (isFull) {
      await run("preview", ["--json"]);
      await run("up", ["--diff"]);
    }
    await run("destroy", ["--diff"]);
    await expectInNoPlace([...Object.values(laterValue), ...Object.values(secrets), driftedValue.RAW]);
  });
}
