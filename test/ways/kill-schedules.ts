import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { dialect, restPaths } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { type Random, randomFrom } from "../support/random";
import type { Match } from "../support/recording-proxy";
import { registerSecret } from "../support/secret-scan";
import { killStackProcesses, restoreCheckpoint } from "../support/stack-processes";
import type { Way } from "./way";

/** Number of random schedules; KILL_ROUNDS=n overrides it, and KILL_SEED=n sets the first seed. */
const rounds = Number(process.env["KILL_ROUNDS"] ?? 5);
const firstSeed = Number(process.env["KILL_SEED"] ?? 1);

/** The request that creates each kind. */
const createRequests: Record<string, Match> = {
  NetworkVolume: { method: "POST", path: restPaths.volumes },
  ServerlessEndpoint: { method: "POST", path: restPaths.endpoints },
  ...(dialect === "v1"
    ? {
        Secret: { method: "POST", path: "/graphql", body: /secretCreate/ },
        Template: { method: "POST", path: "/graphql", body: /saveTemplate/ },
      }
    : {
        Secret: { method: "POST", path: "/v2/account/secrets" },
        Template: { method: "POST", path: "/v2/templates" },
      }),
};

/** Points at which the engine is killed, relative to the request of a create. */
const killPoints = ["not carried out", "carried out, no response", "response sent", "any time"] as const;

/**
 * An engine that is killed during creates: `recover` lists every object that the deployment left, the next deployment
 * succeeds with and without `recover`, and nothing of another stack is changed or deleted.
 */
export function describeKillSchedules(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  /** Ids of objects that do not belong to the stack. */
  let others: string[];
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    registerSecret("sesame-58e3", "a secret of the program");
    await stack.writeProgram(`
      const { NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${way.module}");
      const token = new Secret("token", { value: "sesame-58e3" });
      const models = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
      const worker = new Template("worker", { imageName: "${image("echo")}", env: { TOKEN: token.reference } });
      new ServerlessEndpoint("api", { templateId: worker.id, networkVolumeId: models.id, workersMax: 1 });
    `);
    // Objects of another stack and unmanaged objects have names that resemble this stack's.
    await service.rest("POST", "/networkvolumes", { name: "models-prod-3fa9c1b", size: 10, dataCenterId: "EU-RO-1" });
    await service.rest("POST", "/templates", { name: "worker", imageName: image("echo"), isServerless: true });
    others = await allIds();
  });
  afterEach(() => killStackProcesses(stack.folder));
  afterAll(() => stack.remove());

  async function allIds(): Promise<string[]> {
    return Object.values(await service.listObjects())
      .flat()
      .map(({ id }: { id: string }) => id);
  }

  /** Ids of the stack's objects that its state does not contain. */
  async function leftObjects(): Promise<string[]> {
    const knownIds = new Set([...others, ...(await stack.resources()).map(({ id }) => id)]);
    return (await allIds()).filter((id) => !knownIds.has(id));
  }

  /** Deploys, and kills the engine and everything that it started at the point. */
  async function upAndKill(victim: Match, point: (typeof killPoints)[number], random: Random): Promise<void> {
    if (point === "not carried out") service.proxy.inject(victim, { kind: "status", status: 429, retryAfter: "60" });
    if (point === "carried out, no response") service.proxy.inject(victim, { kind: "delayResponse", ms: 60_000 });
    if (point === "response sent") service.proxy.inject(victim, { kind: "delayRequest", ms: 0 });
    let isDone = false;
    const running = stack.up({ end: "any" }).finally(() => {
      isDone = true;
    });
    const isDue = (): boolean => {
      const { requests } = service.proxy;
      if (point === "any time") return requests.length > 0;
      const isKilled = requests.find(({ fault }) => fault !== undefined);
      return (
        isKilled !== undefined &&
        (point === "carried out, no response" ? isKilled.applied : isKilled.status !== undefined)
      );
    };
    while (!isDone && !isDue()) await delay(5);
    if (point === "any time") await delay(random.int(0, 400));
    await killStackProcesses(stack.folder);
    await running;
    service.proxy.clear();
    await restoreCheckpoint(stack.folder);
  }

  for (let seed = firstSeed; seed < firstSeed + rounds; seed++)
    it(`seed ${seed}: recover lists what a killed engine left, and the next deployment succeeds`, async () => {
      const random = randomFrom(seed);
      const kind = random.pick(Object.keys(createRequests));
      const [point, recovers] = [random.pick(killPoints), random.chance(0.5)];
      const schedule = `${kind}, ${point}, ${recovers ? "recovered" : "not recovered"}`;
      await upAndKill(createRequests[kind] ?? {}, point, random);

      const orphans = await leftObjects();
      if (point === "carried out, no response") expect(orphans, schedule).not.toEqual([]);
      const listed = await stack.tool(["recover"]);
      for (const id of orphans) expect(listed.stdout, `${schedule}\n${listed.stderr}`).toContain(id);
      for (const id of others) expect(listed.stdout, schedule).not.toContain(id);
      if (listed.code === 3) {
        const locked = await stack.tool(["recover", "--stack", "dev", "--yes"]);
        expect([locked.code, locked.stderr], schedule).toEqual([1, expect.stringMatching(/locked/)]);
      }

      await stack.command(["cancel", "--yes"], { end: "any" });
      if (recovers) {
        const recovered = await stack.tool(["recover", "--yes"]);
        expect(recovered.code, `${schedule}\n${recovered.stdout}${recovered.stderr}`).toBe(0);
        expect(await leftObjects(), schedule).toEqual([]);
      }
      await stack.up();
      expect(await stack.resources(), schedule).toHaveLength(4);
      // Without `recover`, the objects remain until the user deletes them.
      expect(await leftObjects(), schedule).toEqual(recovers ? [] : orphans);
      if (!recovers) await service.remove(new Set(orphans));

      await stack.destroy();
      expect((await allIds()).sort(), schedule).toEqual([...others].sort());
    });
}
