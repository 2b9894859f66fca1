import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { useEngineService } from "../support/engine-service";
import { closeServer, listenOnLoopback } from "../support/loopback";
import { createStack } from "../support/pulumi";
import { registerSecret } from "../support/secret-scan";
import { runLine } from "../unit/service/cli/command";
import { useTestEngine } from "./rig";

/** A container with a problem. */
interface Broken {
  /** Fields of its template and its job, and fields of its endpoint. */
  template: Record<string, unknown>;
  endpoint?: object;
  input?: object;
  /** Final state of its job, and the error in the record of a failed job. */
  status: "FAILED" | "CANCELLED";
  /** Explanation in /health, in the log and in the command line's status, on one line. */
  why: RegExp;
}

/** Starts a registry on this machine that rejects all credentials with its own message. Returns its host. */
async function startPrivateRegistry(): Promise<string> {
  const registry = createServer((_request, response) => {
    response.writeHead(401, { "www-authenticate": 'Basic realm="test"', "content-type": "application/json" });
    response.end(JSON.stringify({ errors: [{ code: "UNAUTHORIZED", message: "not for you" }] }));
  });
  const { host } = new URL(await listenOnLoopback(registry));
  onTestFinished(() => closeServer(registry));
  return host;
}

const record = z.looseObject({ status: z.string(), error: z.string().optional() });
const withId = z.looseObject({ id: z.string() });
const health = z.looseObject({ message: z.string(), workers: z.record(z.string(), z.number()) });

const programOf = (broken: Record<string, Broken>): string => `
  const { JobInvoke, ServerlessEndpoint, Template } = require("pulumi-serverless-compute");
  const broken = ${JSON.stringify(broken)};
  for (const [name, { template, endpoint, input = {}, status }] of Object.entries(broken)) {
    const { id: templateId } = new Template(name, { containerDiskInGb: 5, ...template });
    const { id: endpointId } = new ServerlessEndpoint(name, { name, templateId, workersMax: 1, ...endpoint });
    // Jobs that are never taken must be cancelled; the others fail by themselves.
    new JobInvoke(name, { endpointId, input, timeout: status === "CANCELLED" ? 20 : 100 });
  }`;

test("/status, /health, the status command and JobInvoke explain a container that never requests a job, exits, is killed for memory, or cannot be pulled", async (context) => {
  const { image } = useTestEngine(context);
  const timings = { startBackoff: 20, startBackoffMax: 50, takeSilence: 5000 };
  const service = await useEngineService({ runtime: "docker", timings });
  const registryHost = await startPrivateRegistry();
  const credentials = { name: "hub", username: "me", password: "a-password-for-the-registry" };
  registerSecret(credentials.password, "the registry's password");
  const stored = await service.rest("POST", "/containerregistryauth", credentials);
  const { id: containerRegistryAuthId } = withId.parse(stored);
  const broken: Record<string, Broken> = {
    silent: {
      template: { imageName: image, dockerArgs: "node -e 'setInterval(() => {}, 1000)'" },
      status: "CANCELLED",
      why: /do not request jobs: local-\w+ has run for \d+ s; its program must take jobs/,
    },
    exiting: {
      template: { imageName: image, dockerArgs: `node -e 'console.error("no model here"); process.exit(1)'` },
      status: "FAILED",
      why: /do not start: the last one ended with exit code 1, before it requested a job/,
    },
    hungry: {
      template: { imageName: image },
      endpoint: { computeType: "CPU", vcpuCount: 2, cpuFlavorIds: ["cpu3c"] },
      input: { do: "memory", megabytes: 8192 },
      status: "FAILED",
      why: /ran out of its 4 GB of memory and was killed while it ran (a|the) job/,
    },
    absent: {
      template: { imageName: "127.0.0.1:1/acme/none:1" },
      status: "FAILED",
      why: /the image "127\.0\.0\.1:1\/acme\/none:1" cannot be pulled: .*connection refused/,
    },
    refused: {
      template: { imageName: `${registryHost}/acme/private:1`, containerRegistryAuthId },
      status: "FAILED",
      why: /\/acme\/private:1" cannot be pulled: .*(unauthorized|no basic auth|not for you)/i,
    },
  };
  const stack = await createStack(service.environment);
  onTestFinished(() => stack.remove());
  await stack.writeProgram(programOf(broken));

  // All five fail, so a failure must not end the deployment of the others.
  const up = await stack.up({ args: ["--continue-on-error", "--parallel", "20"], end: "failure" });
  const table = await runLine("status", "--data", service.dataFolder);
  expect(table.code).toBe(0);
  const { endpoints } = await service.listObjects();
  const diagnostics = up.output.slice(up.output.indexOf("Diagnostics:")).split("\n\n");
  for (const [name, { status, why }] of Object.entries(broken)) {
    const { id = "" } = endpoints.find((endpoint) => endpoint.name.startsWith(name)) ?? {};
    const { requests } = z.object({ requests: z.array(withId) }).parse(await service.job("GET", id, "/requests"));
    expect(requests, name).toHaveLength(1);
    const { id: jobId = "" } = requests[0] ?? {};
    const found = record.parse(await service.job("GET", id, `/status/${jobId}`));
    expect(found.status, name).toBe(status);
    if (status === "FAILED") expect(found.error, name).toMatch(why);
    expect(health.parse(await service.job("GET", id, "/health")).message, name).toMatch(why);
    expect(table.out.split("\n").filter((line) => line.startsWith(name) && why.test(line))).toHaveLength(1);
    const reported = diagnostics.find((one) => one.includes(`JobInvoke (${name})`));
    expect(reported).toContain(`job ${jobId} on endpoint "${id}"`);
    expect(reported).toMatch(why);
  }
  expect((await stack.destroy()).code).toBe(0);
});
