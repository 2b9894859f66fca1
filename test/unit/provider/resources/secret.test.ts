import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { handlerFile, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";

const value = "s3cr3t-of-the-test";
const bench = await useLifecycleBench({ images: { "acme/env:1": handlerFile("env") } });
const { Secret } = kinds;

const inputsOf = (name: string, news: Properties = {}): Properties =>
  Secret.check({}, { value, ...news }, naming(name)).inputs;
const heldSecret = async (id: string): Promise<unknown> =>
  (await bench.held("secrets")).find((one) => JSON.stringify(one).includes(`"${id}"`));

describe("a secret that cannot be made or changed", () => {
  test("names the way out when the name is already taken, never the value", async () => {
    await Secret.create(inputsOf("taken"), bench.context());
    const failure: unknown = await Secret.create(inputsOf("taken", { value: `${value}-2` }), bench.context()).catch(
      (error: unknown) => error,
    );
    expect(String(failure)).toMatch(/Secret "taken": the name is already taken in this account .*Set another name/);
    expect(inspect(failure, { depth: 9 })).not.toContain(value);
  });

  test("is gone: an update says so, a delete is content", async () => {
    const olds = inputsOf("gone");
    await expect(Secret.update("aaaaaaaaaa", olds, { ...olds, description: "x" }, bench.context())).rejects.toThrow(
      /^Secret "gone": it no longer exists/,
    );
    await Secret.delete("aaaaaaaaaa", olds, bench.context());
  });
});

test("it is made with its description and tells the text that templates use", async () => {
  const { id, outputs } = await Secret.create(inputsOf("made", { description: "for the hub" }), bench.context());
  const reference = "{{ RUNPOD_SECRET_made }}";
  expect(outputs).toEqual({ name: "made", value, description: "for the hub", reference, __defaults: [] });
  expect(await heldSecret(id)).toMatchObject({ name: "made", description: "for the hub" });
});

test("value and description change in place, each with a call of its own and only when it changed", async () => {
  const { id, outputs } = await Secret.create(inputsOf("changed"), bench.context());
  const context = bench.context();
  const requests = async (olds: Properties, news: Properties): Promise<[Properties, number]> => {
    bench.asked();
    const updated = await Secret.update(id, olds, inputsOf("changed", news), context);
    return [updated, bench.asked().length];
  };
  const [described, first] = await requests(outputs, { description: "new" });
  expect(first).toBe(1);
  expect(await heldSecret(id)).toMatchObject({ description: "new" });
  const [valued, second] = await requests(described, { description: "new", value: "another" });
  expect(second).toBe(1);
  expect(valued["value"]).toBe("another");
  const [, third] = await requests(valued, { description: "new", value: "another" });
  expect(third).toBe(0);
});

describe("a refresh", () => {
  test("keeps the value, which nobody can read, and finds a changed description", async () => {
    const { id, outputs } = await Secret.create(inputsOf("drift", { description: "" }), bench.context());
    expect(await Secret.read(id, outputs, bench.context())).toEqual({
      id,
      inputs: { name: "drift", value, description: "", __defaults: [] },
      outputs,
    });
    await bench.graphql(
      "mutation ($input: SecretDescriptionUpdateInput!) { secretDescriptionUpdate(input: $input) { id } }",
      {
        input: { id, description: "by hand" },
      },
    );
    const reading = await Secret.read(id, outputs, bench.context());
    expect(reading?.inputs).toEqual({ name: "drift", value, description: "by hand", __defaults: [] });
  });

  test("of one that is gone answers nothing", async () => {
    const { id, outputs } = await Secret.create(inputsOf("deleted"), bench.context());
    await Secret.delete(id, outputs, bench.context());
    expect(await heldSecret(id)).toBeUndefined();
    expect(await Secret.read(id, outputs, bench.context())).toBeUndefined();
  });
});
