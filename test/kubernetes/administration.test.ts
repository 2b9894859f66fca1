import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { roleRules } from "../../service/workers/runtimes/pod/access";
import { startRig, useAccount, useCluster, useNamespace } from "./rig";

/** The rules of the role without a verb of a resource. */
const rulesWithout = (verb: string, resource: string): object[] =>
  roleRules
    .map((rule) =>
      rule.resources.includes(resource) ? { ...rule, verbs: rule.verbs.filter((one) => one !== verb) } : rule,
    )
    .filter(({ verbs }) => verbs.length > 0);

test.for([
  ["create", "pods"],
  ["get", "pods"],
  ["patch", "pods"],
  ["create", "secrets"],
] as const)(
  "while its role may not %s %s, a job waits with the reason, and runs once it may",
  async ([verb, resource], context) => {
    const { admin, kubeconfig } = await useCluster(context);
    const namespace = await useNamespace(admin);
    const account = await useAccount(admin, kubeconfig, namespace, roleRules);
    const rig = await startRig(context, { kubernetes: { namespace } }, account.kubeconfig);
    await account.setRules(rulesWithout(verb, resource));
    const id = await rig.endpoint();
    const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "echo", text: "late" } });
    await rig.jobWaits(id, `cannot ${verb} resource "${resource}"`);
    await account.setRules(roleRules);
    await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "COMPLETED" });
    expect(await rig.log(id)).not.toContain("could not be started");
  },
);

test("jobs of a deleted namespace wait with the reason, and run once it exists again", async (context) => {
  const { admin } = await useCluster(context);
  const namespace = `test-${randomUUID().slice(0, 8)}`;
  const create = () => admin.call("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
  await create();
  onTestFinished(() => admin.call("DELETE", `/api/v1/namespaces/${namespace}`).then(() => undefined));
  const rig = await startRig(context, { kubernetes: { namespace } });
  const id = await rig.endpoint();
  expect(await rig.clients.jobs.runsync(id, { input: { do: "echo", text: "before" } })).toMatchObject({
    status: "COMPLETED",
  });
  await admin.call("DELETE", `/api/v1/namespaces/${namespace}`);
  await expect.poll(rig.pods).toEqual([]);
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "echo", text: "late" } });
  await rig.jobWaits(id, `^namespaces "${namespace}" not found$`);
  await create();
  await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "COMPLETED" });
});

test("a full quota prevents no start of the service, and a deleted pod that waits for it is replaced, not continued", async (context) => {
  const { admin } = await useCluster(context);
  const namespace = await useNamespace(admin);
  const core = `/api/v1/namespaces/${namespace}`;
  const quota = { metadata: { name: "few" }, spec: { hard: { secrets: "0" } } };
  await admin.call("POST", `${core}/resourcequotas`, { body: quota });
  await expect.poll(() => admin.call("GET", `${core}/resourcequotas/few`)).toMatchObject({ status: { used: {} } });
  const rig = await startRig(context, { kubernetes: { namespace } });
  const id = await rig.endpoint({ endpoint: { workersMin: 1, workersMax: 1 } });
  const message = expect.stringMatching(/^secrets .* exceeded quota: few/);
  await expect.poll(() => rig.clients.jobs.health(id)).toMatchObject({ message });
  const [first] = await rig.names("pods");
  await admin.call("DELETE", `${core}/pods/${first}`);
  await expect.poll(() => rig.names("pods")).toEqual([expect.not.stringContaining(String(first))]);
  expect(await rig.log(id)).toContain("was deleted from the cluster");
  await rig.clients.management.deleteEndpoint(id);
  await expect.poll(() => rig.names("pods")).toEqual([]);
});
