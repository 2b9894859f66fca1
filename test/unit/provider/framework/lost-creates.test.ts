import { beforeEach, describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import type { Naming } from "../../../../provider/framework/contract";
import { kinds } from "../../../../provider/resources";
import { freshName, listMatch, objectCases, withLists } from "../../../faults/support/kinds";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming, uniqueNaming } from "../../../support/naming";
import type { Fault, Match } from "../../../support/recording-proxy";

const bench = await useLifecycleBench();
const cases = await objectCases(bench);

const responseFaults: [string, Fault][] = [
  ["the response is dropped after the service created it", { kind: "dropResponse" }],
  ["the connection is reset after the service created it", { kind: "reset", applied: true }],
  ["half of the response arrives", { kind: "halfBody" }],
  ["a 502 replaces the response", { kind: "status", status: 502, applied: true }],
  ["a 503 replaces the response", { kind: "status", status: 503, applied: true }],
  ["a 503 arrives and nothing was created", { kind: "status", status: 503, retryAfter: "5" }],
  ["a 504 arrives and nothing was created", { kind: "status", status: 504 }],
  ["a 500 arrives and nothing was created", { kind: "status", status: 500 }],
  ["the connection is reset before the request arrives", { kind: "reset" }],
];

/** All faults for one kind; for the others, one with an object and one without. test/unit/api/lost-responses.test.ts classifies faults. */
const faultsOf = (kind: string): typeof responseFaults =>
  kind === "NetworkVolume" ? responseFaults : responseFaults.filter((_, index) => index === 0 || index === 6);

const namedCases = cases.flatMap((objectCase) => [
  { ...objectCase, nameSource: "set by the program" },
  { ...objectCase, nameSource: "generated" },
]);

describe.each(namedCases)(
  "a create of a $kind whose name is $nameSource",
  ({ kind, nameSource, create, idsOf, ...objectCase }) => {
    const lifecycle = kinds[kind];
    const hasUniqueName = nameSource === "generated";
    const inputsOf = hasUniqueName ? objectCase.generatedInputsOf : objectCase.inputsOf;
    const context = () => bench.context();

    test.each(faultsOf(kind))("creates one object and returns its id if %s", async (_, fault) => {
      const name = freshName();
      bench.proxy.inject(create, fault);
      const { id } = await lifecycle.create(inputsOf(name), context());
      expect(bench.proxy.pendingFaults()).toBe(0);
      expect(await idsOf(name)).toEqual([id]);
    });

    test("five creates list the existing objects once, and only if the program sets the names", async () => {
      const shared = context();
      bench.drainRequests();
      await Promise.all(Array.from({ length: 5 }, () => lifecycle.create(inputsOf(freshName()), shared)));
      expect(bench.drainRequests()).toHaveLength(hasUniqueName ? 5 : 6);
    });

    // These do not depend on the kind.
    if (kind !== "NetworkVolume") return;

    test("creates one object even if two attempts fail", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "status", status: 504 });
      bench.proxy.inject(create, { kind: "dropResponse" });
      const { id } = await lifecycle.create(inputsOf(name), context());
      expect(await idsOf(name)).toEqual([id]);
    });

    test("reports that the object may exist if every response is a 500", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "status", status: 500 }, 9);
      await expect(lifecycle.create(inputsOf(name), context())).rejects.toThrow(
        new RegExp(`^${kind} "${name}": .*HTTP 500[\\s\\S]*The service may or may not have processed the request`),
      );
      expect(await idsOf(name)).toEqual([]);
    });
  },
);

describe.each(cases)(
  "a create of a $kind under a name of the program",
  ({ kind, news, create, collection, unique, generatedInputsOf, idsOf }) => {
    const lifecycle = kinds[kind];
    const inputsOf = (name: string): Properties => lifecycle.check({}, { ...news, name }, naming()).inputs;

    test("does not adopt an object with the same name and inputs that existed before", async () => {
      const name = freshName();
      const otherObject = await lifecycle.create(inputsOf(name), bench.context());
      bench.proxy.inject(create, { kind: "reset" });
      const second = await lifecycle.create(inputsOf(name), bench.context()).catch((error: unknown) => error);
      if (unique) expect(String(second)).toContain("the name is already taken");
      else {
        // The service allows several objects of a name, so the second create made its own.
        expect(second).toMatchObject({ id: expect.any(String) });
        expect(second).not.toMatchObject({ id: otherObject.id });
        expect(await idsOf(name)).toHaveLength(2);
      }
      expect(await idsOf(name)).toContain(otherObject.id);
    });

    test("is reported as lost if the lookup also fails", async () => {
      bench.proxy.inject(create, { kind: "dropResponse" });
      bench.proxy.inject(listMatch(collection), { kind: "status", status: 403 }, 20);
      const creating = lifecycle.create(generatedInputsOf(freshName()), bench.context());
      await expect(creating).rejects.toThrow("The lookup failed.");
      bench.proxy.clear();
    });

    test("creates nothing if the list of existing objects fails", async () => {
      bench.proxy.inject(listMatch(collection), { kind: "status", status: 500 }, 20);
      const name = freshName();
      await expect(lifecycle.create(inputsOf(name), bench.context())).rejects.toThrow("HTTP 500");
      bench.proxy.clear();
      expect(await idsOf(name)).toEqual([]);
    });
  },
);

describe("concurrent creates with the same name and inputs", () => {
  test("create one object each even if a response is lost", async () => {
    const context = bench.context();
    const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming("twins-dev")).inputs;
    bench.proxy.inject({ method: "POST", path: "/v1/networkvolumes" }, { kind: "dropResponse" });
    const created = await Promise.all([1, 2, 3].map(() => kinds.NetworkVolume.create(inputs, context)));
    const objects = (await bench.listObjects("networkvolumes"))
      .map(propertiesIn)
      .filter(({ name }) => name === "twins-dev");
    expect(new Set(created.map(({ id }) => id))).toEqual(new Set(objects.map(({ id }) => id)));
    expect(objects).toHaveLength(3);
  });
});

test("a volume that another deployment creates under the same name is not mistaken for the volume whose response was lost", async () => {
  const inputsOf = (name: string) =>
    kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming(name)).inputs;
  const path = "/v1/networkvolumes";
  const context = bench.context();
  await kinds.NetworkVolume.create(inputsOf("first"), context);
  bench.proxy.inject({ method: "POST", path }, { kind: "dropResponse" });
  const createOther = () => bench.rest("POST", "/networkvolumes", inputsOf("shared"));
  bench.proxy.inject({ method: "GET", path }, { kind: "delayRequest", until: createOther });
  const failure = await kinds.NetworkVolume.create(inputsOf("shared"), context).catch(String);
  const both = (await bench.listObjects("networkvolumes")).map(propertiesIn).filter(({ name }) => name === "shared");
  expect(both).toHaveLength(2);
  expect(failure).toContain("only one of them was created for it");
  for (const { id } of both) expect(failure).toContain(String(id));
});

test("a created object that appears late in lists is found without a second create", async () => {
  const path = "/v1/networkvolumes";
  const inputs = kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, uniqueNaming("late-dev")).inputs;
  let lists = 0;
  bench.proxy.clear();
  bench.proxy.inject({ method: "POST", path }, { kind: "dropResponse" });
  bench.proxy.alter(listMatch("networkvolumes"), (response) =>
    withLists(response, (list) => (++lists < 3 ? list.filter(({ name }) => name !== "late-dev") : list)),
  );
  const { id } = await kinds.NetworkVolume.create(inputs, bench.context());
  expect(bench.proxy.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  const objects = (await bench.listObjects("networkvolumes"))
    .map(propertiesIn)
    .filter(({ name }) => name === "late-dev");
  expect(objects).toMatchObject([{ id }]);
  bench.proxy.clear();
});

describe("a first request that arrives after the retry", () => {
  const inputsOf = (chosen: Naming): Properties =>
    kinds.NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, chosen).inputs;
  const inputs = inputsOf(naming("straggler-dev"));
  const generatedInputs = inputsOf(uniqueNaming("straggler-dev"));
  const create: Match = { method: "POST", path: "/v1/networkvolumes" };
  const named = async () =>
    (await bench.listObjects("networkvolumes")).map(propertiesIn).filter(({ name }) => name === "straggler-dev");

  /** The lookup finds nothing, then the first request arrives: created outside the proxy, as on a slow network. */
  beforeEach(() => {
    const volume = { name: "straggler-dev", size: 10, dataCenterId: "EU-RO-1" };
    bench.proxy.inject(create, { kind: "status", status: 504 });
    bench.proxy.inject(create, { kind: "delayRequest", until: () => bench.rest("POST", "/networkvolumes", volume) });
  });

  test("leaves no duplicate under a generated name", async () => {
    const { id } = await kinds.NetworkVolume.create(generatedInputs, bench.context());
    expect((await named()).map((object) => object["id"])).toEqual([id]);
    await bench.rest("DELETE", `/networkvolumes/${id}`);
  });

  test("is reported and left untouched under a name of the program", async () => {
    const context = bench.context();
    const { id } = await kinds.NetworkVolume.create(inputs, context);
    const ids = (await named()).map((object) => String(object["id"]));
    expect(ids).toHaveLength(2);
    const other = ids.find((candidate) => candidate !== id);
    expect(context.warnings).toEqual([
      expect.stringMatching(
        `^another NetworkVolume named "straggler-dev" was created at the same time \\(${other}\\), .*; delete it unless it is in use$`,
      ),
    ]);
    for (const created of ids) await bench.rest("DELETE", `/networkvolumes/${created}`);
  });
});
