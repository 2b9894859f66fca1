import fastify, { type FastifyInstance } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import type { Admission } from "../../../../service/api/admission";
import { registerJobRoutes } from "../../../../service/api/jobs";
import { registerOpenaiRoute } from "../../../../service/api/openai";
import { keepBodyText } from "../../../../service/api/request-body";
import { ServiceError } from "../../../../service/errors";
import { useJobs } from "./support/queue-rig";

const admit: Admission = () => ({
  onRequest: (_request, _reply, done) => done(),
  onSend: (_request, _reply, _payload, done) => done(),
});

function useApp(register: (app: FastifyInstance) => void): FastifyInstance {
  const app = fastify();
  app.register(async (scope) => register(scope));
  onTestFinished(() => app.close());
  return app;
}

test.each(["purge", "removeEndpoint"] as const)(
  "a call of /openai/* whose job is removed in the transaction of its submission returns 404: %s",
  async (removal) => {
    const rig = useJobs();
    onTestFinished(() => rig.pendingRequests.close());
    const { submit } = rig.jobs;
    const jobs: typeof rig.jobs = {
      ...rig.jobs,
      submit(job) {
        const submitted = submit(job);
        void rig.jobs[removal]("endpoint");
        return submitted;
      },
    };
    const app = useApp((scope) => {
      keepBodyText(scope, ["application/json"]);
      registerOpenaiRoute(scope, { admit, queue: { ...rig, jobs }, clock: rig.steady });
    });
    const call = { method: "POST", url: "/endpoint/openai/v1/models", payload: {} } as const;
    for (const payload of [{}, { stream: true }])
      expect(await app.inject({ ...call, payload })).toMatchObject({ statusCode: 404 });
  },
);

test.each(["removed", "over"])(
  "a waiting request whose job cannot be read from the store returns its error, and other listeners continue: wait %s",
  async (end) => {
    const rig = useJobs();
    onTestFinished(() => rig.pendingRequests.close());
    let fault: ServiceError | undefined;
    const find: typeof rig.list.find = (...args) => {
      if (fault) throw fault;
      return rig.list.find(...args);
    };
    const app = useApp((scope) =>
      registerJobRoutes(scope, {
        admit,
        queue: { ...rig, list: { ...rig.list, find } },
        clock: rig.steady,
        streamForm: "array",
        visibilityDelay: 0,
        health: () => {
          throw new Error("not called");
        },
      }),
    );
    const removed: string[] = [];
    rig.events.on("removed", ({ id }) => void removed.push(id));
    const calls = ["a", "b"].map((prompt) =>
      app.inject({ method: "POST", url: "/endpoint/runsync?wait=1000", payload: { input: { prompt } } }),
    );
    await expect.poll(() => rig.active.waiting("endpoint")).toBe(2);
    await new Promise(setImmediate);
    fault = new ServiceError("storeUnavailable", "data folder cannot be written");
    if (end === "removed") await rig.jobs.purge("endpoint");
    else await rig.clock.advance(2000);
    for (const response of await Promise.all(calls)) expect(response).toMatchObject({ statusCode: 503 });
    expect(removed).toHaveLength(end === "removed" ? 2 : 0);
  },
);
