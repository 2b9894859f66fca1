import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { type Random, randomFrom } from "../support/random";
import { registerSecret } from "../support/secret-scan";
import { killStackProcesses, restoreCheckpoint } from "../support/stack-processes";
import { dynamicWay } from "./way";

/** Random steps; BACKEND_STEPS=n sets their number, BACKEND_SEED=n the seed. */
const steps = Number(process.env["BACKEND_STEPS"] ?? 20);
const seed = Number(process.env["BACKEND_SEED"] ?? 1);

/** Two backends with the same project, stack and resource names, and one account. */
interface Backend {
  stack: Stack;
  secret: string;
  version: number;
}

let service: EngineService;
let backends: [Backend, Backend];
beforeAll(async () => {
  service = await useEngineService();
  const backend = async (secret: string): Promise<Backend> => {
    registerSecret(secret, "a secret of the program");
    return { stack: await dynamicWay.createStack(service.environment), secret, version: 0 };
  };
  backends = [await backend("sesame-77a1"), await backend("sesame-77a2")];
});
afterEach(async () => {
  for (const { stack } of backends) await killStackProcesses(stack.folder);
});
afterAll(async () => {
  for (const { stack } of backends) await stack.remove();
});

/** The program of README.md, with registry credentials and the versions' number in the environment. */
const program = ({ secret, version }: Backend): string => `
  const { ContainerRegistryAuth, NetworkVolume, Secret, VerifiedEndpoint } = require("${dynamicWay.module}");
  const token = new Secret("hub-token", { value: "${secret}", description: "version ${version}" });
  const registry = new ContainerRegistryAuth("registry", { username: "robot", password: "${secret}" });
  const models = new NetworkVolume("models", { size: ${100 + version}, dataCenterId: "EU-RO-1" });
  new VerifiedEndpoint("chat", {
    template: {
      imageName: "${image("echo")}",
      containerDiskInGb: 20,
      containerRegistryAuthId: registry.id,
      env: { MODEL: "mistral-7b", VERSION: "${version}", HUB_TOKEN: token.reference },
    },
    endpoint: { networkVolumeId: models.id, workersMin: 0, workersMax: 1 },
    verify: { input: { text: "pong" }, expect: { output: { text: "pong" } }, timeout: 60 },
  });
`;

const listedShape = z.array(z.looseObject({ id: z.string() }));

/** All objects of the account by id, without the readiness of workers, which changes on its own. */
async function objects(): Promise<Map<string, object>> {
  const { endpoints, volumes, templates, secrets } = await service.listObjects();
  const registries = listedShape.parse(await service.rest("GET", "/containerregistryauth"));
  const all = [...endpoints.map(({ workers: _workers, ...object }) => object), ...volumes, ...templates, ...secrets];
  return new Map([...all, ...registries].map((object) => [object.id, object]));
}

/** Deploys, and kills the engine with all its processes after some requests. */
async function upAndKill(stack: Stack, random: Random): Promise<void> {
  service.proxy.clear();
  const [count, wait] = [random.int(1, 12), random.int(0, 50)];
  let isDone = false;
  const stacks = stack.up().finally(() => {
    isDone = true;
  });
  while (!isDone && service.proxy.requests.length < count) await delay(5);
  await delay(wait);
  await killStackProcesses(stack.folder);
  await stacks;
  await restoreCheckpoint(stack.folder);
  await stack.command(["cancel", "--yes"]);
}

/** Deletes endpoints that no state contains, as a user does with the list of `recover`, because they use a volume. */
async function removeUnfinishedEndpoints(): Promise<void> {
  const states = await Promise.all(backends.map(({ stack }) => stack.resources()));
  const knownIds = new Set(states.flat().map(({ id }) => id));
  const ids = (await service.listObjects()).endpoints.map(({ id }) => id);
  await service.remove(new Set(ids.filter((id) => !knownIds.has(id))));
}

const random = randomFrom(seed);
for (let step = 1; step <= steps; step++)
  it(`step ${step} of seed ${seed}: the commands of one backend do not change the objects of the other`, async () => {
    const [own, other] = random.chance(0.5) ? [backends[0], backends[1]] : [backends[1], backends[0]];
    const action = random.pick(["up", "killed up", "refresh", "destroy", "killed up, recover"]);
    const schedule = `${own.secret === "sesame-77a1" ? "first" : "second"} backend, ${action}`;
    const before = await objects();
    const otherBackend = new Set((await other.stack.resources()).flatMap(({ id }) => id ?? []));

    if (action === "destroy") {
      const destroy = await own.stack.destroy();
      expect(destroy.code, `${schedule}\n${destroy.output}`).toBe(0);
    } else if (action === "refresh") {
      const refresh = await own.stack.refresh();
      expect(refresh.code, `${schedule}\n${refresh.output}`).toBe(0);
    } else {
      own.version += 1;
      await own.stack.writeProgram(program(own));
      if (action !== "up") await upAndKill(own.stack, random);
      if (action === "killed up, recover") {
        const recover = await own.stack.tool(["recover", "--yes"]);
        expect(recover.code, `${schedule}\n${recover.stdout}${recover.stderr}`).toBe(0);
      }
      const up = await own.stack.up();
      if (action === "killed up") await removeUnfinishedEndpoints();
      expect(up.code, `${schedule}\n${up.output}`).toBe(0);
      const secondUp = await own.stack.preview({ args: ["--expect-no-changes"] });
      expect(secondUp.code, `${schedule}\n${secondUp.output}`).toBe(0);
    }

    const remaining = await objects();
    for (const [id, object] of before) if (otherBackend.has(id)) expect(remaining.get(id), schedule).toEqual(object);
    const stateIds = (await own.stack.resources()).flatMap(({ id }) => id ?? []);
    const sharedIds = stateIds.filter((id) => otherBackend.has(id));
    expect(sharedIds, schedule).toEqual([]);
  });
