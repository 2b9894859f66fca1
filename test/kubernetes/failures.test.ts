import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { closeServer, listenOnLoopback } from "../support/loopback";
import { send } from "../support/raw-http";
import { patch, startRig, useCluster, useNamespace } from "./rig";

/** Failures of pods: the endpoint, a job's input, and texts of the failed job's error. Users read the first one everywhere. */
const failures: { name: string; of?: object; input?: Record<string, unknown>; texts: RegExp[] }[] = [
  {
    name: "an image that cannot be pulled",
    of: { image: "127.0.0.1:9/missing:1" },
    texts: [/could not be started: Err[Ii]mage[Pp]ull: .*127\.0\.0\.1:9\/missing:1/, /connection refused/],
  },
  {
    name: "an invalid image name",
    of: { image: "UPPER/case:1" },
    texts: [/could not be started: (InvalidImageName|ErrImagePull): .*UPPER\/case:1/],
  },
  {
    name: "a missing program",
    of: { dockerArgs: JSON.stringify({ entrypoint: ["/missing/program"], cmd: [] }) },
    texts: [/could not be started: .*\/missing\/program/],
  },
  {
    name: "an exit code",
    of: { dockerArgs: `node -e "console.error('no model found');process.exit(3)"` },
    texts: [/ended with exit code 3/, /exit code 3, before it requested a job/, /no model found/],
  },
  {
    name: "an image of root in a restricted pod",
    of: { image: "localhost/root-worker:1" },
    texts: [
      /runAsNonRoot and image will run as root.*; use an image with a numeric USER, or set kubernetes\.runAsUser/,
    ],
  },
  {
    name: "a handler that exceeds the memory of its CPU flavour",
    of: { endpoint: { computeType: "CPU", cpuFlavorIds: ["cpu5c"], vcpuCount: 2 } },
    input: { do: "memory", megabytes: 5000 },
    texts: [/ran out of its 4 GB of memory and was killed \(OOMKilled\)/, /\(OOMKilled\) while it ran the job/],
  },
  // Kubernetes reports the exit code first. The programs of pods end themselves on SIGTERM with one of these.
  ...["0", "143"].map((code) => ({
    name: `exit code ${code} after an eviction for a full disk`,
    of: { containerDiskInGb: 1, env: { EXIT_CODE: code } },
    input: { do: "disk", path: "/tmp/filled", megabytes: 1200 },
    texts: [
      /was ended by Kubernetes \(Evicted\): .*exceeds the total limit of containers 1Gi/,
      /1Gi while it ran the job/,
    ],
  })),
  {
    name: "a handler that ends its process",
    input: { do: "exit", code: 7, last: "last words of the handler" },
    texts: [
      /ended with exit code 7/,
      /the worker ended with exit code 7 while it ran the job/,
      /last words of the handler/,
    ],
  },
];

test.for(failures)("$name fails the job with the reason", async ({ of = {}, input = {}, texts }, context) => {
  const rig = await startRig(context);
  const id = await rig.endpoint(of);
  const record = await rig.clients.jobs.runsync(id, { input }, { wait: 120_000 });
  expect(record.status).toBe("FAILED");
  for (const text of texts) expect(record.error).toMatch(text);
  const [reason = /^/] = texts;
  expect(await rig.log(id)).toMatch(reason);
  const problem = { message: expect.stringMatching(reason) };
  expect(await rig.clients.jobs.health(id)).toMatchObject(problem);
  const status = await send("GET", `${rig.service.url}/local/status`, { key: rig.service.apiKey });
  expect(status.json).toMatchObject({ endpoints: [problem] });
});

test("a pod without room counts as throttled, its job waits with the resource that is missing, and runs when there is room", async (context) => {
  const rig = await startRig(context);
  const id = await rig.endpoint({ endpoint: { gpuCount: 40 } });
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "echo", text: "late" } });
  await rig.jobWaits(
    id,
    /no node of the cluster has room for .*: 0\/1 nodes are available: 1 Insufficient nvidia\.com\/gpu$/,
    { workers: { throttled: 1, initializing: 0 } },
  );
  await rig.setGpus(60);
  await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "COMPLETED" });
  await rig.setGpus(30);
});

test("a pod waits for its image once it has room, with the newest reason", async (context) => {
  // A registry that does not respond.
  const registry = createServer(() => undefined);
  const { host } = new URL(await listenOnLoopback(registry));
  onTestFinished(() => closeServer(registry));
  const rig = await startRig(context);
  const image = `${host}/large:1`;
  const id = await rig.endpoint({ image, endpoint: { gpuCount: 40 } });
  await rig.clients.jobs.run(id, { input: {} });
  await rig.jobWaits(id, "Insufficient nvidia.com/gpu");
  await rig.setGpus(60);
  onTestFinished(() => rig.setGpus(30));
  await rig.jobWaits(id, /^the pod \S+ waits: /, { timeout: 40_000 });
  expect(await rig.clients.jobs.health(id)).toMatchObject({
    message: expect.stringContaining(`: Pulling: Pulling image "${image}"`),
  });
});

test("workers beyond the quota of the namespace wait with the reason, and start when it is raised", async (context) => {
  const { admin } = await useCluster(context);
  const namespace = await useNamespace(admin);
  const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const body = { metadata: { name: "few" }, spec: { hard: { pods: "5" } } };
  await admin.call("POST", quotas, { body });
  const rig = await startRig(context, { kubernetes: { namespace } });
  const id = await rig.endpoint({ endpoint: { workersMin: 10, workersMax: 10 } });
  await expect
    .poll(() => rig.clients.jobs.health(id))
    .toMatchObject({
      workers: { idle: 5, throttled: 5, initializing: 0 },
      message: expect.stringMatching(/^pods .* forbidden: exceeded quota: few/),
    });
  await patch(admin, `${quotas}/few`, { spec: { hard: { pods: "20" } } });
  await expect.poll(() => rig.clients.jobs.health(id)).toMatchObject({ workers: { idle: 10 } });
  expect(await rig.log(id)).not.toContain("could not be started");
});

test("a GPU type selects nodes by the labels of NVIDIA, and a type without nodes is named", async (context) => {
  const rig = await startRig(context);
  const id = await rig.endpoint({ endpoint: { gpuTypeIds: ["NVIDIA A40"] } });
  await rig.clients.jobs.run(id, { input: {} });
  const message =
    /0\/1 nodes are available: 1 node\(s\) didn't match Pod's node affinity\/selector; the endpoint requires nodes of NVIDIA A40 \(labels: kubernetes\.gpuNodes\)$/;
  await rig.jobWaits(id, message);
  const [pod] = await rig.pods();
  expect(JSON.stringify(pod)).toContain('{"key":"nvidia.com/gpu.product","operator":"In","values":["NVIDIA-A40"]}');
  const other = await rig.endpoint({ endpoint: { gpuTypeIds: ["AMD Instinct MI300X OAM"] } });
  await rig.clients.jobs.run(other, { input: {} });
  await expect
    .poll(() => rig.clients.jobs.health(other))
    .toMatchObject({
      message:
        'no worker can be started: gpuTypeIds: "AMD Instinct MI300X OAM" has no nodes in the cluster; name their labels in kubernetes.gpuNodes of the seed file',
    });
});

test("a worker URL that pods cannot reach is reported within 30 s of the first worker's start", async (context) => {
  // A port on which nothing listens, behind a name that this machine does not resolve.
  const rig = await startRig(context, { kubernetes: { workerUrl: "http://unreachable.invalid:7337" } });
  const id = await rig.endpoint();
  await rig.clients.jobs.run(id, { input: {} });
  await expect.poll(rig.pods).toMatchObject([{ status: { phase: "Running" } }]);
  const text =
    /has run for 2\d s; no request from its pod \S+ arrived at http:\/\/unreachable\.invalid:7337; check that pods reach/;
  await rig.jobWaits(id, text);
});
