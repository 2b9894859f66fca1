import { expect, onTestFinished, test } from "vitest";
import { labels } from "../../service/workers/runtimes/container/removal";
import { scratchFolder } from "../support/folders";
import { runLine } from "../unit/service/cli/command";
import { containersOf, startRig, useTestEngine } from "./rig";

test("prune removes containers of a killed service on its folder, and none of another service", async (context) => {
  const { client, image } = useTestEngine(context);
  const [own, other] = [scratchFolder(), scratchFolder()];
  onTestFinished(() => runLine("prune", "--data", other).then(() => undefined));
  for (const folder of [own, other])
    await client.call("POST", "/containers/create", { body: { Image: image, Labels: { [labels.data]: folder } } });
  const { code, out } = await runLine("prune", "--data", own);
  expect([code, out]).toEqual([0, expect.stringContaining("Removed 1 containers")]);
  expect(await containersOf(client, own)).toEqual([]);
  expect(await containersOf(client, other)).toHaveLength(1);
});

test("prune rejects a folder on which a service runs", async (context) => {
  const rig = await startRig(context);
  const { code, err } = await runLine("prune", "--data", rig.dataFolder);
  expect(code).toBe(1);
  expect(err).toContain(rig.dataFolder);
});
