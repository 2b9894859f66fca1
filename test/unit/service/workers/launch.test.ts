import { expect, test } from "vitest";
import { defaultTimings as timings } from "../../../../service/timings";
import { createWorkerStarter } from "../../../../service/workers/launch";
import type { Preparation, Survivor, WorkerStart } from "../../../../service/workers/runtimes/runtime";
import { useResources } from "../resources/resources-rig";
import { runningProgram } from "./support/managed-worker";

/** The starts of an endpoint's workers whose program reads a secret, and their log lines; `preparation` replaces the program. */
function useStarter(type = "QB") {
  const resources = useResources();
  const secret = resources.secrets.create({ name: "token", value: "hush-hush" });
  const templateId = resources.template({ env: { TOKEN: "{{ RUNPOD_SECRET_token }}" } });
  const volumeId = resources.volume();
  const { id } = resources.endpoints.create({
    templateId,
    type,
    scalerType: "REQUEST_COUNT",
    networkVolumeId: volumeId,
  });
  const starts: WorkerStart[] = [];
  const lines: string[] = [];
  const unsent: unknown[] = [];
  const faults: { noStock?: string | undefined; preparation?: Preparation } = {};
  const run = (worker: WorkerStart) => {
    starts.push(worker);
    return runningProgram().process;
  };
  const starter = createWorkerStarter({
    endpoints: resources.lookup,
    runtime: { prepare: () => faults.preparation ?? { start: run } },
    token: () => "the-token",
    logs: { write: (_id, line) => lines.push(line) },
    log: { warn: (_facts: unknown, text?: string) => lines.push(`warning: ${text}`) },
    faults: { lackOfStock: () => faults.noStock, workerProgram: () => undefined },
    onUnsentResult: (job, reason) => unsent.push({ ...job, reason }),
    timings,
  });
  const group: Parameters<typeof starter.start>[0] = { endpointId: id, loggedProblem: undefined };
  const start = () => starter.start(group);
  return { ...resources, id, secret, volumeId, starter, start, starts, lines, unsent, faults, run };
}

test("a worker of a queue gets its variables, its identity and the addresses of its calls", () => {
  const { id, start, starts } = useStarter();
  expect(start()).toMatchObject({ image: "acme/chat:1", id: expect.stringMatching(/^local-/) });
  const [{ workerId = "", env } = {}] = starts;
  const root = `http://host/v2/${id}`;
  expect(env?.("http://host", undefined)).toEqual({
    PYTHONUNBUFFERED: "1",
    RUNPOD_DEBUG_LEVEL: "INFO",
    TOKEN: "hush-hush",
    RUNPOD_POD_ID: workerId,
    RUNPOD_ENDPOINT_ID: id,
    RUNPOD_AI_API_KEY: "the-token",
    RUNPOD_WEBHOOK_GET_JOB: `${root}/job-take/$ID?gpu=local`,
    RUNPOD_WEBHOOK_POST_OUTPUT: `${root}/job-done/$RUNPOD_POD_ID/$ID?gpu=local`,
    RUNPOD_WEBHOOK_POST_STREAM: `${root}/job-stream/$RUNPOD_POD_ID/$ID?gpu=local`,
    RUNPOD_WEBHOOK_PING: `${root}/ping/$RUNPOD_POD_ID`,
    RUNPOD_PING_INTERVAL: String(timings.pingInterval),
    RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: "true",
    RUNPOD_SKIP_GPU_CHECK: "true",
  });
});

test("a worker's lines are logged without secrets, and a result that it cannot send is reported", () => {
  const { id, start, starts, lines, unsent } = useStarter();
  start();
  const [{ workerId = "", onLine } = {}] = starts;
  const message = "Error while returning job result. | hush-hush is not JSON serializable";
  onLine?.(JSON.stringify({ requestId: "j", message, level: "ERROR" }).replace(":", ": "));
  expect(lines[0]).toBe(`${workerId} worker starts for the image acme/chat:1`);
  expect(lines.join("")).not.toContain("hush-hush");
  expect(unsent).toEqual([{ endpointId: id, workerId, jobId: "j", reason: "[secret] is not JSON serializable" }]);
});

test("a reason why no worker starts is logged once, until another reason or a start", () => {
  const { start, lines, faults } = useStarter();
  faults.noStock = "no stock";
  expect([start(), start()]).toEqual([{ noStock: "no stock" }, { noStock: "no stock" }]);
  faults.noStock = undefined;
  faults.preparation = { error: "no command" };
  for (const _ of [1, 2]) expect(start()).toEqual({ error: "no command" });
  faults.preparation = { ready: Promise.resolve() };
  expect(start()).toEqual({ ready: expect.anything() });
  faults.preparation = { error: "no command" };
  start();
  const reasons = ["no stock", "no command", "no command"];
  expect(lines).toEqual(reasons.flatMap((reason) => [reason, `warning: ${reason}`]));
});

test("a worker whose environment cannot be read does not start, with the reason", () => {
  const { start, secrets, secret } = useStarter();
  secrets.remove(secret.id);
  expect(start()).toEqual({ error: expect.stringMatching(/^no worker can be started: env.TOKEN .* does not exist/) });
});

type Rig = ReturnType<typeof useStarter>;
const change = ({ secrets, secret }: Rig) => secrets.updateValue({ id: secret.id, value: "changed" });
const enlarge = ({ volumes, volumeId }: Rig) => volumes.update(volumeId, { size: 20 });

test.each<[string, (rig: Rig) => unknown, boolean, { isCurrent: boolean } | undefined]>([
  ["with the same configuration continues", () => undefined, false, { isCurrent: true }],
  ["whose volume is larger now continues", enlarge, false, { isCurrent: true }],
  ["with another configuration ends", change, false, undefined],
  ["with another configuration and a job continues", change, true, { isCurrent: false }],
  ["without a readable environment ends", ({ secrets, secret }) => secrets.remove(secret.id), true, undefined],
])("a worker of an earlier service %s", (_what, prepare, isBusy, adopted) => {
  const rig = useStarter("LB");
  rig.start();
  const [{ endpointId = "", configuration = "" } = {}] = rig.starts;
  prepare(rig);
  const ports: unknown[] = [];
  const adopt: Survivor["adopt"] = (worker, serverPorts) => {
    ports.push(serverPorts);
    return rig.run(worker);
  };
  const survivor = { endpointId, workerId: "local-w", configuration, adopt };
  const outcome = rig.starter.adopt(survivor, isBusy);
  expect(outcome).toEqual(adopted && { ...adopted, started: expect.objectContaining({ id: "local-w" }) });
  expect(ports).toEqual(adopted ? [{ port: 80, healthPort: 80, healthPath: "/ping" }] : []);
  const environment = rig.starts[1]?.env("http://host", { port: 1, healthPort: 2, healthPath: "/" });
  expect(environment).toEqual(adopted && expect.objectContaining({ PORT: "1", PORT_HEALTH: "2" }));
});
