import { describe, expect, test } from "vitest";
import type { Context, Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { dialect, restPaths, secretValueUpdate } from "../support/dialect";
import { propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { stringAt } from "../support/raw-http";
import { objectCases } from "./support/kinds";

const bench = await useLifecycleBench();
const cases = await objectCases(bench);

/** Whether the dialect can only make another one: what is saved cannot be taken over, for nobody knows what it holds. */
const cannotChange = (kind: string): boolean => dialect === "v2" && kind === "ContainerRegistryAuth";

let count = 0;
const freshName = (): string => `left${count++}-dev`;
const minute = 60_000;

describe.each(cases)("a $kind that a killed process left", ({ kind, news, create, held, unique }) => {
  const lifecycle = kinds[kind];
  /** Data, or credentials that nobody can date: for these its owner decides. */
  const stops = kind === "NetworkVolume" || kind === "ContainerRegistryAuth";
  const inputsOf = (name: string, more: Properties = {}): Properties =>
    lifecycle.check({}, { ...news, ...more }, name).inputs;
  const idsOf = async (name: string): Promise<string[]> =>
    (await bench.held(held)).map(propertiesIn).flatMap((one) => (one["name"] === name ? [String(one["id"])] : []));

  /** A process that is killed after the service made the object and before it learned of it; answers the object's id. */
  async function leave(name: string): Promise<string> {
    bench.proxy.inject(create, { kind: "clientGone", carriedOut: true });
    await lifecycle.create(inputsOf(name), bench.context({ defaultName: name })).catch(() => undefined);
    bench.proxy.clear();
    const [id = "", ...others] = await idsOf(name);
    expect([id.length > 0, others]).toEqual([true, []]);
    return id;
  }

  /** What the next process does about it: makes or takes one, answers its id; undefined when it was refused. */
  async function again(inputs: Properties, overrides: Partial<Context>): Promise<string | undefined> {
    const made = await lifecycle.create(inputs, bench.context(overrides)).catch((error: unknown) => {
      expect(String(error)).toContain("the name is already taken");
      return undefined;
    });
    return made?.id;
  }

  /** It was left alone: a second one was made where names may be the same, else the name is already taken. */
  async function expectLeftAlone(name: string, id: string, second: string | undefined): Promise<void> {
    expect(second).not.toBe(id);
    expect(second === undefined).toBe(unique);
    expect(await idsOf(name)).toEqual(unique ? [id] : [id, second]);
  }

  if (stops) {
    test("stops the next run of the same resource, which names it and what can be done", async () => {
      const name = freshName();
      const id = await leave(name);
      await expect(lifecycle.create(inputsOf(name), bench.context({ defaultName: name }))).rejects.toThrow(
        stopped(kind, name, [id]),
      );
      expect(await idsOf(name)).toEqual([id]);
      const adopting = lifecycle.create(inputsOf(name, { adoptExisting: true }), bench.context({ defaultName: name }));
      if (cannotChange(kind)) await expect(adopting).rejects.toThrow("adoptExisting cannot take over");
      else expect((await adopting).id).toBe(id);
    });
  } else {
    test("is taken over by the next run of the same resource", async () => {
      const name = freshName();
      const id = await leave(name);
      const context = bench.context({ defaultName: name });
      const made = await lifecycle.create(inputsOf(name), context);
      expect(made.id).toBe(id);
      expect(await idsOf(name)).toEqual([id]);
      expect(context.warned).toEqual([]);
      // What the service tells is what state says.
      expect(lifecycle.diff(made.outputs, inputsOf(name))).toEqual([]);
      expect((await lifecycle.read(id, made.outputs, bench.context()))?.outputs).toEqual(made.outputs);
    });

    test("stays when the old one of a forced replacement is deleted, which it is itself", async () => {
      const name = freshName();
      const { id, outputs } = await lifecycle.create(inputsOf(name), bench.context({ defaultName: name }));
      const context = bench.context({ defaultName: name });
      expect((await lifecycle.create(inputsOf(name), context)).id).toBe(id);
      await lifecycle.delete(id, outputs, context);
      expect(await idsOf(name)).toEqual([id]);
      expect(context.warned).toEqual([
        `${kind} "${name}" was kept, not replaced: the new one took it over. To force a replacement, set the resource option deleteBeforeReplace: true.`,
      ]);
    });
  }

  test("is left alone when the user chose its name", async () => {
    const name = freshName();
    const id = await leave(name);
    await expectLeftAlone(name, id, await again(inputsOf(name), { defaultName: "another-dev" }));
  });

  test("is left alone when the state has it", async () => {
    const name = freshName();
    const id = await leave(name);
    const overrides = { defaultName: name, inState: new Set([id]) };
    await expectLeftAlone(name, id, await again(inputsOf(name), overrides));
  });

  test("is taken by one of two resources at most", async () => {
    const name = freshName();
    const id = await leave(name);
    const context = bench.context({ defaultName: name });
    const results = await Promise.allSettled([1, 2].map(() => lifecycle.create(inputsOf(name), context)));
    const ids = results.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
    expect(ids.filter((one) => one === id)).toHaveLength(stops ? 0 : 1);
    expect(ids).toHaveLength(stops ? 0 : unique ? 1 : 2);
  });
});

const stopped = (kind: string, name: string, ids: string[]): string =>
  `${kind} "${name}": an object with this name exists (${ids.join(", ")}) that is not part of this deployment; ` +
  "an interrupted deployment may have left it. " +
  (cannotChange(kind) ? "" : 'To use it, set adoptExisting: true or import it with "pulumi import" (plugin only). ') +
  "To leave it alone, set another name. Else delete it.";
const warned = (kind: string, name: string, ids: string[]): string =>
  `another ${kind} named "${name}" exists (${ids.join(", ")}) that is not part of this deployment: ` +
  "an interrupted deployment may have left it. Delete it unless it is in use.";

describe("an object of the resource's name that is not taken over is told of", () => {
  const endpoint = cases.find(({ kind }) => kind === "ServerlessEndpoint");
  const { ServerlessEndpoint, NetworkVolume, Template, Secret } = kinds;
  const templateId = String(endpoint?.news["templateId"]);
  const volume = (name: string): Properties =>
    NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, name).inputs;
  const volumeByHand = async (body: object): Promise<string> =>
    stringAt(await bench.rest("POST", "/networkvolumes", body), "id");

  test("when it is a volume of another size: it may hold data, so the create stops", async () => {
    const name = freshName();
    const id = await volumeByHand({ name, size: 11, dataCenterId: "EU-RO-1" });
    const create = NetworkVolume.create(volume(name), bench.context({ defaultName: name }));
    await expect(create).rejects.toThrow(stopped("NetworkVolume", name, [id]));
  });

  test("when it is a volume elsewhere, which this resource cannot become: a new one is made, with a warning", async () => {
    const name = freshName();
    const id = await volumeByHand({ name, size: 10, dataCenterId: "US-KS-2" });
    const context = bench.context({ defaultName: name });
    expect((await NetworkVolume.create(volume(name), context)).id).not.toBe(id);
    expect(context.warned).toEqual([warned("NetworkVolume", name, [id])]);
  });

  test("when there are two of them", async () => {
    const name = freshName();
    const body = { name, size: 10, dataCenterId: "EU-RO-1" };
    const ids = [await volumeByHand(body), await volumeByHand(body)];
    const create = NetworkVolume.create(volume(name), bench.context({ defaultName: name }));
    await expect(create).rejects.toThrow(stopped("NetworkVolume", name, ids));
  });

  test("when it is a template that differs in anything", async () => {
    const name = freshName();
    const id = stringAt(await bench.rest("POST", "/templates", { name, imageName: "b:1", isServerless: true }), "id");
    const inputs = Template.check({}, { imageName: "a:1" }, name).inputs;
    await expect(Template.create(inputs, bench.context({ defaultName: name }))).rejects.toThrow(
      stopped("Template", name, [id]),
    );
  });

  test("when an endpoint was made longer ago than an interruption lasts, by the service's own clock", async () => {
    for (const [age, taken] of [
      [14 * minute, true],
      [16 * minute, false],
    ] as const) {
      const name = freshName();
      const inputs = ServerlessEndpoint.check({}, { templateId }, name).inputs;
      const { id } = await ServerlessEndpoint.create(inputs, bench.context());
      await bench.clock.leap(age);
      const context = bench.context({ defaultName: name });
      const second = await ServerlessEndpoint.create(inputs, context);
      expect(second.id === id).toBe(taken);
      expect(context.warned).toEqual(taken ? [] : [warned("ServerlessEndpoint", name, [id])]);
    }
  });

  test("when a secret was made longer ago", async () => {
    const name = freshName();
    const inputs = Secret.check({}, { value: "vvvv" }, name).inputs;
    const { id } = await Secret.create(inputs, bench.context());
    await bench.clock.leap(16 * minute);
    await expect(Secret.create(inputs, bench.context({ defaultName: name }))).rejects.toThrow(
      stopped("Secret", name, [id]),
    );
  });

  test("when it is in use: an endpoint had jobs or runs the template, a template refers to the secret", async () => {
    const name = freshName();
    const template = Template.check({}, { imageName: "a:1", env: { T: `{{ RUNPOD_SECRET_${name} }}` } }, name).inputs;
    const secret = Secret.check({}, { value: "vvvv" }, name).inputs;
    const made = {
      template: await Template.create(template, bench.context()),
      secret: await Secret.create(secret, bench.context()),
    };
    const inputs = ServerlessEndpoint.check({}, { templateId: made.template.id, workersMax: 0 }, name).inputs;
    const first = await ServerlessEndpoint.create(inputs, bench.context());
    const { serverlessUrl, apiKey } = bench.addresses;
    const submitted = await fetch(`${serverlessUrl}/v2/${first.id}/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ input: {} }),
    });
    expect(submitted.status).toBe(200);
    const context = bench.context({ defaultName: name });
    await expect(Template.create(template, context)).rejects.toThrow(stopped("Template", name, [made.template.id]));
    await expect(Secret.create(secret, context)).rejects.toThrow(stopped("Secret", name, [made.secret.id]));
    expect((await ServerlessEndpoint.create(inputs, context)).id).not.toBe(first.id);
    expect(context.warned).toEqual([warned("ServerlessEndpoint", name, [first.id])]);
  });
});

test("a secret and credentials that are taken over get their values again: nobody can tell what they hold", async () => {
  for (const { kind, news, create } of cases.filter(
    (one) => (one.kind === "Secret" || one.kind === "ContainerRegistryAuth") && !cannotChange(one.kind),
  )) {
    const name = freshName();
    const adoptExisting = kind === "ContainerRegistryAuth";
    const inputs = kinds[kind].check({}, news, name).inputs;
    bench.proxy.inject(create, { kind: "clientGone", carriedOut: true });
    await kinds[kind].create(inputs, bench.context({ defaultName: name })).catch(() => undefined);
    bench.proxy.clear();
    const write = kind === "Secret" ? secretValueUpdate : { body: /updateRegistryAuth/ };
    bench.proxy.inject(write, { kind: "delay", ms: 0 });
    await kinds[kind].create({ ...inputs, adoptExisting }, bench.context({ defaultName: name }));
    expect(bench.proxy.pendingFaults()).toBe(0);
  }
});

test("a create without anything left costs no request more", async () => {
  const name = freshName();
  const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, name).inputs;
  bench.asked();
  await kinds.NetworkVolume.create(inputs, bench.context({ defaultName: name }));
  expect(bench.asked()).toEqual([`GET ${restPaths.volumes}`, `POST ${restPaths.volumes}`]);
});
