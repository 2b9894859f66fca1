import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomFrom } from "../faults/support/random";
import { fingerprinted } from "../support/default-names";
import { dialect, restPaths } from "../support/dialect";
import { type EngineService, type Held, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Fault, Match } from "../support/recording-proxy";
import { isProvider, stackProcesses } from "../support/stack-processes";
import type { Way } from "./way";

/** Schedules that are drawn; FAULT_SEED=n begins with that one. */
const rounds = 30;
const firstSeed = Number(process.env["FAULT_SEED"] ?? 1);
/** The provider's process can be identified only through /proc. */
const canKill = existsSync("/proc/self");

/** An object of a list on the wire. */
const anyOf = (path: string): RegExp => new RegExp(`^${path}/`);

/** Requests that create and update a template. */
export const templateIs: Record<"made" | "changed", Match> =
  dialect === "v1"
    ? {
        made: { method: "POST", path: "/graphql", body: /saveTemplate/ },
        changed: { method: "POST", path: "/graphql", body: /saveTemplate/ },
      }
    : { made: { method: "POST", path: "/v2/templates" }, changed: { method: "PATCH", path: /templates/ } };

/** Requests that create and update a secret. */
export const secretIs: Record<"made" | "changed", Match> =
  dialect === "v1"
    ? {
        made: { method: "POST", path: "/graphql", body: /secretCreate/ },
        changed: { method: "POST", path: "/graphql", body: /secretValueUpdate/ },
      }
    : {
        made: { method: "POST", path: "/v2/account/secrets" },
        changed: { method: "PATCH", path: anyOf("/v2/account/secrets") },
      };

/** Requests that create or update objects; one of them fails. */
const victims: Record<"making" | "changing", Match[]> = {
  making: [
    { method: "POST", path: restPaths.endpoints },
    { method: "POST", path: restPaths.volumes },
    templateIs.made,
    secretIs.made,
  ],
  changing: [
    { method: "PATCH", path: anyOf(restPaths.endpoints) },
    { method: "PATCH", path: anyOf(restPaths.volumes) },
    templateIs.changed,
    secretIs.changed,
  ],
};

/** Fault of that request; "kill" kills the process that runs the provider. */
type Trouble = Fault | "kill";

const troubles: Trouble[] = [
  { kind: "dropBeforeSend" },
  { kind: "dropAfterAnswer" },
  { kind: "reset", carriedOut: true },
  { kind: "halfBody" },
  { kind: "status", status: 500, carriedOut: true },
  { kind: "status", status: 502 },
  { kind: "status", status: 503, retryAfter: "1" },
  { kind: "status", status: 504, carriedOut: true },
  { kind: "status", status: 429, retryAfter: "1" },
  ...(canKill ? (["kill", "kill", "kill"] as const) : []),
];

interface Schedule {
  victim: Match;
  trouble: Trouble;
  /** True if the schedule ends with a destroy. */
  destroys: boolean;
}

/** Schedules of every run, in addition to the random ones. */
const always: [title: string, Schedule][] = [
  [
    "a kill while a volume is made",
    { victim: { method: "POST", path: restPaths.volumes }, trouble: "kill", destroys: true },
  ],
  [
    "a kill while an endpoint is made",
    { victim: { method: "POST", path: restPaths.endpoints }, trouble: "kill", destroys: false },
  ],
  [
    "a kill while a volume is changed",
    { victim: { method: "PATCH", path: anyOf(restPaths.volumes) }, trouble: "kill", destroys: true },
  ],
  [
    "the lost answer to the create of a secret",
    {
      victim: secretIs.made,
      trouble: { kind: "dropAfterAnswer" },
      destroys: false,
    },
  ],
];

/** Deployments with faults leave nothing behind that the next deployment does not repair. */
export function faultSchedulesThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  let deployed = false;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  const program = (count: number): string => `
  const { NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${way.module}");
  const token = new Secret("token", { value: "sesame-${count}" });
  const volume = new NetworkVolume("models", { size: ${10 + count}, dataCenterId: "EU-RO-1" });
  const template = new Template("worker", {
    imageName: "${image("echo")}", env: { COUNT: "${count}", TOKEN: token.reference },
  });
  new ServerlessEndpoint("api", { templateId: template.id, networkVolumeId: volume.id, workersMax: ${1 + (count % 3)} });
`;

  /** Runs a deployment whose process is killed at the next request that matches `victim`. */
  async function upKilled(victim: Match): Promise<void> {
    service.proxy.inject(victim, { kind: "answerLate", ms: 15_000 });
    let over = false;
    const ended = stack.up().finally(() => {
      over = true;
    });
    // The service has carried it out, but the response does not reach the provider.
    const carriedOut = () => service.proxy.requests.some((one) => one.fault === "answerLate" && one.carriedOut);
    while (!over && !carriedOut()) await delay(20);
    const providers = (await stackProcesses(stack.folder)).filter(isProvider);
    expect(providers.length, "processes to kill").toBeGreaterThan(0);
    expect(over, "the deployment ended before the kill").toBe(false);
    for (const { pid } of providers) process.kill(pid, "SIGKILL");
    const { code, output } = await ended;
    expect(code, output).not.toBe(0);
  }

  /** Deletes the objects that a killed create left, as the user does with the list of "recover". Returns their ids. */
  async function removeLeftovers(): Promise<string[]> {
    const inState = (await stack.resources()).map(({ id }) => id);
    const held = Object.values(await service.holdings()).flatMap((objects: Held[]) => objects.map(({ id }) => id));
    const removed = held.filter((id) => !inState.includes(id));
    await service.remove(new Set(removed));
    return removed;
  }

  let round = -1;
  async function play({ victim, trouble, destroys }: Schedule): Promise<void> {
    round += 1;
    const told = `${JSON.stringify({ ...victim, body: victim.body?.source })} ${JSON.stringify(trouble)}`;
    service.proxy.clear();
    await stack.program(program(round));
    if (trouble === "kill") await upKilled(victim);
    else {
      service.proxy.inject(victim, trouble);
      await stack.up();
    }
    expect(service.proxy.requests.filter((request) => request.fault).length, told).toBeGreaterThan(0);
    service.proxy.clear();
    const left = await removeLeftovers();
    // Other creates may have been in flight as well.
    expect(left.length > 0, told).toBe(trouble === "kill" && !deployed);
    const up = await stack.up();
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
    if (!destroys) return;
    const destroy = await stack.destroy();
    deployed = false;
    expect(destroy.code, `${told}\n${destroy.output}`).toBe(0);
    expect(await service.holdings(), told).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
  }

  for (const [title, schedule] of always) {
    it.runIf(canKill || schedule.trouble !== "kill")(
      `after ${title} and one more deployment, state and service agree`,
      () => play(schedule),
    );
  }

  for (let seed = firstSeed; seed < firstSeed + rounds; seed++) {
    it(`seed ${seed}: after a fault and one more deployment, state and service agree`, async () => {
      const random = randomFrom(seed);
      const victim = random.pick(victims[deployed ? "changing" : "making"]);
      await play({ victim, trouble: random.pick(troubles), destroys: random.chance(0.5) });
    });
  }
}
