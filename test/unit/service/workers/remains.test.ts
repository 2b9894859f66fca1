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
const place = "the namespace gpu of http://192.0.2.1; delete them by their label serverless-compute/service=a";
const pods = `pods may remain in ${place}`;

test.each([
  ["none", { containers, earlier: pods }],
  ["auto", { earlier: pods }],
] as const)(
  "a start with the runtime %s names the workers that a killed service may have left in others",
  async (runtime, expected) => {
    const dataFolder = serviceFolder();
    const start = async () => {
      const service = await createService({ dataFolder, port: 0, runtime });
      await service.stop(0);
      return service.place;
    };
    expect(await start()).toEqual({});
    writeFileSync(join(dataFolder, "containers"), "");
    writeFileSync(join(dataFolder, "cluster-pods"), place);
    expect(await start()).toEqual(expected);
    expect(await start()).toEqual(expected);
  },
);

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
  openPodPlace(folder).set("the namespace gpu");
  return { folder, other, id: serviceIdOf(folder) };
}

test("a moved data folder keeps its pods and the containers that have its earlier path", () => {
  const { folder, other, id } = recordedFolder();
  renameSync(folder, other);
  expect(openContainerMark(other).paths()).toEqual([other, folder]);
  expect([serviceIdOf(other), serviceIdOf(other)]).toEqual([id, id]);
  expect(openPodPlace(other).remains()).toEqual({ earlier: "pods may remain in the namespace gpu" });
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
