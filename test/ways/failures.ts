import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { withHelp } from "../../provider/framework/help";
import { withFingerprints } from "../support/default-names";
import { restPaths } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Run, Stack } from "../support/pulumi";
import { hasProc, isEngine, isProvider, killStackProcesses, stackProcesses } from "../support/stack-processes";
import type { Way } from "./way";

/** Deployments with every class of failure, and the deployments after them; each step continues from the previous step. */
export function describeFailures(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  /** Endpoint ids by handler. */
  const endpoints: Record<string, string> = {};
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    const created = z.looseObject({ id: z.string() });
    for (const handler of ["echo", "fail", "slow"] as const) {
      const template = { name: handler, imageName: image(handler), isServerless: true, volumeInGb: 0 };
      const { id: templateId } = created.parse(await service.rest("POST", "/templates", template));
      const body = { name: handler, templateId, workersMin: 1, workersMax: 1 };
      endpoints[handler] = created.parse(await service.rest("POST", "/endpoints", body)).id;
    }
  });
  afterAll(async () => {
    // Processes that Pulumi leaves behind when its engine is killed: the language host and the program.
    if (hasProc) await killStackProcesses(stack.folder);
    await stack.remove();
  });

  /** Errors of a resource, reduced to the property and the provider's message. */
  const errorsOf = ({ diagnostics }: Run, resource: string): string[] =>
    diagnostics
      .filter((diagnostic) => diagnostic.resource === resource && diagnostic.severity === "error")
      .map(({ message }) =>
        message
          .replace(/^.*? resource '.*?': property (.+?) value .*? has a problem: /, "$1: ")
          .replace(/^.*? resource '.*?' has a problem: /, "")
          .replace(/^\["(\w+)"\]/, "$1"),
      )
      .sort();
  const errorOf = (run: Run, resource: string): string => errorsOf(run, resource).join("\n---\n");
  const kindsInState = async (): Promise<string[]> =>
    (await stack.resources()).map(({ urn }) => urn.split("::").slice(-2).join(" ").replace(/^.*:/, "")).sort();

  it("rejects bad input at preview, without a key and a service: each property by its path, no secret value, no dependents", async () => {
    const invalidInput = {
      endpointId: "e",
      input: { a: 1 },
      mdoe: "sync",
      policy: { ttl: 5 },
      expect: { status: "DONE" },
      timeout: ["planted-6f1c"],
    };
    await stack.writeProgram(`
      const pulumi = require("@pulumi/pulumi");
      const sc = require("${way.module}");
      const bad = ${JSON.stringify(invalidInput)};
      const job = new sc.JobInvoke("smoke", { ...bad, timeout: pulumi.secret(bad.timeout) });
      new sc.Secret("child", { value: "token-value" }, { parent: job });
      new sc.Template("user", { imageName: "acme/user:1", env: { JOB: job.jobId } });
    `);
    const unusedAddress = "http://127.0.0.1:9";
    const run = await stack.preview({
      env: {
        SERVERLESS_COMPUTE_API_KEY: "",
        SERVERLESS_COMPUTE_BASE_URL: `${unusedAddress}${restPaths.root}`,
        SERVERLESS_COMPUTE_GRAPHQL_URL: `${unusedAddress}/graphql`,
        SERVERLESS_COMPUTE_SERVERLESS_URL: unusedAddress,
      },
      end: "failure",
    });
    expect(errorsOf(run, "JobInvoke smoke")).toEqual([
      'expect.status: is "DONE"; must be "COMPLETED", "FAILED", "CANCELLED" or "TIMED_OUT"',
      'mdoe: unknown property; did you mean "mode"?',
      "policy.ttl: is 5; must be a whole number from 10000 to 604800000",
      expect.stringMatching(/^timeout: must be /),
    ]);
    expect(
      run.diagnostics.filter(({ severity, resource }) => severity === "error" && resource !== "JobInvoke smoke"),
    ).toEqual([]);
    expect(run.output).not.toContain("planted-6f1c");
  });

  it("reports a wrong key in one line and stores nothing in state", async () => {
    await stack.writeProgram(`new (require("${way.module}").Secret)("token", { value: "token-value" });`);
    const up = await stack.up({ env: { SERVERLESS_COMPUTE_API_KEY: "not-the-key" }, end: "failure" });
    const output = up.diagnostics.filter(({ resource, ephemeral }) => resource === "Secret token" && !ephemeral);
    expect(output.map(({ message }) => message)).toEqual([
      withFingerprints(
        withHelp(
          `Secret "token-dev": ${service.proxy.origin} rejected the API key, or the key lacks permission. The key comes from SERVERLESS_COMPUTE_API_KEY; the local service prints its key with "npx --no serverless-compute-local key".`,
          "key",
        ),
      ),
    ]);
    expect(up.output).not.toContain("not-the-key");
    expect(await stack.resources()).toEqual([]);
  });

  /** Jobs on the endpoint of a handler, a volume, and an endpoint that verifies each version of its template. */
  const program = (jobs: Record<string, [handler: string, args: object]>, version = "echo"): string => `
    const { JobInvoke, NetworkVolume, ServerlessEndpoint, Template } = require("${way.module}");
    const endpoints = ${JSON.stringify(endpoints)};
    for (const [name, [handler, args]] of Object.entries(${JSON.stringify(jobs)}))
      new JobInvoke(name, { endpointId: endpoints[handler] ?? handler, ...args });
    new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
    const template = new Template("worker", { imageName: "acme/${version}:1", replaceOnChange: true });
    const verify = { input: { text: "pong" }, expect: { output: { text: "pong" } }, timeout: 60 };
    new ServerlessEndpoint("api", { templateId: template.id, workersMax: 1, verify });
  `;
  const volumes = { method: "GET", path: restPaths.volumes };
  const pong = { input: { text: "pong" }, expect: { output: { text: "pong" } } };
  /** Jobs that complete, with /run and /runsync, under the names of jobs that failed. */
  const validProgram: Record<string, [handler: string, args: object]> = {
    throws: ["echo", pong],
    differs: ["echo", { ...pong, mode: "sync" }],
  };

  it("reports each failed resource, and keeps an object that was created but not finished in state", async () => {
    // A running worker takes a job immediately; a worker start may exceed the job's time limit.
    await expect
      .poll(() => service.job("GET", endpoints["slow"] ?? "", "/health"))
      .toMatchObject({ workers: { idle: 1 } });
    // The first create never arrives; after the second create, the list is inconclusive.
    service.proxy.inject({ method: "POST", path: restPaths.volumes }, { kind: "dropRequest" });
    service.proxy.inject(volumes, { kind: "delayRequest", ms: 0 }, 3);
    // The client does not retry it.
    service.proxy.inject(volumes, { kind: "status", status: 403 }, 100);
    await stack.writeProgram(
      program({
        throws: ["fail", { input: { message: "no such model" } }],
        differs: ["echo", { input: { text: "pang", n: 1 }, expect: { output: { text: "pong" } } }],
        nowhere: ["nowhere", { input: {} }],
        late: ["slow", { input: { ms: 60_000 }, timeout: 2 }],
      }),
    );
    const up = await stack.up({ args: ["--continue-on-error"], end: "failure" });
    expect(errorOf(up, "JobInvoke throws")).toMatch(
      /^job \S+ on endpoint "\w+" ended FAILED, expected COMPLETED\nerror: .*no such model[\s\S]*\nendpoint: jobs .* 1 failed.*workers .*\nSee the endpoint's logs\..*runs the job again\.$/,
    );
    expect(errorOf(up, "JobInvoke differs")).toMatch(
      /^job \S+ on endpoint "\w+" ended COMPLETED, but its output differs from the expected one\noutput\.text: expected "pong", got "pang"\n/,
    );
    expect(errorOf(up, "JobInvoke nowhere")).toMatch(
      /^endpoint "nowhere" is unknown to the service .*Check endpointId/,
    );
    expect(errorOf(up, "JobInvoke late")).toMatch(
      /^job \S+ on endpoint "\w+" was still IN_PROGRESS after \d+ s; it was cancelled\nendpoint: jobs .*\n.*Raise timeout/,
    );
    const cancelled = service.proxy.requests
      .find(({ path }) => path.includes("/cancel/"))
      ?.path.split("/")
      .at(-1);
    expect(await service.job("GET", endpoints["slow"] ?? "", `/status/${cancelled}`)).toMatchObject({
      status: "CANCELLED",
    });
    const [made] = (await service.listObjects()).volumes;
    const volume = (await stack.resources()).find(({ type }) => type.endsWith(":NetworkVolume"));
    expect(volume).toMatchObject({ id: made?.id, outputs: { size: 10 } });
    expect(volume?.initErrors?.join()).toContain("may have created a duplicate");
    // Failed jobs left no object; successful resources exist.
    expect(await kindsInState()).toEqual(["NetworkVolume models", "ServerlessEndpoint api", "Template worker"]);
  });

  it("the next deployment completes unfinished changes: the volume is updated and each job runs", async () => {
    service.proxy.clear();
    await stack.writeProgram(program(validProgram));
    const up = await stack.up();
    expect(up.operations).toMatchObject({
      "NetworkVolume models": ["update"],
      "JobInvoke throws": ["create"],
      "JobInvoke differs": ["create"],
      "ServerlessEndpoint api": ["same"],
    });
    expect((await service.listObjects()).volumes).toHaveLength(1);
    const resources = await stack.resources();
    expect(resources.filter(({ initErrors }) => initErrors)).toEqual([]);
    const job = resources.find(({ urn }) => urn.endsWith("::throws"));
    expect(job?.outputs).toMatchObject({ status: "COMPLETED", output: { text: "pong" }, jobId: job?.id });
    for (const path of [/\/run$/, /\/runsync$/])
      expect(service.proxy.requests.filter((diagnostic) => path.test(diagnostic.path))).toHaveLength(1);
  });

  it("rolls an endpoint back if its new version fails the verification", async () => {
    const { outputs: previousId } = (await stack.resources()).find(({ urn }) => urn.endsWith("::api")) ?? {};
    await stack.writeProgram(program(validProgram, "fail"));
    const up = await stack.up({ end: "failure" });
    expect(errorOf(up, "ServerlessEndpoint api")).toMatch(
      /\S+ \(version 2\) failed its verification; \S+ \(version 1\) keeps serving \(as version 3\), with templateId[^\n]*\n\s+job \S+ on endpoint "\w+" ended FAILED, expected COMPLETED/,
    );
    const api = (await stack.resources()).find(({ urn }) => urn.endsWith("::api"));
    expect(api?.outputs).toMatchObject({ templateId: previousId?.["templateId"], version: 3 });
    expect(api?.outputs).not.toHaveProperty("unverified");
    expect(await service.job("POST", api?.id ?? "", "/runsync", { input: { text: "there" } })).toMatchObject({
      status: "COMPLETED",
      output: { text: "there" },
    });
  });

  const withLongJob = (): string =>
    program({ ...validProgram, long: ["slow", { input: { ms: 120_000 }, timeout: 300 }] });
  const expectCancelled = async (): Promise<void> => {
    const { path = "" } = service.proxy.requests.find((diagnostic) => diagnostic.path.includes("/cancel/")) ?? {};
    const status = path.replace(/^.*\/cancel/, "/status");
    expect(await service.job("GET", endpoints["slow"] ?? "", status)).toMatchObject({ status: "CANCELLED" });
    expect(await kindsInState()).not.toContain("JobInvoke long");
  };

  it("cancels the job after one Ctrl-C and ends before the engine kills the provider", async () => {
    await stack.writeProgram(withLongJob());
    service.proxy.clear();
    const interrupt = new AbortController();
    const pendingUp = stack.up({ interrupt: interrupt.signal, end: "failure" });
    await expect
      .poll(() => service.proxy.requests.some(({ path, status }) => path.includes("/status/") && status))
      .toBeTruthy();
    interrupt.abort();
    const up = await pendingUp;
    // The provider ended on its own; a kill by the engine causes another error.
    expect(errorOf(up, "JobInvoke long")).toContain("the deployment was cancelled");
    await expectCancelled();
  });

  it.skipIf(!hasProc)("cancels the job and ends when its engine is killed; the next deployment continues", async () => {
    const providers = async () => (await stackProcesses(stack.folder)).filter(isProvider);
    service.proxy.clear();
    const pendingUp = stack.up({ end: "any" });
    await expect.poll(() => service.proxy.requests.some(({ path }) => path.includes("/status/"))).toBe(true);
    expect(await providers()).not.toEqual([]);
    const [engine] = (await stackProcesses(stack.folder)).filter(isEngine);
    if (!engine) throw new Error("no engine was found");
    process.kill(engine.pid, "SIGKILL");
    await expect.poll(providers).toEqual([]);
    await expectCancelled();
    await killStackProcesses(stack.folder);
    await pendingUp;
    await stack.command(["cancel", "--yes"]);
    await stack.writeProgram(program({ throws: ["echo", pong], late: ["slow", { input: { ms: 1 } }] }));
    const up = await stack.up();
    expect(up.operations).toMatchObject({ "JobInvoke late": ["create"], "JobInvoke differs": ["delete"] });
    expect(await providers()).toEqual([]);
  });

  it("destroys all failed and successful resources", async () => {
    service.proxy.clear();
    await stack.destroy();
    expect(await stack.resources()).toEqual([]);
    const { volumes: leftProcesses, templates, endpoints: keptId } = await service.listObjects();
    expect([leftProcesses.length, templates.length, keptId.length]).toEqual([0, 3, 3]);
    // The service does not manage jobs as objects, so destroying a job sends nothing.
    expect(service.proxy.requests.filter(({ path }) => /\/(run|runsync|cancel|status)\b/.test(path))).toEqual([]);
  });
}
