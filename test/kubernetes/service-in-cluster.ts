import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { makeServiceImageContext } from "../../scripts/release/service-image.mjs";
import type { Cluster } from "../../service/workers/runtimes/pod/cluster";
import { withNodeFolder } from "../docker/images";
import { runLine } from "../unit/service/cli/command";
import { makeImage } from "./setup";

const objectShape = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type ManifestObject = z.output<typeof objectShape>;

/** The objects that `serverless-compute-local manifest` prints. */
export async function readManifest(...flags: string[]): Promise<ManifestObject[]> {
  const { out } = await runLine("manifest", ...flags);
  return parseAllDocuments(out).map((document) => objectShape.parse(document.toJS()));
}

/** Path of a kind of objects in the API. */
function pathOf({ apiVersion, kind, metadata: { namespace } }: ManifestObject): string {
  const group = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, "ies");
  return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`;
}

/** Creates an object under the API server's strict validation. */
export const createObject = (admin: Cluster, object: ManifestObject): Promise<unknown> =>
  admin.call("POST", pathOf(object), { body: object, query: { fieldValidation: "Strict" } });

/** Builds an archive of the service's image, as its Dockerfile does; removed after the test. */
export async function makeServiceImage(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "service-image-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const context = join(folder, "context");
  await mkdir(context);
  await makeServiceImageContext(context);
  const archive = join(folder, "service.tar");
  await withNodeFolder(async (root) => {
    await cp(join(context, "app"), join(root, "opt", "serverless-compute-local"), {
      recursive: true,
      verbatimSymlinks: true,
    });
    const settings = { IMAGE_USER: "1000", IMAGE_FOLDER: "/opt/serverless-compute-local" };
    await makeImage(root, name, archive, settings, ["node"]);
  });
  return archive;
}

const deploymentShape = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.tuple([z.looseObject({ args: z.array(z.string()), env: z.array(z.unknown()) })]),
      }),
    }),
  }),
});

/**
 * A Deployment for a cluster without DNS and without a proxy of Services: the service and its API server are reached at
 * their own addresses.
 */
export function withoutServices(object: ManifestObject, apiServer: { host: string; port: number }): ManifestObject {
  if (object.kind !== "Deployment") return object;
  const { spec } = deploymentShape.parse(object);
  const [container] = spec.template.spec.containers;
  const args = [...container.args, "--allow-host", "$(POD_IP)", "--worker-url", "http://$(POD_IP):7337"];
  const env = [
    { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    { name: "KUBERNETES_SERVICE_HOST", value: apiServer.host },
    { name: "KUBERNETES_SERVICE_PORT", value: String(apiServer.port) },
    ...container.env,
  ];
  const containers = [{ ...container, args, env }];
  const template = { ...spec.template, spec: { ...spec.template.spec, containers } };
  return { ...object, spec: { ...spec, template } };
}
