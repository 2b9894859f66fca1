import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import type { Context } from "../../provider/framework/contract";
import { ResourceInitError } from "../../provider/framework/errors";
import { kinds } from "../../provider/resources";
import { partialFailureOf, useLifecycleBench } from "../support/lifecycle-bench";
import { uniqueNaming } from "../support/naming";
import { freshName, listMatch, objectCases, withLists } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0 });
const cases = await objectCases(bench);

/** A response whose ids are empty. */
function withEmptyIds(response: unknown): unknown {
  if (typeof response !== "object" || response === null || Array.isArray(response)) return response;
  return Object.fromEntries(
    Object.entries(response).map(([key, item]) => [key, key === "id" ? "" : withEmptyIds(item)]),
  );
}

test("an endpoint with verify whose create left a duplicate has not been verified", async () => {
  const { create, news } = cases.find(({ kind }) => kind === "ServerlessEndpoint") ?? expect.unreachable();
  const name = freshName();
  const verify = { input: { prompt: "hi" } };
  const inputs = kinds.ServerlessEndpoint.check({}, { ...news, verify }, uniqueNaming(name)).inputs;
  bench.proxy.inject(create, { kind: "repeatRequest", drop: true });
  bench.proxy.inject({ method: "DELETE" }, { kind: "status", status: 500 }, 20);
  const { message, outputs } = await partialFailureOf(kinds.ServerlessEndpoint.create(inputs, bench.context()));
  expect(message).toMatch(/could not be deleted[\s\S]*500/);
  expect(outputs).toMatchObject({ duplicates: [expect.any(String)], unverified: { neverVerified: true } });
});

describe.each(cases)(
  "a create of a $kind",
  ({ kind, create, collection, unique, inputsOf, generatedInputsOf, idsOf }) => {
    const lifecycle = kinds[kind];

    test("returns the id of its object if a gateway repeats the request and the response is lost", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "repeatRequest", drop: true });
      const { id } = await lifecycle.create(generatedInputsOf(name), bench.context());
      expect(bench.proxy.pendingFaults()).toBe(0);
      // The service accepts the repeated request only if names are not unique; the second object is deleted.
      expect(await idsOf(name)).toEqual([id]);
    });

    test("reports an object that cannot be deleted after a repeated request", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "repeatRequest", drop: true });
      bench.proxy.inject({ method: "DELETE" }, { kind: "status", status: 500 }, 20);
      const outcome = await lifecycle.create(generatedInputsOf(name), bench.context()).catch((error: unknown) => error);
      bench.proxy.clear();
      const ids = await idsOf(name);
      if (unique)
        return expect([outcome, ids]).toEqual([expect.objectContaining({ id: ids[0] }), [expect.any(String)]]);
      if (!(outcome instanceof ResourceInitError)) throw outcome;
      expect(outcome.message).toMatch(
        / a duplicate \(\w+\) that could not be deleted; the next deployment tries again/,
      );
      expect([outcome.id, outcome.outputs["duplicates"]].flat().sort()).toEqual(ids.sort());
      // A refresh removes the failure of the create from the state, but not the duplicate.
      const state = (await lifecycle.read(outcome.id, outcome.outputs, bench.context()))?.outputs ?? {};
      const inputs = generatedInputsOf(name);
      expect(lifecycle.diff(state, inputs)).toMatchObject([{ path: ["duplicates"], replace: false }]);
      expect(await lifecycle.update(outcome.id, state, inputs, bench.context())).not.toHaveProperty("duplicates");
      expect(await idsOf(name)).toEqual([outcome.id]);
    });

    test.each(["generated", "program's"])(
      "that an error hook repeats continues with its object: %s name",
      async (source) => {
        const name = freshName();
        const inputs = source === "generated" ? generatedInputsOf(name) : inputsOf(name);
        const context = bench.context({ urn: `urn:pulumi:dev::app::${kind}::${name}` });
        const { id } = await lifecycle.create(inputs, context);
        expect(await lifecycle.create(inputs, context)).toMatchObject({ id });
        expect(await idsOf(name)).toEqual([id]);
      },
    );

    // A name that is unique at the service has no duplicates.
    if (!unique)
      test("deletes a duplicate later, unless a resource of the program has it by then", async () => {
        const verbs = {
          update: (id: string, state: Properties, name: string, context: Context) =>
            lifecycle.update(id, state, generatedInputsOf(name), context),
          delete: (id: string, state: Properties, _name: string, context: Context) =>
            lifecycle.delete(id, state, context),
          "delete of a kept object": (_id: string, state: Properties, _name: string, context: Context) =>
            lifecycle.delete(undefined, state, context),
        };
        for (const [verb, run] of Object.entries(verbs))
          for (const isOwned of [false, true]) {
            const name = freshName();
            const inputs = generatedInputsOf(name);
            const { id, outputs } = await lifecycle.create(inputs, bench.context());
            const other = await lifecycle.create(generatedInputsOf(freshName()), bench.context());
            const context = bench.context();
            if (isOwned) context.owners.set(other.id, new Set());
            await run(id, { ...outputs, duplicates: [other.id] }, name, context);
            const exists = async (of: string) => (await lifecycle.read(of, {}, bench.context())) !== undefined;
            expect([verb, await exists(id), await exists(other.id)]).toEqual([verb, verb !== "delete", isOwned]);
          }
      });

    test("under a name of the program lists both objects if a gateway repeats the request and the response is lost", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "repeatRequest", drop: true });
      const outcome = await lifecycle.create(inputsOf(name), bench.context()).catch((error: unknown) => error);
      const ids = await idsOf(name);
      if (unique) expect([outcome, ids]).toEqual([expect.objectContaining({ id: ids[0] }), [expect.any(String)]]);
      else {
        expect(ids).toHaveLength(2);
        for (const id of ids) expect(String(outcome)).toContain(id);
      }
    });

    test.each([true, false])(
      "finds its object if the response has an empty id (generated name: %s)",
      async (hasUniqueName) => {
        const name = freshName();
        bench.proxy.alter(create, withEmptyIds);
        const { id } = await lifecycle.create((hasUniqueName ? generatedInputsOf : inputsOf)(name), bench.context());
        bench.proxy.clear();
        expect(await idsOf(name)).toEqual([id]);
      },
    );

    test("ignores a listed object with an empty id", async () => {
      const name = freshName();
      bench.proxy.alter(listMatch(collection), (response) =>
        withLists(response, (list) => list.flatMap((object) => [{ ...object, id: "" }, object])),
      );
      bench.proxy.inject(create, { kind: "dropResponse" });
      const { id } = await lifecycle
        .create(generatedInputsOf(name), bench.context())
        .finally(() => bench.proxy.clear());
      expect(await idsOf(name)).toEqual([id]);
    });
  },
);

describe.each(cases.filter(({ unique }) => unique))(
  "a create of a $kind whose request a gateway repeats, so that the response reports its own name as taken",
  ({ kind, create, collection, inputsOf, generatedInputsOf, idsOf }) => {
    const lifecycle = kinds[kind];

    test("returns the id of its object under a generated name", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "repeatRequest" });
      const { id } = await lifecycle.create(generatedInputsOf(name), bench.context());
      expect(bench.proxy.pendingFaults()).toBe(0);
      expect(await idsOf(name)).toEqual([id]);
    });

    test("fails without advice about names if the service does not list the object", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "repeatRequest" });
      bench.proxy.alter(listMatch(collection), (response) =>
        withLists(response, (list) => list.filter((object) => object["name"] !== name)),
      );
      const failure = await lifecycle
        .create(generatedInputsOf(name), bench.context())
        .catch((error: unknown) => String(error));
      expect(failure).toContain(`${kind} "${name}": the service reports that the generated name is taken (`);
      expect(failure).toContain('"npx --no serverless-compute recover" lists any object that it created');
      expect(failure).not.toContain("Set another name");
    });

    test("fails under a name of the program, which another deployment may have taken", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "repeatRequest" });
      await expect(lifecycle.create(inputsOf(name), bench.context())).rejects.toThrow("the name is already taken");
    });
  },
);
