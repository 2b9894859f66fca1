import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { noSecrets } from "../../provider/framework/contract";
import { kinds } from "../../provider/resources";
import { secretValueUpdate } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming, uniqueNaming } from "../support/naming";
import { stringAt } from "../support/raw-http";
import { freshName, objectCases } from "./support/kinds";

const bench = await useLifecycleBench();
const cases = await objectCases(bench);

describe.each(cases)("adoptExisting of a $kind", ({ kind, news, unique, idsOf }) => {
  const lifecycle = kinds[kind];
  const inputsOf = (name: string, more: Properties = {}): Properties =>
    lifecycle.check({}, { ...news, ...more, name }, naming()).inputs;
  /** Creates an unmanaged object. */
  const createUnmanaged = async (name: string): Promise<string> =>
    (await lifecycle.create(inputsOf(name), bench.context())).id;

  test("adopts the object with the name", async () => {
    const name = freshName();
    const id = await createUnmanaged(name);
    const inputs = inputsOf(name, { adoptExisting: true });
    const created = await lifecycle.create(inputs, bench.context());
    expect([created.id, await idsOf(name)]).toEqual([id, [id]]);
    expect(lifecycle.diff(created.outputs, inputs)).toEqual([]);
    // A delete in a later run deletes the adopted object.
    await lifecycle.delete(id, created.outputs, bench.context());
    expect(await idsOf(name)).toEqual([]);
  });

  test("adopts no object of this stack's state or of another resource", async () => {
    const name = freshName();
    const id = await createUnmanaged(name);
    const context = bench.context();
    const inputs = inputsOf(name, { adoptExisting: true });
    expect((await lifecycle.create(inputs, context)).id).toBe(id);
    for (const other of [context, bench.context({ owners: new Map([[id, new Set(["urn"])]]) })]) {
      const second = lifecycle.create(inputs, other);
      if (unique) await expect(second).rejects.toThrow("the name is already taken");
      else expect((await second).id).not.toBe(id);
    }
  });
});

describe("an adopted object", () => {
  const { NetworkVolume, ServerlessEndpoint, Secret } = kinds;

  test("of an endpoint keeps its version, and its suffix is not a changed name", async () => {
    const name = freshName();
    const templateBody = (version: string) => ({ name: `${name}-t`, imageName: `a:${version}`, isServerless: true });
    const templateId = await bench.create("/templates", templateBody("1"));
    const created = await bench.rest("POST", "/endpoints", { name: `${name}-fb`, templateId, workersMax: 7 });
    await bench.rest("PATCH", `/templates/${templateId}`, templateBody("2"));
    const desired = { name, templateId, workersMax: 2, adoptExisting: true };
    const inputs = ServerlessEndpoint.check({}, desired, naming()).inputs;
    const { id, outputs } = await ServerlessEndpoint.create(inputs, bench.context());
    expect([id, outputs["version"]]).toEqual([stringAt(created, "id"), 2]);
    expect((await bench.rest("GET", `/endpoints/${id}`)).json).toMatchObject({ workersMax: 2, name: `${name}-fb` });
  });

  test("that would require a replacement is an error without secret values, and stays unchanged", async () => {
    const name = freshName();
    const created = await bench.rest("POST", "/networkvolumes", { name, size: 50, dataCenterId: "EU-RO-1" });
    const id = stringAt(created, "id");
    const create = (news: Properties, secrets = noSecrets) =>
      NetworkVolume.create(
        NetworkVolume.check({}, { name, ...news, adoptExisting: true }, naming()).inputs,
        bench.context({ secrets }),
      );
    await expect(
      create({ size: 50, dataCenterId: "US-KS-2" }, { paths: [["dataCenterId"]], values: [] }),
    ).rejects.toThrow(`the existing object (${id}) has dataCenterId [secret], which cannot change in place;`);
    await expect(create({ size: 10, dataCenterId: "EU-RO-1" })).rejects.toThrow(
      `NetworkVolume "${name}": the service rejected the request: size: 10 is not allowed; must be 50 or more; volumes cannot shrink`,
    );
    expect((await bench.rest("GET", `/networkvolumes/${id}`)).json).toMatchObject({ size: 50 });
  });

  test("may be a secret in use, with any previous value", async () => {
    const name = freshName();
    await bench.graphql(`mutation { secretCreate(input: { name: "${name}", value: "old", description: "d" }) { id } }`);
    await bench.clock.advance(86_400_000);
    const inputs = Secret.check({}, { name, value: "new-value", adoptExisting: true }, naming()).inputs;
    bench.proxy.inject(secretValueUpdate, { kind: "delayRequest", ms: 0 });
    await Secret.create(inputs, bench.context());
    expect(bench.proxy.pendingFaults()).toBe(0);
    expect(await bench.listObjects("secrets")).toContainEqual(expect.objectContaining({ name, description: "d" }));
  });
});

test("adoptExisting requires a complete name in the program", () => {
  const failuresOf = (news: Properties) =>
    kinds.Template.check({}, { imageName: "a:1", adoptExisting: true, ...news }, uniqueNaming("t-dev-3fa9c1b"))
      .failures;
  const failure = {
    path: "adoptExisting",
    reason: "is true; requires an explicit name, because no existing object has a generated name",
  };
  expect(failuresOf({})).toEqual([failure]);
  expect(failuresOf({ name: "mine", replaceOnChange: true })).toEqual([failure]);
  expect(failuresOf({ name: "mine" })).toEqual([]);
});
