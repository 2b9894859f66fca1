import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { checkOf, expectNoneLeft, type FaultClient, faultTable } from "../support/fault-table";
import { type SdkRig, startRig } from "./rig";

/** Calls of a client. Each submits or follows a job and returns its result as text, or rejects. */
interface FaultCalls {
  submit(endpointId: string): Promise<unknown>;
  /** Waits at most `timeout` seconds for the end of the submitted job. */
  follow(endpointId: string, timeout: number): Promise<string>;
  /** Submits a job and waits for its end, in one call of the client. */
  sync(endpointId: string, timeout: number): Promise<string>;
}

/** Results of both ways to run a job, and the state of the resulting job; undefined for no job. */
export interface Expected {
  text: RegExp;
  job: "completed" | "failed" | "inQueue" | undefined;
}

/** Tests a client under each row of the table of faults in docs/guides/rehearse-failures.md. */
export function describeFaults(
  title: string,
  client: FaultClient,
  checks: Record<string, Expected>,
  useCalls: (rig: SdkRig, context: TestContext) => FaultCalls,
): void {
  describe(title, () => {
    let rig: SdkRig;
    let started: FaultCalls | undefined;
    beforeAll(async () => {
      rig = await startRig();
    });
    afterAll(() => rig[Symbol.asyncDispose]());

    for (const row of faultTable(client))
      test(row.fault, async (context) => {
        const { faults, afterSubmission, behaviour } = row;
        started ??= useCalls(rig, context);
        const calls = started;
        const expected = checkOf(checks, behaviour);
        const timeout = behaviour.includes("IN_QUEUE") || behaviour.includes("Timeout") ? 1 : 60;
        const run = async (call: (endpointId: string, inject: () => void) => Promise<string>): Promise<void> => {
          const endpointId = await rig.endpoint("plain.mjs", { workersMin: 0 });
          const text = await call(endpointId, () => rig.service.faults(endpointId, faults)).catch(String);
          expect(text).toMatch(expected.text);
          expectNoneLeft(row, rig.service.faults(endpointId));
          const noResult = { completed: 0, failed: 0, inProgress: 0, inQueue: 0 };
          await expect
            .poll(async () => (await rig.clients.jobs.health(endpointId)).jobs)
            .toMatchObject(expected.job ? { ...noResult, [expected.job]: 1 } : noResult);
        };
        await run(async (endpointId, inject) => {
          if (!afterSubmission) inject();
          await calls.submit(endpointId);
          if (afterSubmission) inject();
          return calls.follow(endpointId, timeout);
        });
        if (afterSubmission) return;
        await run((endpointId, inject) => {
          inject();
          return calls.sync(endpointId, timeout);
        });
      });
  });
}
