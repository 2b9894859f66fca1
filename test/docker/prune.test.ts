import { cpSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../service/store/database";
import { labels, openContainerMark } from "../../service/workers/runtimes/container/removal";
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

test("a moved data folder takes its containers along, and a copied one does not", async (context) => {
  const { client, image } = useTestEngine(context);
  const top = scratchFolder();
  const [folder, copy, moved] = ["data", "copy", "moved"].map((name) => join(top, name));
  if (!folder || !copy || !moved) return expect.unreachable();
  openDatabase(folder).close();
  openContainerMark(folder).set();
  await client.call("POST", "/containers/create", { body: { Image: image, Labels: { [labels.data]: folder } } });
  cpSync(folder, copy, { recursive: true });
  expect((await runLine("prune", "--data", copy)).out).toContain("Removed 0 containers");
  renameSync(folder, moved);
  expect((await runLine("prune", "--data", moved)).out).toContain("Removed 1 containers");
  expect(await containersOf(client, folder)).toEqual([]);
});

test("prune rejects a folder on which a service runs", async (context) => {
  const rig = await startRig(context);
  const { code, err } = await runLine("prune", "--data", rig.dataFolder);
  expect(code).toBe(1);
  expect(err).toContain(rig.dataFolder);
});
