import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { freshName, listMatch, objectCases, withLists } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0 });
const cases = await objectCases(bench);

describe.each(cases)(
  "an unreadable object of kind $kind",
  ({ kind, create, collection, readById, inputsOf, idsOf }) => {
    const lifecycle = kinds[kind];
    // A read also records the service's values of omitted properties.
    const withoutDefaults = ({ __defaults: _defaults, ...rest }: Properties): Properties => rest;
    const make = async (name: string) => lifecycle.create(inputsOf(name), bench.context());

    /** Makes lists return these objects with a name of the wrong type. */
    const makeUnreadable = (...ids: string[]): void =>
      bench.proxy.alter(listMatch(collection), (response) =>
        withLists(response, (list) =>
          list.map((object) => (ids.includes(String(object["id"])) ? { ...object, name: 7 } : object)),
        ),
      );

    test("does not affect creates, refreshes and deletes of other objects, and is reported once", async () => {
      const [stranger, created] = [await make(freshName()), await make(freshName())];
      makeUnreadable(stranger.id);
      const context = bench.context();
      const name = freshName();
      const made = await lifecycle.create(inputsOf(name), context);
      expect(await idsOf(name)).toEqual([made.id]);
      const progress = () => context.progressMessages.filter((text) => text.includes(`(id ${stranger.id})`));
      expect(progress()).toHaveLength(1);
      expect((await lifecycle.read(created.id, created.outputs, context))?.outputs).toMatchObject(
        withoutDefaults(created.outputs),
      );
      await lifecycle.delete(created.id, created.outputs, context);
      expect(progress()).toEqual([expect.stringContaining('.name" in the response is invalid')]);
    });

    test("is an error for its own resource, or read by its id, and never treated as deleted", async () => {
      const created = await make(freshName());
      makeUnreadable(created.id);
      const readResult = lifecycle.read(created.id, created.outputs, bench.context());
      if (readById) expect((await readResult)?.outputs).toMatchObject(withoutDefaults(created.outputs));
      else
        await expect(readResult).rejects.toThrow(
          new RegExp(`^${kind} ".*": .*unexpected response: .*name" in the response`),
        );
    });

    test("is not created a second time if it may be the result of a lost create", async () => {
      const name = freshName();
      bench.proxy.inject(create, { kind: "dropResponse" });
      bench.proxy.alter(listMatch(collection), (response) =>
        withLists(response, (list) =>
          list.map((object) => (object["name"] === name ? { ...object, name: 7 } : object)),
        ),
      );
      await expect(lifecycle.create(inputsOf(name), bench.context())).rejects.toThrow(
        new RegExp(`^${kind} "${name}": [\\s\\S]*lists an unreadable object that may be the created one`),
      );
      expect(await idsOf(name)).toHaveLength(1);
    });
  },
);

/** With REST v2, a missing object is requested by its id. */
const withoutReadById = cases.filter(({ readById }) => !readById);

test.each(withoutReadById)("a list of unexpected elements of a $kind is no empty list", async (row) => {
  const lifecycle = kinds[row.kind];
  const { id, outputs } = await lifecycle.create(row.inputsOf(freshName()), bench.context());
  bench.proxy.alter(listMatch(row.collection), (response) => withLists(response, () => [{ hello: 1 }]));
  await expect(lifecycle.read(id, outputs, bench.context())).rejects.toThrow("in the response is invalid");
});
