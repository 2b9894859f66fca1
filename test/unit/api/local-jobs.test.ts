import { systemClock } from "serverless-compute-api";
import { expect, test } from "vitest";
import { clientsAt } from "../../support/client-rig";
import { apiKey, useLocalService } from "../../support/local-service";
import { images, shortTimings } from "../service/workers/support/programs";

test.each(["array", "envelope"] as const)(
  "a job that is not visible at first is streamed from the %s of the local service to its end or its failure",
  async (stream) => {
    const rig = await useLocalService({ images, stream, timings: shortTimings, jobVisibilityDelay: 200 });
    const { id: endpointId } = await rig.jobsOn("counting");
    const { jobs } = clientsAt(rig.root, { apiKey, clock: systemClock }).clients;
    const outputs: unknown[] = [];
    async function streamJob(input: Record<string, number>): Promise<string> {
      const { id } = await jobs.run(endpointId, { input });
      for await (const output of jobs.streamJob(endpointId, id)) outputs.push(output);
      return id;
    }
    const id = await streamJob({ to: 3 });
    expect(await jobs.waitForJob(endpointId, id)).toMatchObject({ id, status: "COMPLETED" });
    await expect(streamJob({ to: 6, failAt: 6 })).rejects.toMatchObject({
      name: "JobFailed",
      message: expect.stringContaining("failed at 6"),
    });
    expect(outputs).toEqual([1, 2, 3, 1, 2, 3, 4, 5]);
  },
);
