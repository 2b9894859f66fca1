import { createClients } from "serverless-compute-api";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { createStack } from "../support/pulumi";
import { quickstartOn } from "../support/quickstart-program";
import { registerSecret } from "../support/secret-scan";

const hubToken = "a-hub-token-of-the-quickstart";

/** The quickstart's program, and a VerifiedEndpoint whose version returns a greeting. */
const programOn = async (image: string, greeting: string): Promise<string> => `${await quickstartOn(image)}
const { VerifiedEndpoint } = require("pulumi-serverless-compute");
const checked = new VerifiedEndpoint("checked", {
  template: { imageName: "${image}", env: { GREETING: "${greeting}" } },
  endpoint: { workersMax: 1 },
  verify: { input: { name: "you" }, expect: { output: { text: "Hello, you!" } }, timeout: 120 },
});
exports.checked = checked.endpointId;
`;

/** Deploys, changes, breaks and destroys the program, and checks what its user sees. */
export async function followProgram(service: { url: string; apiKey: string }, image: string): Promise<void> {
  const { url, apiKey } = service;
  registerSecret(hubToken, "the quickstart's secret");
  const stack = await createStack({ SERVERLESS_COMPUTE_URL: url, SERVERLESS_COMPUTE_API_KEY: apiKey });
  onTestFinished(() => stack.remove());
  await stack.command(["config", "set", "--secret", "hubToken", hubToken]);
  await stack.writeProgram(await programOn(image, "Hello"));
  expect((await stack.up()).output).toContain("Hello, world!");
  await stack.command(["preview", "--expect-no-changes"]);
  await stack.command(["refresh", "--yes", "--expect-no-changes"]);

  const outputs = await stack.command(["stack", "output", "--json"]);
  const { checked } = z.looseObject({ checked: z.string() }).parse(JSON.parse(outputs.output));
  const clients = createClients({
    apiKey,
    baseUrl: `${url}/v2`,
    graphqlUrl: `${url}/graphql`,
    serverlessUrl: url,
  });
  onTestFinished(() => clients.close());
  const greet = () => clients.jobs.runsync(checked, { input: { name: "you" } });
  expect(await greet()).toMatchObject({ output: { text: "Hello, you!" } });

  // A rolling change of the quickstart's workers; its JobInvoke runs again on a new one.
  const changed = (await programOn(image, "Hello")).replace('GREETING: "Hello"', 'GREETING: "Hello", LEVEL: "2"');
  await stack.writeProgram(changed);
  expect((await stack.up()).operations).toMatchObject({ "ServerlessEndpoint greeter": ["update"] });

  await stack.writeProgram(changed.replace('{ GREETING: "Hello" }', '{ GREETING: "Broken" }'));
  const broken = await stack.up({ end: "failure" });
  expect(broken.output).toContain("Broken, you!");
  expect(await greet()).toMatchObject({ output: { text: "Hello, you!" } });
  await stack.destroy();
}
