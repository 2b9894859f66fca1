import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { useCluster } from "./rig";
import { createObject, readManifest } from "./service-in-cluster";

test("the API server accepts every object of the manifest under strict validation", async (context) => {
  const { admin } = await useCluster(context);
  const namespace = `manifest-${randomUUID().slice(0, 8)}`;
  const objects = await readManifest("--image", "registry.test/service:1", "--namespace", namespace);
  expect(objects.map(({ kind }) => kind)).toEqual([
    "Namespace",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "Secret",
    "PersistentVolumeClaim",
    "Deployment",
    "Service",
    "NetworkPolicy",
  ]);
  onTestFinished(() => admin.call("DELETE", `/api/v1/namespaces/${namespace}`).then(() => undefined));
  for (const one of objects) expect(await createObject(admin, one)).toMatchObject({ kind: one.kind });
});
