import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fingerprinted } from "../support/default-names";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Fault, Match } from "../support/recording-proxy";
import type { Door } from "./door";

/** Deployments that go wrong once: all of them with FULL=1 (`npm run test:full`), a few otherwise. */
const rounds = process.env["FULL"] ? 30 : 2;
const firstSeed = Number(process.env["FAULT_SEED"] ?? 1);

/** A repeatable source of numbers from 0 to 1. */
function random(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The requests that make something, or change what is there; one of them goes wrong. */
const victims: Record<"making" | "changing", Match[]> = {
  making: [
    { method: "POST", path: "/v1/endpoints" },
    { method: "POST", path: "/v1/networkvolumes" },
    { method: "POST", path: "/graphql", body: /saveTemplate/ },
    { method: "POST", path: "/graphql", body: /secretCreate/ },
  ],
  changing: [
    { method: "PATCH", path: /endpoints/ },
    { method: "PATCH", path: /networkvolumes/ },
    { method: "POST", path: "/graphql", body: /saveTemplate/ },
    { method: "POST", path: "/graphql", body: /secretValueUpdate/ },
  ],
};

const faults: (Fault | "kill")[] = [
  { kind: "dropBeforeSend" },
  { kind: "dropAfterAnswer" },
  { kind: "reset", carriedOut: true },
  { kind: "halfBody" },
  { kind: "status", status: 500, carriedOut: true },
  { kind: "status", status: 502 },
  { kind: "status", status: 503, retryAfter: "1" },
  { kind: "status", status: 504, carriedOut: true },
  { kind: "status", status: 429, retryAfter: "1" },
  "kill",
  "kill",
  "kill",
];

/** Kills the process that runs our code for this stack, as the machine's end would. */
async function killProvider(stack: Stack): Promise<boolean> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, "latin1").catch(() => "");
    const command = await read("cmdline");
    if (!/dynamic-provider|pulumi-resource-serverless-compute/.test(command)) continue;
    if (!(await read("environ")).includes(stack.folder)) continue;
    process.kill(Number(pid), "SIGKILL");
    return true;
  }
  return false;
}

/** What goes wrong in a deployment leaves nothing behind that the next one does not put right. */
export function faultSchedulesThrough(door: Door): void {
  let service: EngineService;
  let stack: Stack;
  let deployed = false;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await door.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  const program = (count: number, volume: object = {}): string => `
  const { NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${door.module}");
  const token = new Secret("token", { value: "sesame-${count}" });
  const volume = new NetworkVolume("models", { size: ${10 + count}, dataCenterId: "EU-RO-1", ...${JSON.stringify(volume)} });
  const template = new Template("worker", {
    imageName: "${image("echo")}", env: { COUNT: "${count}", TOKEN: token.reference },
  });
  new ServerlessEndpoint("api", { templateId: template.id, networkVolumeId: volume.id, workersMax: ${1 + (count % 3)} });
`;

  /** Runs a deployment in which the next request that fits `victim` is the last one of its process. */
  async function upKilled(victim: Match): Promise<void> {
    service.proxy.inject(victim, { kind: "answerLate", ms: 4000 });
    const ended = stack.up();
    let over = false;
    ended.finally(() => {
      over = true;
    });
    while (!over && !service.proxy.requests.some(({ fault }) => fault === "answerLate")) await delay(20);
    // The service carries it out meanwhile, and its answer finds nobody.
    if (!over) await delay(200);
    if (!over) await killProvider(stack);
    await ended;
  }

  for (let round = 0; round < rounds; round++) {
    const seed = firstSeed + round;
    it(`seed ${seed}: after a fault and one more deployment, state and service agree`, async () => {
      const draw = random(seed);
      const pick = <One>(list: readonly One[]): One => {
        const one = list[Math.floor(draw() * list.length)];
        if (one === undefined) throw new Error("nothing to pick from");
        return one;
      };
      const [victim, fault] = [pick(victims[deployed ? "changing" : "making"]), pick(faults)];
      const told = `${JSON.stringify({ ...victim, body: victim.body?.source })} ${JSON.stringify(fault)}`;
      service.proxy.clear();
      await stack.program(program(round));
      if (fault === "kill") await upKilled(victim);
      else {
        service.proxy.inject(victim, fault);
        await stack.up();
      }
      expect(service.proxy.requests.filter((request) => request.fault).length, told).toBeGreaterThan(0);
      service.proxy.clear();
      let up = await stack.up();
      if (up.code !== 0 && fault === "kill" && victim.path === "/v1/networkvolumes") {
        // A volume that a killed run left may hold data: the create stops and says how to go on.
        expect(up.output, told).toContain("set adoptExisting: true or import it");
        await stack.program(program(round, { adoptExisting: true }));
        up = await stack.up();
      }
      deployed = true;
      expect(up.code, `${told}\n${up.output}`).toBe(0);
      const { endpoints, volumes, templates, secrets } = await service.holdings();
      expect({ endpoints, volumes, templates, secrets }, told).toMatchObject({
        endpoints: [{ name: fingerprinted("api-dev"), workersMax: 1 + (round % 3) }],
        volumes: [{ name: fingerprinted("models-dev"), size: 10 + round }],
        templates: [{ name: fingerprinted("worker-dev"), env: { COUNT: `${round}` } }],
        secrets: [{ name: fingerprinted("token-dev") }],
      });
      const ids = (await stack.resources()).map(({ id }) => id).sort();
      expect(ids, told).toEqual([endpoints, volumes, templates, secrets].map(([one]) => one?.id).sort());
      if (draw() < 0.5) return;
      const destroy = await stack.destroy();
      deployed = false;
      expect(destroy.code, `${told}\n${destroy.output}`).toBe(0);
      expect(await service.holdings(), told).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
    });
  }
}
