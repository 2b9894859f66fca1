import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { namesIn, useCluster, useNamespace } from "./rig";
import { createObject, readManifest } from "./service-in-cluster";

const image = ["--image", "registry.test/service:1"];
/** Kinds of the objects in the service's namespace. */
const kinds = [
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "Secret",
  "PersistentVolumeClaim",
  "Deployment",
  "Service",
  "NetworkPolicy",
];

const labeled = z.looseObject({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }) });

test("the API server accepts every object of the manifest under strict validation", async (context) => {
  const { admin } = await useCluster(context);
  const objects = await readManifest(...image);
  expect(objects.map(({ kind }) => kind)).toEqual(["Namespace", ...kinds]);
  onTestFinished(() => admin.call("DELETE", "/api/v1/namespaces/serverless-compute").then(() => undefined));
  for (const one of objects) expect(await createObject(admin, one)).toMatchObject({ kind: one.kind });
});

test("a manifest for an existing namespace neither changes nor deletes it", async (context) => {
  const { admin } = await useCluster(context);
  const namespace = await useNamespace(admin);
  const labels = async () => labeled.parse(await admin.call("GET", `/api/v1/namespaces/${namespace}`)).metadata.labels;
  const before = await labels();
  const objects = await readManifest(...image, "--namespace", namespace);
  expect(objects.map(({ kind }) => kind)).toEqual(kinds);
  for (const one of objects) expect(await createObject(admin, one)).toMatchObject({ metadata: { namespace } });
  expect(await labels()).toEqual(before);
  expect(await namesIn(admin, namespace, "secrets")).toEqual(["serverless-compute"]);
});
