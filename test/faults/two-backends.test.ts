import { afterEach, expect, test } from "vitest";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { type Random, randomFrom } from "../support/random";
import type { RecordingProxy } from "../support/recording-proxy";
import { createDeployment, type Run } from "./support/deployment";
import { injectFaults, processOf } from "./support/fault-injection";
import { listServiceObjects, removeOrphans } from "./support/orphans";
import { createPrograms } from "./support/programs";
import { endOf, expectAgreement, idsIn, removeAll, seedsOf, withStory } from "./support/schedules";
import { contextAt } from "./support/wrong-addresses";

const bench = await useLifecycleBench({ templateRelease: 1000, deleteNeedsScaleDown: true });
/** A proxy for each project, so that killing one process does not affect the other. */
const [shopProxy, officeProxy] = [await bench.startProxy(), await bench.startProxy()];

type Operation = "up" | "refresh" | "destroy" | "nothing";

/** A backend with the same project, stack and resource names as the other backend, on the same account. */
function createProject(name: string, proxy: RecordingProxy, random: Random) {
  const programs = createPrograms(random);
  const deployment = createDeployment("shop");
  const run = (chance?: Random): Run => processOf(contextAt(bench, proxy.origin), proxy, chance);
  return {
    name,
    deployment,
    change: () => programs.change(),
    /** Runs an operation with injected faults; returns a description of its result. */
    async withFaults(operation: Operation): Promise<string> {
      if (operation === "nothing") return `${name}: nothing`;
      const injected = random.chance(0.7) ? injectFaults(proxy, random) : [];
      const end = await endOf(
        operation === "up" ? deployment.up(programs.current(), run(random)) : deployment[operation](run(random)),
      );
      proxy.clear();
      return `${name}: ${operation} with ${injected.join(" ")}: ${end}`;
    },
    /** Runs an operation without faults. */
    async undisturbed(operation: Operation): Promise<void> {
      if (operation === "up") await deployment.up(programs.current(), run());
      else if (operation !== "nothing") await deployment[operation](run());
    },
  };
}

/** Runs without faults, on a separate proxy. */
const undisturbed = (): Run => processOf(bench.context(), bench.proxy);

async function interleaving(seed: number, story: string[]): Promise<void> {
  const random = randomFrom(seed);
  const shop = createProject("first", shopProxy, randomFrom(seed * 1000));
  const office = createProject("second", officeProxy, randomFrom(seed * 1000 + 1));
  const both = [shop, office];
  const deployments = both.map(({ deployment }) => deployment);
  /** The records of a backend's objects. */
  const objectsOf = async (ids: string[]) => (await listServiceObjects(bench)).filter(({ id }) => ids.includes(id));

  for (let round = 0; round < 2; round++) {
    const steps = both.map((project) => {
      const later: Operation[] = ["up", "up", "refresh", "nothing", "destroy"];
      const operation: Operation = round === 0 && random.chance(0.8) ? "up" : random.pick(later);
      if (operation === "up" && random.chance(0.5)) project.change();
      return { project, operation };
    });
    const idle = steps.flatMap(({ project, operation }) => (operation === "nothing" ? idsIn(project.deployment) : []));
    const before = await objectsOf(idle);
    story.push(...(await Promise.all(steps.map(({ project, operation }) => project.withFaults(operation)))));
    await removeOrphans(bench, deployments, undisturbed);
    await Promise.all(steps.map(({ project, operation }) => project.undisturbed(operation)));
    await expectAgreement(bench, deployments, undisturbed());
    expect(await objectsOf(idle), "an idle backend keeps its objects").toEqual(before);
  }
  const [first, last] = random.chance(0.5) ? [shop, office] : [office, shop];
  const before = await objectsOf(idsIn(last.deployment));
  await first.undisturbed("destroy");
  expect(await listServiceObjects(bench), "a destroy leaves the other backend's objects").toEqual(before);
  await last.undisturbed("destroy");
  expect(await listServiceObjects(bench)).toEqual([]);
}

afterEach(async () => {
  for (const proxy of [shopProxy, officeProxy]) proxy.clear();
  await removeAll(bench, undisturbed());
});

test.each(seedsOf({ short: 8, full: 200 }))(
  "two backends with the same project and stack on one account, interleaving %i: neither adopts, changes or deletes the other's objects",
  (seed) => withStory(seed, (story) => interleaving(seed, story)),
  120_000,
);
