import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { expect, test } from "vitest";
import { prune } from "../../../../service/cli/prune";
import { scratchFolder, serviceFolder } from "../../../support/folders";
import { unusedOrigin } from "../../../support/loopback";
import { useDockerEngine } from "./support/docker-engine";

const containers = 'may remain of an earlier start; after a stop, "serverless-compute-local prune" removes them';
const pods = expect.stringMatching(
  /^pods may remain in the namespace gpu of http:\S+; delete them by their label serverless-compute\/service=\S+$/,
);

test.each([
  ["none", { containers, earlier: pods }],
  ["auto", { earlier: pods }],
] as const)(
  "a start with the runtime %s names the workers that a killed service may have left in others",
  async (runtime, place) => {
    const dataFolder = serviceFolder();
    const start = async () => {
      const service = await createService({ dataFolder, port: 0, runtime });
      await service.stop(0);
      return service.place;
    };
    expect(await start()).toEqual({});
    writeFileSync(join(dataFolder, "containers"), "");
    writeFileSync(join(dataFolder, "cluster-pods"), "the namespace gpu of http://192.0.2.1");
    expect(await start()).toEqual(place);
    expect(await start()).toEqual(place);
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
