import { describe, expect, test } from "vitest";
import { PartialFailure, type Properties } from "../../../../provider/lifecycle/contract";
import { type Kind, kinds } from "../../../../provider/resources";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { stringAt } from "../../../support/raw-http";
import type { Fault, Match } from "../../../support/recording-proxy";

const bench = await useLifecycleBench();
const templateId = stringAt(
  await bench.rest("POST", "/templates", { name: "base", imageName: "a:1", isServerless: true }),
  "id",
);

type Made = Exclude<Kind, "JobInvoke">;
type Held = Parameters<typeof bench.held>[0];

/** Each kind that makes something: its inputs, its create on the wire, and where the service lists it. */
const cases: [Made, { news: Properties; match: Match; list: Match; held: Held }][] = [
  [
    "Template",
    {
      news: { imageName: "a:1", env: { A: "1" }, ports: "80/http" },
      match: { body: /saveTemplate/ },
      list: { body: /podTemplates/ },
      held: "templates",
    },
  ],
  [
    "ServerlessEndpoint",
    {
      news: { templateId, gpuTypeIds: ["NVIDIA L4"], workersMax: 0 },
      match: { method: "POST", path: "/v1/endpoints" },
      list: { method: "GET", path: "/v1/endpoints" },
      held: "endpoints",
    },
  ],
  [
    "NetworkVolume",
    {
      news: { size: 10, dataCenterId: "EU-RO-1" },
      match: { method: "POST", path: "/v1/networkvolumes" },
      list: { method: "GET", path: "/v1/networkvolumes" },
      held: "networkvolumes",
    },
  ],
  ["Secret", { news: { value: "vvvv" }, match: { body: /secretCreate/ }, list: { body: /secrets/ }, held: "secrets" }],
];

const lost: [string, Fault][] = [
  ["the response is dropped after the service created it", { kind: "dropAfterAnswer" }],
  ["the connection is reset after the service created it", { kind: "reset", carriedOut: true }],
  ["half of the response arrives", { kind: "halfBody" }],
  ["a 502 replaces the response", { kind: "status", status: 502, carriedOut: true }],
  ["a 503 replaces the response", { kind: "status", status: 503, carriedOut: true }],
  ["a 503 arrives and nothing was created", { kind: "status", status: 503, retryAfter: "5" }],
  ["a 504 arrives and nothing was created", { kind: "status", status: 504 }],
  ["a 500 arrives and nothing was created", { kind: "status", status: 500 }],
  ["the connection is reset before the request arrives", { kind: "reset" }],
];

let count = 0;
const freshName = (): string => `thing${count++}-dev`;

const idsIn = async (held: Held, name: string): Promise<unknown[]> =>
  (await bench.held(held)).map(propertiesIn).flatMap((one) => (one["name"] === name ? [one["id"]] : []));

describe.each(
  cases.flatMap(([kind, facts]) => [[kind, "set by the program", facts] as const, [kind, "generated", facts] as const]),
)("a create of a %s whose name is %s", (kind, nameSource, { news, match, held }) => {
  const lifecycle = kinds[kind];
  const hasUniqueName = nameSource === "generated";
  const context = () => bench.context({ hasUniqueName });
  const inputsOf = (name: string): Properties => lifecycle.check({}, news, naming(name)).inputs;
  const idsOf = (name: string) => idsIn(held, name);

  test.each(lost)("creates one object and returns its id if %s", async (_, fault) => {
    const name = freshName();
    bench.proxy.inject(match, fault);
    const { id } = await lifecycle.create(inputsOf(name), context());
    expect(bench.proxy.pendingFaults()).toBe(0);
    expect(await idsOf(name)).toEqual([id]);
  });

  test("creates one object although two responses are lost", async () => {
    const name = freshName();
    bench.proxy.inject(match, { kind: "status", status: 504 });
    bench.proxy.inject(match, { kind: "dropAfterAnswer" });
    const { id } = await lifecycle.create(inputsOf(name), context());
    expect(await idsOf(name)).toEqual([id]);
  });

  test("reports that the object may exist if every response is a 500", async () => {
    const name = freshName();
    bench.proxy.inject(match, { kind: "status", status: 500 }, 9);
    await expect(lifecycle.create(inputsOf(name), context())).rejects.toThrow(
      new RegExp(`^${kind} "${name}": .*HTTP 500[\\s\\S]*The service may or may not have carried the request out`),
    );
    expect(await idsOf(name)).toEqual([]);
  });

  test("five creates list the existing objects once, and only under names of the program", async () => {
    const shared = context();
    bench.asked();
    await Promise.all(Array.from({ length: 5 }, () => lifecycle.create(inputsOf(freshName()), shared)));
    expect(bench.asked()).toHaveLength(hasUniqueName ? 5 : 6);
  });
});

describe.each(cases)("a create of a %s under a name of the program", (kind, { news, list, match, held }) => {
  const lifecycle = kinds[kind];
  const idsOf = (name: string) => idsIn(held, name);
  const inputsOf = (name: string): Properties => lifecycle.check({}, { ...news, name }, naming()).inputs;

  test("an object with the same name and inputs that existed before is not ours", async () => {
    const name = freshName();
    const stranger = await lifecycle.create(inputsOf(name), bench.context());
    bench.proxy.inject(match, { kind: "reset" });
    const second = await lifecycle.create(inputsOf(name), bench.context()).catch((error: unknown) => error);
    if (kind === "Template" || kind === "Secret") expect(String(second)).toContain("the name is already taken");
    else {
      // The service allows two of a name: then the second create made one of its own.
      expect(second).toMatchObject({ id: expect.any(String) });
      expect(second).not.toMatchObject({ id: stranger.id });
      expect(await idsOf(name)).toHaveLength(2);
    }
    expect(await idsOf(name)).toContain(stranger.id);
  });

  test("nothing is created if that list fails", async () => {
    bench.proxy.inject(list, { kind: "status", status: 500 }, 20);
    const name = freshName();
    await expect(lifecycle.create(inputsOf(name), bench.context())).rejects.toThrow("HTTP 500");
    bench.proxy.clear();
    expect(await idsOf(name)).toEqual([]);
  });
});

describe("two of the same name and inputs at once, where names need not be unique", () => {
  test("get an object each, though one answer is lost", async () => {
    const context = bench.context();
    const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming("twins-dev")).inputs;
    bench.proxy.inject({ method: "POST", path: "/v1/networkvolumes" }, { kind: "dropAfterAnswer" });
    const made = await Promise.all([1, 2, 3].map(() => kinds.NetworkVolume.create(inputs, context)));
    const held = (await bench.held("networkvolumes")).map(propertiesIn).filter(({ name }) => name === "twins-dev");
    expect(new Set(made.map(({ id }) => id))).toEqual(new Set(held.map(({ id }) => id)));
    expect(held).toHaveLength(3);
  });
});

test("a volume of the same name that another deployment makes meanwhile is not taken for the one whose answer was lost", async () => {
  const inputsOf = (name: string) =>
    kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming(name)).inputs;
  const path = "/v1/networkvolumes";
  const context = bench.context();
  await kinds.NetworkVolume.create(inputsOf("first"), context);
  bench.proxy.inject({ method: "POST", path }, { kind: "dropAfterAnswer" });
  bench.proxy.inject({ method: "GET", path }, { kind: "delay", ms: 500 });
  const creating = kinds.NetworkVolume.create(inputsOf("shared"), context).catch((error: unknown) => String(error));
  while (!bench.proxy.requests.some(({ fault }) => fault === "delay"))
    await new Promise((resolve) => setTimeout(resolve, 2));
  await bench.rest("POST", "/networkvolumes", inputsOf("shared"));
  const failure = await creating;
  const both = (await bench.held("networkvolumes")).map(propertiesIn).filter(({ name }) => name === "shared");
  expect(both).toHaveLength(2);
  expect(failure).toContain("only one of them is it");
  for (const { id } of both) expect(failure).toContain(String(id));
});

describe("a first request that was only slow", () => {
  const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming("straggler-dev")).inputs;
  const create: Match = { method: "POST", path: "/v1/networkvolumes" };
  const named = async () =>
    (await bench.held("networkvolumes")).map(propertiesIn).filter(({ name }) => name === "straggler-dev");

  /** With a generated name, which no other object has. */
  const own = () => bench.context({ hasUniqueName: true });

  /** The looks find nothing, then the first request arrives after all: made past the proxy, as a slow network would. */
  async function straggle(): Promise<void> {
    bench.proxy.inject(create, { kind: "status", status: 504 });
    bench.proxy.inject(create, { kind: "delay", ms: 500 });
    while (!bench.proxy.requests.some(({ fault }) => fault === "delay"))
      await new Promise((resolve) => setTimeout(resolve, 2));
    await bench.rest("POST", "/networkvolumes", { name: "straggler-dev", size: 10, dataCenterId: "EU-RO-1" });
  }

  test("leaves no duplicate under a generated name", async () => {
    const [{ id }] = await Promise.all([kinds.NetworkVolume.create(inputs, own()), straggle()]);
    expect((await named()).map((one) => one["id"])).toEqual([id]);
    await bench.rest("DELETE", `/networkvolumes/${id}`);
  });

  test("is reported and left untouched under a name of the program", async () => {
    const context = bench.context();
    const [{ id }] = await Promise.all([kinds.NetworkVolume.create(inputs, context), straggle()]);
    const ids = (await named()).map((one) => String(one["id"]));
    expect(ids).toHaveLength(2);
    const other = ids.find((one) => one !== id);
    expect(context.warned).toEqual([
      expect.stringMatching(
        `^another NetworkVolume named "straggler-dev" was created at the same time \\(${other}\\), .*; delete it unless it is in use$`,
      ),
    ]);
    for (const one of ids) await bench.rest("DELETE", `/networkvolumes/${one}`);
  });

  test("is deleted later, also where version 0.1.0 kept its id in state as `doubles`", async () => {
    for (const key of ["doubles", "duplicates"]) {
      const { id } = await kinds.NetworkVolume.create(inputs, bench.context());
      const double = await bench.rest("POST", "/networkvolumes", inputs);
      const olds = { ...inputs, [key]: [stringAt(double, "id")] };
      await kinds.NetworkVolume.update(id, olds, inputs, bench.context());
      expect((await named()).map((one) => one["id"])).toEqual([id]);
      await bench.rest("DELETE", `/networkvolumes/${id}`);
    }
  });

  test("leaves one that cannot be removed: the object is kept, and said to be unfinished", async () => {
    bench.proxy.inject({ method: "DELETE" }, { kind: "status", status: 500 }, 20);
    const [failure] = await Promise.all([
      kinds.NetworkVolume.create(inputs, own()).catch((error: unknown) => error),
      straggle(),
    ]);
    expect(failure).toBeInstanceOf(PartialFailure);
    if (!(failure instanceof PartialFailure)) return;
    const [double] = (await named()).map((one) => one["id"]).filter((id) => id !== failure.id);
    expect(failure.message).toContain(`a duplicate (${double}) that could not be deleted; the next deployment tries`);
    expect(failure.outputs).toEqual({ ...inputs, duplicates: [double] });
    bench.proxy.clear();
    // A refresh in between does not forget it, and the next deployment finishes.
    const reading = await kinds.NetworkVolume.read(failure.id, failure.outputs, bench.context());
    const outputs = await kinds.NetworkVolume.update(failure.id, reading?.outputs ?? {}, inputs, bench.context());
    expect(outputs).toEqual(inputs);
    expect((await named()).map((one) => one["id"])).toEqual([failure.id]);
  });
});

test("a cancellation while something is made still learns its id", async () => {
  const stop = new AbortController();
  const context = bench.context({
    signal: stop.signal,
    clock: { now: Date.now, sleep: (ms) => new Promise((r) => setTimeout(r, ms)) },
  });
  const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming("cancelled-dev")).inputs;
  bench.proxy.inject({ method: "POST" }, { kind: "delay", ms: 50 });
  const making = kinds.NetworkVolume.create(inputs, context);
  while (!bench.proxy.requests.some(({ method }) => method === "POST"))
    await new Promise((resolve) => setTimeout(resolve, 2));
  stop.abort(new Error("stopped"));
  expect((await making).id).toMatch(/^\w{10}$/);
});
