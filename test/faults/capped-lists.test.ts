import { describe, expect, test } from "vitest";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { freshName, listMatch, objectCases, withLists } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0 });
const cases = await objectCases(bench);
const cap = 50;

describe.each(cases)(
  "lists of $kind that contain only the first objects",
  ({ kind, create, collection, unique, inputsOf, idsOf }) => {
    const lifecycle = kinds[kind];

    /** Fills the list to its cap with other objects. Only REST v2 states that a list is complete, in `pagination`. */
    const capLists = (length = cap, more: object = { pagination: undefined }): void =>
      bench.proxy.alter(listMatch(collection), (response) => {
        const lists = withLists(response, ([first = {}]) =>
          Array.from({ length }, (_, index) => ({ ...first, id: `old${index}`, name: `old-${index}` })),
        );
        return dialect === "v1" || typeof lists !== "object" ? lists : { ...lists, ...more };
      });

    test("report a create with a lost response as possibly applied, and never create twice", async () => {
      const name = freshName();
      await lifecycle.create(inputsOf(freshName()), bench.context());
      capLists();
      bench.proxy.inject(create, { kind: "dropResponse" });
      const failure = await lifecycle.create(inputsOf(name), bench.context()).catch((error: unknown) => String(error));
      expect(failure).toContain(`${kind} "${name}": `);
      expect(failure).toContain(`The service lists ${cap} objects of this kind and may have more.`);
      expect(failure).toContain(
        unique ? "An earlier request of this create" : "The service may or may not have processed the request",
      );
      expect(await idsOf(name)).toHaveLength(1);
    });

    const complete = { pagination: { nextCursor: null, hasNextPage: false } };
    test.each([
      ...(dialect === "v2" ? [50, 64, 100] : []).map(
        (length) => [length, " if the service says so", complete] as const,
      ),
      [cap + 1, "", undefined] as const,
    ])("of %i objects are complete%s, so a create with a lost request is retried", async (length, _when, more) => {
      const name = freshName();
      await lifecycle.create(inputsOf(freshName()), bench.context());
      capLists(length, more);
      bench.proxy.inject(create, { kind: "dropRequest" });
      const created = await lifecycle.create(inputsOf(name), bench.context());
      expect(await idsOf(name)).toEqual([created.id]);
    });

    test("do not affect a create whose response arrives", async () => {
      const name = freshName();
      await lifecycle.create(inputsOf(freshName()), bench.context());
      capLists();
      const { id } = await lifecycle.create(inputsOf(name), bench.context());
      expect(await idsOf(name)).toEqual([id]);
    });
  },
);
