import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadCluster } from "../../../../service/workers/runtimes/pod/cluster";
import { kubernetesShape } from "../../../../service/workers/runtimes/pod/settings";
import { scratchFolder } from "../../../support/folders";
import { closeServer, listenOnLoopback } from "../../../support/loopback";
import { useKubeconfig } from "./support/kubeconfig";

/** A cluster whose credentials a plugin obtains: a script of the shell. `starts` returns the number of its starts. */
async function usePlugin(script: string) {
  const server = createServer((request, response) => {
    response.end(JSON.stringify({ authorization: request.headers.authorization }));
  });
  const folder = scratchFolder();
  const [command, log] = [join(folder, "plugin"), join(folder, "log")];
  writeFileSync(log, "");
  writeFileSync(command, `#!/bin/sh\necho start >> '${log}'\n${script}\n`);
  chmodSync(command, 0o755);
  useKubeconfig(await listenOnLoopback(server), { exec: { apiVersion: "client.authentication.k8s.io/v1", command } });
  onTestFinished(() => closeServer(server));
  const cluster = await loadCluster(kubernetesShape.parse({}));
  return { cluster, starts: () => readFileSync(log, "utf8").split("\n").length - 1 };
}

test("calls at the same time share one start of a credential plugin", async () => {
  const { cluster, starts } = await usePlugin(`echo '{"status":{"token":"t1"}}'`);
  const calls = await Promise.all([1, 2, 3].map(() => cluster.call("GET", "/x")));
  expect(calls).toEqual(calls.map(() => ({ authorization: "Bearer t1" })));
  expect(starts()).toBe(1);
});

test.each([
  ["fails", "echo please log in >&2; exit 1", "please log in"],
  ["prints no JSON", "echo hello", "is not valid JSON"],
])("a credential plugin that %s is reported", async (_what, script, message) => {
  const { cluster } = await usePlugin(script);
  await expect(cluster.call("GET", "/x")).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining(message),
  });
});

test("a credential plugin that does not end is reported in time, and its later result is used", async () => {
  const folder = scratchFolder();
  const { cluster, starts } = await usePlugin(
    `while [ ! -e '${folder}/login' ]; do sleep 0.05; done; echo '{"status":{"token":"t2"}}'`,
  );
  for (const _call of [1, 2])
    await expect(cluster.call("GET", "/x", { signal: AbortSignal.timeout(10) })).rejects.toMatchObject({
      status: 401,
      message: "the credential plugin does not end",
    });
  writeFileSync(join(folder, "login"), "");
  expect(await cluster.call("GET", "/x")).toEqual({ authorization: "Bearer t2" });
  expect(starts()).toBe(1);
});
