import { afterAll, afterEach, expect, test } from "vitest";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { randomFrom } from "../support/random";
import { at, stringAt } from "../support/raw-http";
import { byHand } from "./support/by-hand";
import { createDeployment, type Declared, type Deployment, type UpOptions } from "./support/deployment";
import { type EarlyEnd, type Serving, useImageJobs } from "./support/image-jobs";
import { endOf, removeAll, seedsOf, withStory } from "./support/schedules";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { servingNow, startRun, endKill } = await useImageJobs(bench);
const hand = byHand(bench);

const seeds = seedsOf({ short: 10, full: 300 });
const counts: Record<string, number> = {};
const countStep = (step: string): void => {
  counts[step] = (counts[step] ?? 0) + 1;
};
afterAll(() =>
  console.info(`rollback sequences ${seeds.at(0)} to ${seeds.at(-1)} with ${dialect}: ${JSON.stringify(counts)}`),
);

const textOf = ({ image, idleTimeout }: Serving): string => `${image} with idleTimeout ${idleTimeout}`;

/** Reasons of a failed verification. */
const reasons = /ended FAILED, expected COMPLETED\nerror: bad:\S+ cannot work|was still IN_\w+ after \d+ s/;

async function sequence(seed: number, story: string[]): Promise<void> {
  const random = randomFrom(seed);
  const deployment = createDeployment(`model-${seed}`);
  const hasOneTemplate = random.chance(0.7);
  const adopts = random.chance(0.3);
  const name = `model-${seed}`;
  let versions = 0;
  const nextVersion = (kind: string): Serving => ({
    image: `${kind}:${++versions}`,
    idleTimeout: random.pick([6, 6, 7, 9]),
  });

  /** The program with a version: one template that is replaced, or a template for each version. */
  function programOf({ image, idleTimeout }: Serving): Declared[] {
    const template = hasOneTemplate ? "template" : `template-${image.replace(":", "-")}`;
    const verify = { input: {}, expect: { output: { works: true } }, timeout: image.startsWith("hang") ? 3 : 60 };
    const settings = { workersMax: 1, idleTimeout, verify, ...(adopts ? { name, adoptExisting: true } : {}) };
    return [
      {
        name: template,
        kind: "Template",
        level: 1,
        inputs: () => ({ imageName: image, replaceOnChange: hasOneTemplate }),
      },
      {
        name: "endpoint",
        kind: "ServerlessEndpoint",
        level: 2,
        inputs: (deployed) => ({ templateId: deployed(template).id, ...settings }),
      },
    ];
  }
  const endpointOf = ({ state }: Deployment) => state.resources.get("endpoint");
  const templateIdInState = (): unknown => endpointOf(deployment)?.outputs["templateId"];

  /** Versions that may serve after a failed verification; nothing if the state names no earlier version. */
  let allowed: { images: string[]; idleTimeouts: number[] } = { images: [], idleTimeouts: [] };
  const allowOnly = ({ image, idleTimeout }: Serving): void => {
    allowed = { images: [image], idleTimeouts: [idleTimeout] };
  };
  /** True if the service differs from the state, by a change by hand or a kill. */
  let hasUnseenDrift = false;
  /** Images of the stack's templates, by id. */
  const images = new Map<string, string>();
  /** Image of a template, which may have been created by hand. */
  async function imageOf(id: unknown): Promise<string | undefined> {
    const known = images.get(String(id));
    if (known !== undefined || typeof id !== "string") return known;
    const { status, json } = await bench.rest("GET", `/templates/${id}`);
    return status === 200 ? String(at(json, "imageName")) : undefined;
  }
  let program = nextVersion("good");
  let good = program;

  /** Fails if a template is gone whose settings the endpoint runs. */
  async function checkTemplate(after: Serving | undefined): Promise<void> {
    const templateId = String(templateIdInState());
    if (after === undefined || images.get(templateId) !== after.image) return;
    const { status } = await bench.rest("GET", `/templates/${templateId}`);
    expect(status, "the template of the endpoint in state exists").toBe(200);
  }

  /** Fails unless a refresh would find the state of the endpoint. */
  async function checkState(): Promise<void> {
    const { id = "", outputs = {} } = endpointOf(deployment) ?? {};
    const readResult = await kinds.ServerlessEndpoint.read(id, outputs, startRun().context);
    const changes = kinds.ServerlessEndpoint.diff(readResult?.outputs ?? {}, outputs);
    // An unverified version is a change of `verify`, and a refresh may find a template with the same settings.
    const ignored = ["verify", ...(templateIdInState() === undefined ? ["templateId"] : [])];
    expect(changes.map(({ path: [key = ""] }) => key).filter((key) => !ignored.includes(key))).toEqual([]);
  }

  async function up(programVersion: Serving, options: UpOptions, end?: EarlyEnd): Promise<void> {
    const { id: known, outputs: stateBefore } = endpointOf(deployment) ?? {};
    const { templateId: stateTemplate, imageName: ownImage } = stateBefore ?? {};
    const stateImage = typeof ownImage === "string" ? ownImage : await imageOf(stateTemplate);
    const before = known === undefined ? undefined : await servingNow(known);
    const run = startRun(end);
    const result = await endOf(deployment.up(programOf(programVersion), run, options));
    // Without its template among the targets, the endpoint gets the template in state.
    const keptTemplate = options.targets?.includes("template") === false && deployment.state.resources.get("template");
    const version = { ...programVersion, ...(keptTemplate && { image: String(keptTemplate.outputs["imageName"]) }) };
    for (const { kind, id, outputs } of deployment.state.resources.values())
      if (kind === "Template") images.set(id, String(outputs["imageName"]));
    const isInterrupted = run.killed() || run.context.signal.aborted;
    const wasKilled = run.killed();
    endKill();
    const { id, outputs: stateAfter } = endpointOf(deployment) ?? {};
    const after = id === undefined ? undefined : await servingNow(id);
    const mark = stateAfter?.["unverified"];
    const label = `up of ${textOf(version)}${options.targets ? ` --target ${options.targets}` : ""}${options.continueOnError ? " --continue-on-error" : ""}`;
    story.push(
      `${label}${isInterrupted ? ` (${wasKilled ? "killed" : "cancelled"})` : ""}: ${result}\n    => ${after && textOf(after)}; state ${templateIdInState()} mark ${JSON.stringify(mark)}`,
    );
    countStep(`up ${isInterrupted ? (wasKilled ? "killed" : "cancelled") : result.slice(0, 6)}`);
    expect(result, "no message is a raw error").not.toMatch(/"path":|Zod|invalid_type|undefined/);
    if (wasKilled) {
      // Only the killed process knew what served before, unless the state has it.
      if (stateTemplate === undefined && stateImage === undefined) allowed.images = [];
      else if (hasUnseenDrift && stateImage) allowed.images.push(stateImage);
      if (hasUnseenDrift) allowed.idleTimeouts.push(Number(stateBefore?.["idleTimeout"]));
      hasUnseenDrift = true;
      return;
    }
    await checkTemplate(after);
    if (!after) return;
    if (options.targets?.includes("endpoint") === false) {
      // The state no longer has the template of a killed update, which the endpoint may run.
      if (hasUnseenDrift) allowed.images.push(after.image);
      return;
    }
    // A cancellation, or the failure of another resource, may come after the verification.
    const isVerified = !mark && images.get(String(templateIdInState())) === version.image;
    if (result === "went well" || (isVerified && !/failed its verification/.test(result))) {
      if (hasUnseenDrift && before?.image === after.image && after.image !== version.image) return;
      expect(after.image, "a successful deployment serves the program").toBe(version.image);
      if (!hasUnseenDrift) expect(after.idleTimeout).toBe(version.idleTimeout);
      expect(after.image, "a successful deployment is verified").toMatch(/^good/);
      expect(mark).toBeUndefined();
      hasUnseenDrift &&= after.idleTimeout !== version.idleTimeout;
      good = version;
      return allowOnly(after);
    }
    if (isInterrupted) return;
    if (!/failed its verification/.test(result)) return;
    expect(result, "the message has the reason").toMatch(reasons);
    if (allowed.images.length > 0) {
      const message = "what served before serves after a failed verification";
      expect(allowed.images, message).toContain(after.image);
      // A refresh would show values that are unknown to the state.
      const unseen = hasUnseenDrift ? [before?.idleTimeout, stateBefore?.["idleTimeout"]] : [];
      expect([...allowed.idleTimeouts, ...unseen], message).toContain(after.idleTimeout);
    } else expect(mark, "the state keeps the mark of an unverified version").toBeDefined();
    const [, failed, failedVersion, serving, servingVersion] =
      /(\S+) \(version (\d+)\) failed its verification; (\S+) \(version (\d+)\) keeps serving/.exec(result) ?? [];
    if (failedVersion !== undefined) {
      expect(failedVersion, "two versions have two numbers").not.toBe(servingVersion);
      expect([failed, serving], "the images of the message").toEqual([version.image, after.image]);
    }
    if (!hasUnseenDrift) await checkState();
    // A setting that the deployment does not change is not read.
    hasUnseenDrift &&= after.idleTimeout !== stateAfter?.["idleTimeout"];
    allowOnly(after);
  }

  /** Changes the endpoint outside the stack. */
  async function drift(id: string): Promise<void> {
    const { image, idleTimeout } = nextVersion("good");
    const how = random.pick(dialect === "v2" ? ["copy", "template", "idleTimeout"] : ["template", "idleTimeout"]);
    if (how === "idleTimeout") await hand.changeIdleTimeout(id, idleTimeout + 10);
    else await hand.changeImage(id, image, how === "copy" ? "copy" : "template");
    const now = await servingNow(id);
    if (how === "idleTimeout") allowed.idleTimeouts = [now.idleTimeout];
    else allowed = { images: [now.image], idleTimeouts: [...allowed.idleTimeouts, now.idleTimeout] };
    hasUnseenDrift = true;
    story.push(`drift by hand (${how}): ${textOf(now)}`);
    countStep("drift");
  }

  const randomOptions = (): UpOptions => ({
    ...(random.chance(0.25) ? { continueOnError: true } : {}),
    ...(hasOneTemplate && random.chance(0.2) ? { targets: [random.pick(["template", "endpoint"])] } : {}),
  });
  const randomEnd = (): EarlyEnd | undefined =>
    random.chance(0.3)
      ? { how: random.pick<EarlyEnd["how"]>(["kill", "Ctrl-C"]), afterProgress: random.int(1, 6) }
      : undefined;

  const start = adopts ? "adopt" : random.pick(["create", "create", "import"]);
  story.push(`${start}, ${hasOneTemplate ? "one template with replaceOnChange" : "a template for each version"}`);
  countStep(start);
  if (start !== "create") {
    const { image, idleTimeout } = nextVersion("good");
    const hasTemplate = dialect === "v1" || random.chance(0.5);
    const id = await hand[hasTemplate ? "createEndpoint" : "createOwnEndpoint"](name, image, idleTimeout);
    allowOnly(await servingNow(id));
    story.push(`unmanaged: ${JSON.stringify(allowed)}`);
    if (start === "import")
      await deployment.import({ name: "endpoint", kind: "ServerlessEndpoint", level: 2 }, id, startRun());
    const importedId = templateIdInState();
    if (typeof importedId === "string") images.set(importedId, image);
    if (random.chance(0.4)) await drift(id);
  }
  for (let steps = random.int(3, 7); steps > 0; steps--) {
    const id = endpointOf(deployment)?.id;
    const step = random.pick(["new", "new", "new", "again", "settings", "revert", "drift", "refresh"]);
    if (step === "drift" && id) await drift(id);
    else if (step === "refresh" && id) {
      await deployment.refresh(startRun());
      // After a kill, the refreshed state is all that is known.
      if (hasUnseenDrift) {
        const { image, idleTimeout } = await servingNow(id);
        allowed.images.push(image);
        allowed.idleTimeouts.push(idleTimeout);
      }
      hasUnseenDrift = false;
      // A refresh keeps the mark of an interrupted verification, whose previous version a failure restores.
      const image = await imageOf(at(endpointOf(deployment)?.outputs, "unverified", "before", "templateId"));
      if (image !== undefined) allowed.images.push(image);
      // A refresh finds templates that were created outside the stack, and keeps the id of a deleted one.
      const templateId = templateIdInState();
      const found = await bench.rest("GET", `/templates/${templateId}`);
      if (found.status === 200) images.set(String(templateId), stringAt(found, "imageName"));
      story.push(`refresh: state ${templateIdInState()}`);
      countStep("refresh");
    } else {
      if (step === "new") program = nextVersion(random.pick(["good", "bad", "bad", "hang"]));
      if (step === "settings") program = { ...program, idleTimeout: random.pick([6, 7, 8, 9]) };
      if (step === "revert") program = good;
      await up(program, deployment.state.resources.size === 0 ? {} : randomOptions(), randomEnd());
    }
  }
  await deployment.refresh(startRun());
  hasUnseenDrift = false;
  const last = nextVersion("good");
  await up(last, {});
  expect(textOf(await servingNow(endpointOf(deployment)?.id ?? "")), "the last deployment succeeds").toBe(textOf(last));
  await hand.deleteOtherEndpoints(endpointOf(deployment)?.id);
  await deployment.destroy(startRun());
}

afterEach(async () => {
  endKill();
  await removeAll(bench, startRun());
});

test.each(seeds)(
  "sequence %i: what served before a deployment serves after its failed verification",
  (seed) => withStory(seed, (story) => sequence(seed, story)),
  180_000,
);
