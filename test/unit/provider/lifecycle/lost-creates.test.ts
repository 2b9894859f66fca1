import { describe, expect, test } from "vitest";
import { PartialFailure, type Properties } from "../../../../provider/lifecycle/contract";
import { type Kind, kinds } from "../../../../provider/resources";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
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
  ["the answer is dropped after the service made it", { kind: "dropAfterAnswer" }],
  ["the connection is reset after the service made it", { kind: "reset", carriedOut: true }],
  ["half of the answer arrives", { kind: "halfBody" }],
  ["a 502 comes instead of the answer", { kind: "status", status: 502, carriedOut: true }],
  ["a 503 comes instead of the answer", { kind: "status", status: 503, carriedOut: true }],
  ["a 503 comes and nothing was made", { kind: "status", status: 503, retryAfter: "5" }],
  ["a 504 comes and nothing was made", { kind: "status", status: 504 }],
  ["a 500 comes and nothing was made", { kind: "status", status: 500 }],
  ["the connection is reset before the service heard of it", { kind: "reset" }],
];

let count = 0;
const freshName = (): string => `thing${count++}-dev`;

describe.each(cases)("%s", (kind, { news, match, list, held }) => {
  const lifecycle = kinds[kind];
  const inputsOf = (name: string): Properties => lifecycle.check({}, news, name).inputs;
  const idsOf = async (name: string): Promise<unknown[]> =>
    (await bench.held(held))
      .map(propertiesIn)
      .filter((one) => one["name"] === name)
      .map(({ id }) => id);

  test.each(lost)("there is one, and its id is known, when %s", async (_, fault) => {
    const name = freshName();
    bench.proxy.inject(match, fault);
    const { id } = await lifecycle.create(inputsOf(name), bench.context());
    expect(bench.proxy.pendingFaults()).toBe(0);
    expect(await idsOf(name)).toEqual([id]);
  });

  test("the answer gets lost twice: still one", async () => {
    const name = freshName();
    bench.proxy.inject(match, { kind: "status", status: 504 });
    bench.proxy.inject(match, { kind: "dropAfterAnswer" });
    const { id } = await lifecycle.create(inputsOf(name), bench.context());
    expect(await idsOf(name)).toEqual([id]);
  });

  test("one of the same name and inputs that was there before is never taken for ours", async () => {
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

  test("while the service answers nothing else, it says that it may have been made", async () => {
    const name = freshName();
    bench.proxy.inject(match, { kind: "status", status: 500 }, 9);
    await expect(lifecycle.create(inputsOf(name), bench.context())).rejects.toThrow(
      new RegExp(`^${kind} "${name}": .*HTTP 500[\\s\\S]*The service may or may not have carried the request out`),
    );
    expect(await idsOf(name)).toEqual([]);
  });

  test("what was there before is asked once for many, and nothing is sent where that fails", async () => {
    const context = bench.context();
    await Promise.all(Array.from({ length: 5 }, () => lifecycle.create(inputsOf(freshName()), context)));
    expect(bench.asked()).toHaveLength(6);
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
    const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, "twins-dev").inputs;
    bench.proxy.inject({ method: "POST", path: "/v1/networkvolumes" }, { kind: "dropAfterAnswer" });
    const made = await Promise.all([1, 2, 3].map(() => kinds.NetworkVolume.create(inputs, context)));
    const held = (await bench.held("networkvolumes")).map(propertiesIn).filter(({ name }) => name === "twins-dev");
    expect(new Set(made.map(({ id }) => id))).toEqual(new Set(held.map(({ id }) => id)));
    expect(held).toHaveLength(3);
  });
});

test("a volume of the same name that another deployment makes meanwhile is not taken for the one whose answer was lost", async () => {
  const inputsOf = (name: string) => kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, name).inputs;
  const path = "/v1/networkvolumes";
  const context = bench.context({ defaultName: "shared-0123456" });
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
  expect(failure).toContain("one is it, the others may be another deployment's");
  for (const { id } of both) expect(failure).toContain(String(id));
});

describe("a first request that was only slow", () => {
  const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, "straggler-dev").inputs;
  const create: Match = { method: "POST", path: "/v1/networkvolumes" };
  const named = async () =>
    (await bench.held("networkvolumes")).map(propertiesIn).filter(({ name }) => name === "straggler-dev");

  /** Of the resource whose default name it is: nobody else gives it to an object. */
  const own = () => bench.context({ defaultName: "straggler-dev" });

  /** The looks find nothing, then the first request arrives after all: made past the proxy, as a slow network would. */
  async function straggle(): Promise<void> {
    bench.proxy.inject(create, { kind: "status", status: 504 });
    bench.proxy.inject(create, { kind: "delay", ms: 500 });
    while (!bench.proxy.requests.some(({ fault }) => fault === "delay"))
      await new Promise((resolve) => setTimeout(resolve, 2));
    await bench.rest("POST", "/networkvolumes", { name: "straggler-dev", size: 10, dataCenterId: "EU-RO-1" });
  }

  test("does not leave a second one under a default name", async () => {
    const [{ id }] = await Promise.all([kinds.NetworkVolume.create(inputs, own()), straggle()]);
    expect((await named()).map((one) => one["id"])).toEqual([id]);
    await bench.rest("DELETE", `/networkvolumes/${id}`);
  });

  test("is told of and left alone under a name that the program sets: it may be another deployment's", async () => {
    const context = bench.context({ defaultName: "straggler-dev-0123456" });
    const [{ id }] = await Promise.all([kinds.NetworkVolume.create(inputs, context), straggle()]);
    const ids = (await named()).map((one) => String(one["id"]));
    expect(ids).toHaveLength(2);
    const other = ids.find((one) => one !== id);
    expect(context.warned).toEqual([
      expect.stringMatching(
        `^another NetworkVolume named "straggler-dev" was created at the same time \\(${other}\\): .* Delete it unless it is in use.$`,
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
  const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, "cancelled-dev").inputs;
  bench.proxy.inject({ method: "POST" }, { kind: "delay", ms: 50 });
  const making = kinds.NetworkVolume.create(inputs, context);
  while (!bench.proxy.requests.some(({ method }) => method === "POST"))
    await new Promise((resolve) => setTimeout(resolve, 2));
  stop.abort(new Error("stopped"));
  expect((await making).id).toMatch(/^\w{10}$/);
});
