import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Run, Stack } from "../support/pulumi";
import type { Way } from "./way";

/** What a preview says about bad input. */
export function badInputThrough(way: Way): void {
  let stack: Stack;
  beforeAll(async () => {
    // Nothing listens there: bad input has to be found without asking anybody.
    const nowhere = "http://127.0.0.1:9";
    stack = await way.createStack({
      SERVERLESS_COMPUTE_API_KEY: "any",
      SERVERLESS_COMPUTE_BASE_URL: `${nowhere}/v1`,
      SERVERLESS_COMPUTE_GRAPHQL_URL: `${nowhere}/graphql`,
      SERVERLESS_COMPUTE_SERVERLESS_URL: nowhere,
    });
  });
  afterAll(() => stack.remove());

  async function previewOf(text: string): Promise<Run> {
    await stack.program(`const sc = require("${way.module}");\n${text}`);
    return stack.preview();
  }

  /** What the preview says about a resource, the property first, without the other words that the engine puts before it. */
  const complaints = ({ diagnostics }: Run, about: string): string[] =>
    diagnostics
      .filter((one) => one.about === about)
      .map(({ message }) =>
        message
          .replace(/^.*? resource '.*?': property (.+?) value .*? has a problem: /, "$1: ")
          .replace(/^.*? resource '.*?' has a problem: /, "")
          .replace(/^\["(\w+)"\]/, "$1"),
      )
      .sort();

  describe("bad input fails at preview", () => {
    it("with a typo and a value that another one rules out", async () => {
      const run = await previewOf('new sc.Template("chat", { imageNaem: "acme/chat:1", volumeInGb: 5, ports: "80" });');
      expect(run.code).not.toBe(0);
      expect(complaints(run, "Template chat")).toEqual([
        'imageNaem: unknown property; did you mean "imageName"?',
        "imageName: is required",
        'ports: is "80"; must be a comma-separated list of <port>/http or <port>/tcp with ports from 1 to 65535, such as "8888/http,22/tcp"',
        "volumeInGb: is 5; must be 0 when isServerless is true",
      ]);
    });

    it("with the path of a nested property", async () => {
      const args = { endpointId: "e", input: { a: 1 }, policy: { ttl: 5 }, expect: { status: "DONE" } };
      const run = await previewOf(`new sc.JobInvoke("smoke", ${JSON.stringify(args)});`);
      expect(run.code).not.toBe(0);
      expect(complaints(run, "JobInvoke smoke")).toEqual([
        'expect.status: is "DONE"; must be "COMPLETED" or "FAILED" or "CANCELLED" or "TIMED_OUT"',
        "policy.ttl: is 5; must be a whole number from 10000 to 604800000",
      ]);
    });

    it("without showing a secret value", async () => {
      const run = await previewOf('new sc.Secret("token", { name: "no spaces", value: ["sesame-open"] });');
      expect(run.code).not.toBe(0);
      expect(complaints(run, "Secret token")).toEqual([
        'name: is "no spaces"; must be letters, digits, _, ., - and /, starting with a letter, a digit or _',
        "value: must be a string",
      ]);
      expect(run.output).not.toContain("sesame-open");
      const marked = await previewOf(`
        const { secret } = require("@pulumi/pulumi");
        new sc.Template("chat", { imageName: "a:1", ports: secret("sesame-shut"), env: { TOKEN: secret("a"), N: 4711 } });
      `);
      expect(complaints(marked, "Template chat")).toEqual([
        "env.N: must be a string",
        expect.stringMatching(/^ports: must be a comma-separated list/),
      ]);
      expect(marked.output).not.toMatch(/sesame-shut|4711/);
    });
  });

  describe("a resource that fails", () => {
    it("ends the preview with its error alone, whatever hangs on it", async () => {
      const run = await previewOf(`
      const template = new sc.Template("chat", {});
      new sc.Secret("child", { value: "sesame" }, { parent: template });
      new sc.ServerlessEndpoint("user", { templateId: template.id, gpuTypeIds: [template.name] });
    `);
      expect(run.code).not.toBe(0);
      expect(complaints(run, "Template chat")).toEqual(["imageName: is required"]);
      expect(run.diagnostics.filter(({ severity }) => severity === "error")).toHaveLength(1);
    });
  });

  it("good input passes, with nobody there to ask and without a key", async () => {
    await stack.program(`
      const sc = require("${way.module}");
      const template = new sc.Template("chat", { imageName: "acme/chat:1" });
      new sc.ServerlessEndpoint("chat", { templateId: template.id });
    `);
    const run = await stack.preview({ env: { SERVERLESS_COMPUTE_API_KEY: "" } });
    expect(run.code, run.output).toBe(0);
    expect(run.operations).toMatchObject({ "Template chat": ["create"], "ServerlessEndpoint chat": ["create"] });
  });
}
