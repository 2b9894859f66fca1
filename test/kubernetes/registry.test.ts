import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { send } from "../support/raw-http";
import { registerSecret } from "../support/secret-scan";
import { usePrivateRegistry } from "./private-registry";
import { startRig, useCluster } from "./rig";

const secretList = z.looseObject({
  items: z.array(
    z.looseObject({
      type: z.string(),
      metadata: z.looseObject({ name: z.string() }),
      data: z.record(z.string(), z.base64()),
    }),
  ),
});

/** New credentials of a user, and the forms in which a text could contain the password. */
function createCredentials() {
  const username = "puller";
  const password = `registry-${randomUUID()}`;
  registerSecret(password, "the registry's password");
  const encoded = [password, `${username}:${password}`].map((text) => Buffer.from(text).toString("base64"));
  return { username, password, forms: [password, ...encoded] };
}

test("credentials of a registry are in the Secret of a pod and nowhere else, and are deleted with the pod", async (context) => {
  const { archive } = await useCluster(context);
  const { forms, ...credentials } = createCredentials();
  const host = await usePrivateRegistry(archive, credentials);
  const rig = await startRig(context);
  const { id: containerRegistryAuthId } = await rig.clients.management.createRegistryAuth({
    name: "private",
    ...credentials,
  });
  const id = await rig.endpoint({ image: `${host}/team/worker:1`, containerRegistryAuthId });
  const env = await rig.clients.jobs.runsync(id, { input: { do: "env" } });
  expect(env).toMatchObject({ status: "COMPLETED" });

  const [pod] = await rig.pods();
  const name = pod?.metadata.name;
  expect(pod?.spec).toMatchObject({ imagePullSecrets: [{ name }] });
  const { items: secrets } = secretList.parse(JSON.parse(await rig.objects("secrets")));
  expect(secrets).toMatchObject([{ metadata: { name }, type: "kubernetes.io/dockerconfigjson" }]);
  const config = Buffer.from(secrets[0]?.data[".dockerconfigjson"] ?? "", "base64").toString();
  expect(JSON.parse(config)).toMatchObject({ auths: { [host]: credentials } });
  const texts = {
    pods: JSON.stringify(await rig.pods()),
    events: await rig.objects("events"),
    environment: JSON.stringify(env),
    log: await rig.log(id),
    serviceLog: await readFile(join(rig.dataFolder, "service.log"), "utf8"),
  };
  for (const [place, text] of Object.entries(texts))
    for (const form of forms) expect(text.includes(form), place).toBe(false);

  const scale = (workersMax: number) =>
    send("PATCH", `${rig.service.baseUrl}/endpoints/${id}`, { key: rig.service.apiKey, json: { workersMax } });
  await scale(0);
  await expect.poll(() => rig.names("secrets")).toEqual([]);
  await scale(1);
  expect(await rig.clients.jobs.runsync(id, { input: { do: "env" } })).toMatchObject({ status: "COMPLETED" });
  expect(await rig.names("secrets")).toHaveLength(1);
  await rig.clients.management.deleteEndpoint(id);
  await expect.poll(() => rig.names("secrets")).toEqual([]);
});

test("rejected credentials fail the job with the registry's reason, without the password", async (context) => {
  const { archive } = await useCluster(context);
  const host = await usePrivateRegistry(archive, createCredentials());
  const { username, password, forms } = createCredentials();
  const rig = await startRig(context);
  const auth = await rig.clients.management.createRegistryAuth({ name: "wrong", username, password });
  const id = await rig.endpoint({ image: `${host}/team/worker:1`, containerRegistryAuthId: auth.id });
  const { status, error } = await rig.clients.jobs.runsync(id, { input: {} }, { wait: 120_000 });
  expect({ status, error }).toEqual({
    status: "FAILED",
    error: expect.stringMatching(/could not be started: ErrImagePull: .*\/team\/worker:1.*401 Unauthorized/),
  });
  for (const form of forms) expect(String(error).includes(form)).toBe(false);
});
