import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { stringAt } from "../../../support/raw-http";

const bench = await useLifecycleBench();
const { NetworkVolume } = kinds;

const inputsOf = (name: string, size = 10): Properties =>
  NetworkVolume.check({}, { size, dataCenterId: "EU-RO-1" }, naming(name)).inputs;
const heldVolume = async (id: string): Promise<Properties> =>
  propertiesIn((await bench.rest("GET", `/networkvolumes/${id}`)).json);

describe("a volume that cannot be deleted or changed", () => {
  test("is in use: the message says by what, and it stays", async () => {
    const { id, outputs } = await NetworkVolume.create(inputsOf("mounted-dev"), bench.context());
    const template = stringAt(
      await bench.rest("POST", "/templates", { name: "t", imageName: "a", isServerless: true }),
      "id",
    );
    await bench.rest("POST", "/endpoints", {
      name: "reader",
      templateId: template,
      networkVolumeId: id,
      workersMax: 0,
    });
    await expect(NetworkVolume.delete(id, outputs, bench.context())).rejects.toThrow(
      /^NetworkVolume "mounted-dev": it is still in use: .*reader/,
    );
    expect(await heldVolume(id)).toMatchObject({ name: "mounted-dev" });
  });

  test("is gone: an update says so, a delete is content", async () => {
    const olds = inputsOf("gone-dev");
    await expect(NetworkVolume.update("aaaaaaaaaa", olds, { ...olds, size: 20 }, bench.context())).rejects.toThrow(
      /^NetworkVolume "gone-dev": it no longer exists/,
    );
    await NetworkVolume.delete("aaaaaaaaaa", olds, bench.context());
  });
});

test("what was asked for is what the service holds", async () => {
  const inputs = inputsOf("made-dev");
  const { id, outputs } = await NetworkVolume.create(inputs, bench.context());
  expect(outputs).toEqual(inputs);
  expect(await heldVolume(id)).toMatchObject({ name: "made-dev", size: 10, dataCenterId: "EU-RO-1" });
});

test("it grows and is renamed in place, each only when it changed", async () => {
  const { id, outputs } = await NetworkVolume.create(inputsOf("small-dev"), bench.context());
  // Grown by hand meanwhile: an update of the name must not try to shrink it.
  await bench.rest("PATCH", `/networkvolumes/${id}`, { size: 40 });
  const renamed = await NetworkVolume.update(id, outputs, inputsOf("large-dev"), bench.context());
  expect(await heldVolume(id)).toMatchObject({ name: "large-dev", size: 40 });
  await NetworkVolume.update(id, renamed, inputsOf("large-dev", 50), bench.context());
  expect(await heldVolume(id)).toMatchObject({ name: "large-dev", size: 50 });
});

test("a refresh finds size and name changed, and nothing where nothing was", async () => {
  const { id, outputs } = await NetworkVolume.create(inputsOf("drift-dev"), bench.context());
  expect(await NetworkVolume.read(id, outputs, bench.context())).toEqual({ id, inputs: outputs, outputs });
  await bench.rest("PATCH", `/networkvolumes/${id}`, { name: "x", size: 11 });
  const reading = await NetworkVolume.read(id, outputs, bench.context());
  expect(reading?.inputs).toEqual({ name: "x", size: 11, dataCenterId: "EU-RO-1" });
});
