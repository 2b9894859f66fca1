import { describe, expect, test } from "vitest";
import { PartialFailure, type Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { listMatch, objectCases, withLists } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0 });
const cases = await objectCases(bench);
const cap = 50;

let count = 0;
const freshName = (): string => `many${count++}-dev`;

describe.each(cases)("lists of $kind that contain only the first $held", ({ kind, news, create, held, unique }) => {
  const lifecycle = kinds[kind];
  const inputsOf = (name: string): Properties => lifecycle.check({}, news, naming(name)).inputs;
  const idsOf = async (name: string): Promise<unknown[]> =>
    (await bench.held(held)).map(propertiesIn).flatMap((one) => (one["name"] === name ? [one["id"]] : []));

  /** Fills the list to its cap with other objects. */
  const capLists = (length = cap): void =>
    bench.proxy.alter(listMatch(held), (answer) =>
      withLists(answer, ([first = {}]) =>
        Array.from({ length }, (_, index) => ({ ...first, id: `old${index}`, name: `old-${index}` })),
      ),
    );

  test("report a create with a lost response as possibly applied, and never create twice", async () => {
    const name = freshName();
    await lifecycle.create(inputsOf(freshName()), bench.context());
    capLists();
    bench.proxy.inject(create, { kind: "dropAfterAnswer" });
    const failure = await lifecycle.create(inputsOf(name), bench.context()).catch((error: unknown) => String(error));
    expect(failure).toContain(`${kind} "${name}": `);
    expect(failure).toContain(`The service lists ${cap} objects of this kind and may have more.`);
    expect(failure).toContain(
      unique ? "An earlier request of this create" : "The service may or may not have processed the request",
    );
    expect(await idsOf(name)).toHaveLength(1);
  });

  test("of any other length are complete", async () => {
    const name = freshName();
    await lifecycle.create(inputsOf(freshName()), bench.context());
    capLists(cap + 1);
    bench.proxy.inject(create, { kind: "status", status: 504 });
    const outcome = await lifecycle.create(inputsOf(name), bench.context()).catch((error: unknown) => error);
    expect(await idsOf(name)).toHaveLength(1);
    if (!(outcome instanceof PartialFailure)) expect(outcome).toMatchObject({ id: expect.any(String) });
  });

  test("do not affect a create whose response arrives", async () => {
    const name = freshName();
    await lifecycle.create(inputsOf(freshName()), bench.context());
    capLists();
    const { id } = await lifecycle.create(inputsOf(name), bench.context());
    expect(await idsOf(name)).toEqual([id]);
  });
});
