import { expect, test } from "vitest";
import { openJobs, useJobs } from "./support/queue-rig";

/** Creates jobs, and functions that return their order in the queue. */
function rigOf() {
  const rig = useJobs();
  const orderOf = ({ ready }: typeof rig.active) => [...ready("endpoint").jobsForScaling].map(({ id }) => id);
  return {
    ...rig,
    order: () => orderOf(rig.active),
    submit: async (id: string) => void (await rig.jobs.submit(rig.newJob({ id }))),
    /** The order after a restart of the service and the submission of the job "new". */
    async orderAfterRestart() {
      const { jobs, active } = openJobs(rig.killed());
      jobs.recover(() => true);
      await jobs.submit(rig.newJob({ id: "new" }));
      return orderOf(active);
    },
  };
}

async function take(rig: ReturnType<typeof rigOf>): Promise<string> {
  const [taken] = await rig.take("endpoint", "w");
  if (!taken) throw new Error("no job is queued");
  return taken.job.id;
}

test("a requeued job precedes later jobs of the same millisecond", async () => {
  const rig = rigOf();
  for (const id of ["a", "b", "c"]) await rig.submit(id);
  const first = await take(rig);
  await take(rig);
  await rig.jobs.requeue(first, rig.worker, "crashed", "lost");
  expect(rig.order()).toEqual(["a", "c"]);
  await rig.jobs.requeue("b", rig.worker, "crashed", "lost");
  expect(rig.order()).toEqual(["a", "b", "c"]);
  expect(await rig.orderAfterRestart()).toEqual(["a", "b", "c", "new"]);
});

test("a job submitted after the clock is set back does not overtake older jobs", async () => {
  const rig = rigOf();
  await rig.submit("before");
  await rig.clock.advance(-3_600_000);
  await rig.submit("after");
  expect(rig.order()).toEqual(["before", "after"]);
  expect(await rig.orderAfterRestart()).toEqual(["before", "after", "new"]);
});

test("a retried job is queued behind all others", async () => {
  const rig = rigOf();
  await rig.submit("a");
  await take(rig);
  await rig.jobs.finish("a", rig.worker, { error: "failed", output: undefined });
  await rig.submit("b");
  await rig.jobs.retry("endpoint", "a");
  expect(rig.order()).toEqual(["b", "a"]);
  expect(await rig.orderAfterRestart()).toEqual(["b", "a", "new"]);
});
