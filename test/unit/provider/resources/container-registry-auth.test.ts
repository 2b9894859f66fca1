import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";

const bench = await useLifecycleBench();
const { ContainerRegistryAuth, Template } = kinds;
const password = "p4ssw0rd-of-the-test";

const inputsOf = (name: string, news: Properties = {}): Properties =>
  ContainerRegistryAuth.check({}, { username: "robot", password, ...news }, naming(name)).inputs;

describe("credentials that cannot be made", () => {
  test("name the way out when the name is already taken, never the password", async () => {
    await ContainerRegistryAuth.create(inputsOf("taken-dev"), bench.context());
    const failure: unknown = await ContainerRegistryAuth.create(inputsOf("taken-dev"), bench.context()).catch(
      (error: unknown) => error,
    );
    expect(String(failure)).toMatch(/ContainerRegistryAuth "taken-dev": the name is already taken in this account/);
    expect(inspect(failure, { depth: 9 })).not.toContain(password);
  });
});

test("they are made, changed in place, read and deleted; the service tells id and name only", async () => {
  const { id, outputs } = await ContainerRegistryAuth.create(inputsOf("registry-dev"), bench.context());
  expect(await bench.held("containerregistryauth")).toContainEqual({ id, name: "registry-dev" });
  const news = inputsOf("registry-dev", { password: `${password}-2` });
  expect(ContainerRegistryAuth.diff(outputs, news)).toEqual([{ path: ["password"], kind: "update", replace: false }]);
  const updated = await ContainerRegistryAuth.update(id, outputs, news, bench.context());
  const reading = await ContainerRegistryAuth.read(id, updated, bench.context());
  expect(reading).toEqual({ id, inputs: news, outputs: updated });
  await ContainerRegistryAuth.delete(id, updated, bench.context());
  expect(await ContainerRegistryAuth.read(id, updated, bench.context())).toBeUndefined();
});

test("a template uses them by id", async () => {
  const auth = await ContainerRegistryAuth.create(inputsOf("private-dev"), bench.context());
  const news = { imageName: "registry.example/a:1", containerRegistryAuthId: auth.id };
  const { id, outputs } = await Template.create(
    Template.check({}, news, naming("private-dev")).inputs,
    bench.context(),
  );
  expect((await bench.rest("GET", `/templates/${id}`)).json).toMatchObject({ containerRegistryAuthId: auth.id });
  await Template.delete(id, outputs, bench.context());
  await ContainerRegistryAuth.delete(auth.id, auth.outputs, bench.context());
});

test("another name is another object, and the password alone is secret", () => {
  expect(ContainerRegistryAuth.diff(inputsOf("a"), inputsOf("b"))).toEqual([
    { path: ["name"], kind: "update", replace: true },
  ]);
  const secret = Object.entries(ContainerRegistryAuth.traits).flatMap(([key, traits]) => (traits.secret ? [key] : []));
  expect(secret).toEqual(["password"]);
});
