import { cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { expect, test } from "vitest";
import { prune } from "../../../../service/cli/prune";
import { openContainerMark } from "../../../../service/workers/runtimes/container/removal";
import { openPodPlace, serviceIdOf } from "../../../../service/workers/runtimes/pod/place";
import { scratchFolder, serviceFolder } from "../../../support/folders";
import { unusedOrigin } from "../../../support/loopback";
import { useDockerEngine } from "./support/docker-engine";

const containers = 'may remain of an earlier start; after a stop, "serverless-compute-local prune" removes them';
const place = "the namespace gpu of http://192.0.2.1";
const podsOf = (id: string) =>
  `pods may remain in ${place}; delete them by their label serverless-compute/service=${id}`;

/** Starts and stops a service; resolves with the facts about its place. */
async function placeOf(dataFolder: string, runtime: "auto" | "none") {
  const service = await createService({ dataFolder, port: 0, runtime });
  await service.stop(0);
  return service.place;
}

test.each([
  ["none", { containers }],
  ["auto", {}],
] as const)(
  "a start with the runtime %s names the workers that a killed service may have left in others",
  async (runtime, expected) => {
    const dataFolder = serviceFolder();
    expect(await placeOf(dataFolder, runtime)).toEqual({});
    writeFileSync(join(dataFolder, "containers"), "");
    writeFileSync(join(dataFolder, "cluster-pods"), place);
    const facts = { ...expected, earlier: podsOf(serviceIdOf(dataFolder)) };
    expect(await placeOf(dataFolder, runtime)).toEqual(facts);
    expect(await placeOf(dataFolder, runtime)).toEqual(facts);
  },
);

test("the first start of a copied data folder does not name the pods of the original, in any runtime", async () => {
  const original = serviceFolder();
  await placeOf(original, "none");
  openPodPlace(original).set(place);
  const id = serviceIdOf(original);
  for (const runtime of ["none", "auto"] as const) {
    const copy = join(scratchFolder(), "copy");
    cpSync(original, copy, { recursive: true });
    expect(await placeOf(copy, runtime)).toEqual({});
  }
  expect(await placeOf(original, "none")).toEqual({ earlier: podsOf(id) });
});

const engineAt = (port: number) => ({ displayUrl: `tcp://127.0.0.1:${port}`, host: "127.0.0.1", port });
const quiet = { out: () => undefined, err: () => undefined };

test("prune of a folder without a store leaves no file in it", async () => {
  const port = await useDockerEngine(() => expect.unreachable());
  const folder = scratchFolder();
  await prune(folder, () => engineAt(port), quiet);
  expect(readdirSync(folder)).toEqual([]);
});

test("prune without an engine names the remedy", async () => {
  const port = Number(new URL(await unusedOrigin()).port);
  await expect(prune(scratchFolder(), () => engineAt(port), quiet)).rejects.toThrow(
    /does not respond: .*; start the engine, or set DOCKER_HOST to its address$/,
  );
});

/** A data folder with the records of its containers and pods, and an unused path beside it. */
function recordedFolder() {
  const top = scratchFolder();
  const [folder, other] = [join(top, "data"), join(top, "other")];
  mkdirSync(folder);
  openContainerMark(folder).set();
  openPodPlace(folder).set(place);
  return { folder, other, id: serviceIdOf(folder) };
}

test("a moved data folder keeps its pods and the containers that have its earlier path", () => {
  const { folder, other, id } = recordedFolder();
  renameSync(folder, other);
  expect(openContainerMark(other).paths()).toEqual([other, folder]);
  expect([serviceIdOf(other), serviceIdOf(other)]).toEqual([id, id]);
  expect(openPodPlace(other).remains()).toEqual({ earlier: podsOf(id) });
});

test("a copied data folder has no containers and pods of the original", () => {
  const { folder, other, id } = recordedFolder();
  cpSync(folder, other, { recursive: true });
  expect(openContainerMark(other).paths()).toEqual([other]);
  const copyId = serviceIdOf(other);
  expect(copyId).not.toBe(id);
  expect([serviceIdOf(folder), serviceIdOf(other)]).toEqual([id, copyId]);
  expect(openPodPlace(other).remains()).toEqual({});
});
