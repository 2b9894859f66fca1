import { rm, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { serviceFolder } from "../support/folders";
import { followProgram } from "./program";
import { createStorage, namesIn, podList, useCluster, useNamespace } from "./rig";
import { createObject, makeServiceImage, readManifest, withoutServices } from "./service-in-cluster";
import { runCluster } from "./setup";

/** Builds an image with npm, and deploys four times. */
const timeout = 600_000;

test(
  "the manifest runs the service in the cluster; the quickstart's program deploys there and leaves only the service",
  async (context) => {
    const { admin, address, port, image, folder } = await useCluster(context);
    const namespace = await useNamespace(admin);
    const serviceImage = `localhost/service-${namespace}:1`;
    await runCluster(port, ["import", folder, await makeServiceImage(serviceImage)]);
    const { storageClass } = await createStorage(admin, 2);
    const seed = `${serviceFolder()}.yaml`;
    await writeFile(seed, stringify({ kubernetes: { storageClass } }));
    onTestFinished(() => rm(seed));
    const flags = ["--image", serviceImage, "--namespace", namespace, "--storage-class", storageClass, "--seed", seed];
    const objects = await readManifest(...flags);
    for (const object of objects) await createObject(admin, withoutServices(object, { host: address, port }));

    const path = `/api/v1/namespaces/${namespace}`;
    const pods = async () => podList.parse(await admin.call("GET", `${path}/pods`)).items;
    const isReady = expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True" })]);
    onTestFinished(async () => {
      const [pod] = context.task.result?.state === "fail" ? await pods() : [];
      if (!pod) return;
      console.error(
        pod.status.containerStatuses,
        await text(await admin.open("GET", `${path}/pods/${pod.metadata.name}/log`)),
      );
    });
    await expect.poll(pods, { timeout: 120_000 }).toMatchObject([{ status: { conditions: isReady } }]);
    const [pod] = await pods();
    const secret = objects.find(({ kind }) => kind === "Secret");
    const { apiKey } = z.looseObject({ apiKey: z.string() }).parse(secret?.["stringData"]);
    await followProgram({ url: `http://${pod?.status.podIP}:7337`, apiKey }, image);

    await expect.poll(pods).toHaveLength(1);
    for (const kind of ["persistentvolumeclaims", "secrets"])
      await expect.poll(() => namesIn(admin, namespace, kind)).toEqual(["serverless-compute"]);
  },
  timeout,
);
