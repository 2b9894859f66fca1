import { createClients } from "serverless-compute-api";
import { expect, test } from "vitest";
import { readApiKey } from "../../service/store/api-key";
import { createEndpoint } from "../docker/rig";
import { freePort } from "../support/loopback";
import { command, useFolder } from "../unit/service/cli/command";
import { useCluster, useNamespace } from "./rig";

const folder = useFolder();

test("start prints the cluster, the namespace and the address that workers call, even at the service's own port", async (context) => {
  const { kubeconfig, address, admin, image } = await useCluster(context);
  const namespace = await useNamespace(admin);
  const port = await freePort();
  const workerUrl = `http://${address}:${port}`;
  const words = ["start", "--port", String(port), "--data", folder, "--no-console", "--runtime", "kubernetes"];
  const started = command([...words, "--namespace", namespace, "--worker-url", workerUrl], { KUBECONFIG: kubeconfig });
  await started.firstLine();
  const root = `http://127.0.0.1:${port}`;
  const service = { baseUrl: `${root}/v1`, graphqlUrl: `${root}/graphql`, serverlessUrl: root };
  const running = { ...service, apiKey: readApiKey(folder) ?? "" };
  const clients = createClients(running);
  const id = await createEndpoint(running, { image });
  expect(await clients.jobs.runsync(id, { input: { do: "env" } })).toMatchObject({ status: "COMPLETED" });
  await clients.close();
  started.child.kill("SIGTERM");
  expect((await started.ended).stdout).toMatch(
    new RegExp(
      `^  Workers +cluster +${admin.displayUrl} +context test\n +namespace +${namespace}\n +address +${workerUrl}\n`,
      "m",
    ),
  );
});

test("start says that something must forward a worker URL at which it does not listen", async (context) => {
  const { kubeconfig, admin, address } = await useCluster(context);
  const namespace = await useNamespace(admin);
  for (const url of ["http://192.0.2.10:7338", "http://tunnel.example.com:7338", `https://${address}:7338`]) {
    const words = ["start", "--port", "0", "--data", folder, "--no-console", "--runtime", "kubernetes"];
    const flags = ["--namespace", namespace, "--worker-url", url];
    const started = command([...words, ...flags], { KUBECONFIG: kubeconfig });
    await started.firstLine();
    started.child.kill("SIGTERM");
    expect((await started.ended).stdout).toContain(` ${url}   forward it to this service\n`);
  }
});
