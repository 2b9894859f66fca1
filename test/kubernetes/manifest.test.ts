import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { runLine } from "../unit/service/cli/command";
import { useCluster } from "./rig";

const object = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

/** Path of a kind of objects in the API. */
function pathOf({ apiVersion, kind, metadata: { namespace } }: z.output<typeof object>): string {
  const group = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, "ies");
  return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`;
}

test("the API server accepts every object of the manifest under strict validation", async (context) => {
  const { admin } = await useCluster(context);
  const namespace = `manifest-${randomUUID().slice(0, 8)}`;
  const { out } = await runLine("manifest", "--image", "registry.test/service:1", "--namespace", namespace);
  const objects = parseAllDocuments(out).map((document) => object.parse(document.toJS()));
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
  for (const one of objects) {
    const created = await admin.call("POST", pathOf(one), { body: one, query: { fieldValidation: "Strict" } });
    expect(created).toMatchObject({ kind: one.kind });
  }
});
