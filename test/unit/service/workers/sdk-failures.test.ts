import { expect, test } from "vitest";
import { useLocalService } from "../../../support/local-service";
import { program, shortTimings } from "./support/programs";

const command = (failure: string): string => `"${process.execPath}" "${program("sdk-like.mjs")}" ${failure}`;

async function useWorker(failure: string) {
  const rig = await useLocalService({ images: { worker: command(failure) }, timings: shortTimings });
  return rig.jobsOn("worker");
}

test("a job whose result the SDK cannot encode fails once, with the SDK's reason", async () => {
  const jobs = await useWorker("unsent");
  const record = await jobs.reaches(await jobs.submit({}));
  const error = "the handler's output is not a JSON value: Object of type bytes is not JSON serializable";
  expect(record).toMatchObject({ status: "FAILED", error });
  expect(record).not.toHaveProperty("retries");
});

test("a job fails with the traceback of a start that the SDK logs on stdout", async () => {
  const jobs = await useWorker("start");
  const { status, error } = await jobs.reaches(await jobs.submit({}));
  expect(status).toBe("FAILED");
  expect(error).toMatch(
    /: ValueError: no model\nIts last lines:\nTraceback \(most recent call last\):\nValueError: no model$/,
  );
});

test("three workers whose start hook fails fail the waiting jobs with the reason, the first jobs with the SDK's report", async () => {
  const jobs = await useWorker("hook");
  const ids = await Promise.all([{}, {}, {}, {}, {}].map(() => jobs.submit({})));
  const errors = await Promise.all(ids.map(async (id) => String((await jobs.reaches(id, "FAILED"))["error"])));
  const isReport = (error: string): boolean => error.startsWith('{"event":"prestart_failed"');
  expect(errors.filter(isReport)).toHaveLength(3);
  for (const error of errors.filter((text) => !isReport(text)))
    expect(error).toContain("ended with exit code 1, because its start hook failed: ValueError: no model");
  expect((await jobs.health()).message).toContain("ValueError: no model");
});
