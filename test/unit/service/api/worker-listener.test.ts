import { expect, test } from "vitest";
import { send } from "../../../support/raw-http";
import { useJobRig } from "../jobs/support/job-rig";

test("the listener for workers rejects requests of users", async () => {
  const rig = await useJobRig();
  const { id } = await rig.endpoint("none", { workersMax: 0 });
  const port = await rig.listenForWorkers("127.0.0.1");
  const to = (path: string, text?: string) =>
    send(text === undefined ? "GET" : "POST", `http://127.0.0.1:${port}/v2/${id}/${path}`, {
      key: "a-key-for-this-test-only",
      ...(text === undefined ? {} : { text }),
    });
  const answers = [await to("run", '{"input":{}}'), await to("status/none"), await to("health")];
  expect(answers.map(({ status, text }) => [status, text.includes("route ")])).toEqual(Array(3).fill([404, true]));
});
