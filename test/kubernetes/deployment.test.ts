import { expect, test } from "vitest";
import { followProgram } from "./program";
import { createStorage, startRig, useCluster } from "./rig";

test("the quickstart's program runs on pods of a service outside of the cluster, and nothing remains in the namespace", async (context) => {
  const cluster = await useCluster(context);
  const { storageClass } = await createStorage(cluster.admin, 1);
  const rig = await startRig(context, { kubernetes: { storageClass } });
  await followProgram(rig.service, cluster.image);
  await expect.poll(rig.pods).toEqual([]);
  for (const kind of ["secrets", "persistentvolumeclaims"]) await expect.poll(() => rig.names(kind)).toEqual([]);
});
