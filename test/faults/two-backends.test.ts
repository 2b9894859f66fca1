import { expect, test } from "vitest";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { contextAt } from "./support/astray";
import { createDeployment, type Run } from "./support/deployment";
import { heldObjects, removeLeftovers } from "./support/leftovers";
import { createPrograms } from "./support/programs";
import { type Random, randomFrom } from "./support/random";
import { processOf, sabotage } from "./support/sabotage";

/** FAULT_SEED=n replays one interleaving; FULL=1 runs more of them. */
const replayed = process.env["FAULT_SEED"];
const seeds = replayed
  ? [Number(replayed)]
  : Array.from({ length: process.env["FULL"] ? 200 : 60 }, (_, index) => index + 1);

const bench = await useLifecycleBench({ templateRelease: 1000, deleteNeedsScaleDown: true });
/** Each project's own way to the service: killing one process leaves the other alone. */
const proxies = [await bench.startProxy(), await bench.startProxy()];

type Operation = "up" | "refresh" | "destroy" | "nothing";

/** A backend with the same project, stack and resource names as the other one, on the same account. */
function createProject(name: string, proxy: (typeof proxies)[number], random: Random) {
  const programs = createPrograms(random);
  const deployment = createDeployment("shop");
  const run = (chance?: Random): Run => processOf(contextAt(bench, proxy.origin), proxy, chance);
  return {
    name,
    deployment,
    change: () => programs.change(),
    /** Runs an operation with injected faults; returns a description of its end. */
    async disturbed(operation: Operation): Promise<string> {
      if (operation === "nothing") return `${name}: nothing`;
      const injected = random.chance(0.7) ? sabotage(proxy, random) : [];
      const ending =
        operation === "up" ? deployment.up(programs.current(), run(random)) : deployment[operation](run(random));
      const end = await ending.then(
        () => "went well",
        (error: unknown) => `failed: ${error instanceof Error ? error.message : String(error)}`,
      );
      proxy.clear();
      return `${name}: ${operation} with ${injected.join(" ")}: ${end}`;
    },
    /** Runs an operation without faults. */
    async undisturbed(operation: Operation): Promise<void> {
      if (operation === "up") await deployment.up(programs.current(), run());
      else if (operation !== "nothing") await deployment[operation](run());
    },
    /** Differences between its state and the service, as ids and names of properties. */
    async disagreements(): Promise<string[]> {
      const { context } = run();
      const readings = [...deployment.state.resources].map(async ([resource, { kind, id, outputs }]) => {
        const reading = await kinds[kind].read(id, outputs, context);
        if (!reading) return [`${name}: ${resource} (${id}) is gone`];
        const changes = kinds[kind].diff(reading.outputs, outputs);
        return changes.map(({ path }) => `${name}: ${resource}: ${path.join(".")} differs`);
      });
      return (await Promise.all(readings)).flat();
    },
    ids: () => [...deployment.state.resources.values(), ...deployment.state.replaced].map(({ id }) => id),
  };
}

async function interleaving(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const [shop, office] = ["first", "second"].map((name, index) => {
    const proxy = proxies[index];
    if (!proxy) throw new Error("unreachable");
    return createProject(name, proxy, randomFrom(seed * 1000 + index));
  });
  if (!shop || !office) throw new Error("unreachable");
  const both = [shop, office];
  const story: string[] = [];
  const agree = async (): Promise<void> => {
    const held = (await heldObjects(bench)).map(({ id }) => id);
    expect([...shop.ids(), ...office.ids()].sort(), "each object belongs to one backend").toEqual(held.sort());
    expect((await Promise.all(both.map((one) => one.disagreements()))).flat()).toEqual([]);
  };
  /** The records of a backend's objects. */
  const objectsOf = async (ids: string[]) => (await heldObjects(bench)).filter(({ id }) => ids.includes(id));

  try {
    for (let round = 0; round < 2; round++) {
      const steps = both.map((project) => {
        const later: Operation[] = ["up", "up", "refresh", "nothing", "destroy"];
        const operation: Operation = round === 0 && random.chance(0.8) ? "up" : random.pick(later);
        if (operation === "up" && random.chance(0.5)) project.change();
        return { project, operation };
      });
      const idle = steps.flatMap(({ project, operation }) => (operation === "nothing" ? project.ids() : []));
      const before = await objectsOf(idle);
      story.push(...(await Promise.all(steps.map(({ project, operation }) => project.disturbed(operation)))));
      await removeLeftovers(
        bench,
        both.map(({ deployment }) => deployment),
        () => processOf(bench.context(), bench.proxy),
      );
      await Promise.all(steps.map(({ project, operation }) => project.undisturbed(operation)));
      await agree();
      expect(await objectsOf(idle), "an idle backend keeps its objects").toEqual(before);
    }
    const [first, last] = random.chance(0.5) ? [shop, office] : [office, shop];
    const before = await objectsOf(last.ids());
    await first.undisturbed("destroy");
    expect(await heldObjects(bench), "a destroy leaves the other backend's objects").toEqual(before);
    await last.undisturbed("destroy");
    expect(await heldObjects(bench)).toEqual([]);
  } catch (error) {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`interleaving ${seed} (FAULT_SEED=${seed} replays it):\n${story.join("\n")}\n${told}`, {
      cause: error,
    });
  } finally {
    for (const proxy of proxies) proxy.clear();
    const levels: Record<string, number> = { ServerlessEndpoint: 2, Template: 1 };
    const { state, destroy } = createDeployment();
    for (const { kind, id } of await heldObjects(bench))
      state.resources.set(id, { kind, level: levels[kind] ?? 0, id, outputs: {} });
    await destroy(processOf(bench.context(), bench.proxy));
  }
}

test.each(seeds)(
  "two backends with the same project and stack on one account, interleaving %i: neither adopts, changes or deletes the other's objects",
  interleaving,
  120_000,
);
