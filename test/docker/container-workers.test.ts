import { expect, test } from "vitest";
import { z } from "zod";
import { labels } from "../../service/workers/runtimes/container/removal";
import { startRig } from "./rig";

test("a job runs in a container of the template's image, with the template's environment and its output in the log", async (context) => {
  const rig = await startRig(context);
  const id = await rig.endpoint({ env: { MODEL: "small" } });
  expect(await rig.output(id, { do: "log", text: "a line of the container" })).toEqual({});
  const [container, ...others] = await rig.containers();
  expect(others).toEqual([]);
  expect(container).toMatchObject({ State: "running", Labels: { "serverless-compute.endpoint": id } });
  expect(await rig.output(id, { do: "env" })).toMatchObject({ MODEL: "small", RUNPOD_ENDPOINT_ID: id });
  expect(await rig.log(id)).toContain("a line of the container");
  await rig.service.stop(0);
  expect(await rig.containers()).toEqual([]);
  const query = { filters: JSON.stringify({ label: [`${labels.data}=${rig.dataFolder}`] }) };
  expect(await rig.client.call("GET", "/networks", { query })).toEqual([]);
});

test("the time until the container requests its job is part of the job's delayTime", async (context) => {
  const rig = await startRig(context);
  const id = await rig.endpoint();
  const { status, delayTime = 0, executionTime = 0 } = await rig.clients.jobs.runsync(id, { input: { do: "echo" } });
  expect(status).toBe("COMPLETED");
  // Starting a container takes longer than returning the input.
  expect(delayTime).toBeGreaterThan(executionTime);
});

test("a command for the image takes precedence over its container", async (context) => {
  const rig = await startRig(context, { images: { "acme/echo": `${process.execPath} --version` } });
  const id = await rig.endpoint({ image: "acme/echo:1" });
  const { status, error } = await rig.clients.jobs.runsync(id, { input: {} });
  expect(status).toBe("FAILED");
  expect(error).toContain("ended with exit code 0, before it requested a job");
  expect(await rig.log(id)).toContain(process.version);
});

test("dockerArgs are the container's command, and in their JSON form its entrypoint too", async (context) => {
  const rig = await startRig(context);
  const started = { cmd: ["/programs/worker.mjs", "two words"], entrypoint: ["node", "--no-warnings"] };
  const forms = ["node /programs/worker.mjs 'two words'", JSON.stringify(started)];
  for (const dockerArgs of forms) {
    const id = await rig.endpoint({ dockerArgs });
    const line = z.string().parse(await rig.output(id, { do: "read", path: "/proc/1/cmdline" }));
    expect(line.split("\0")).toContain("two words");
    expect(line.includes("--no-warnings")).toBe(dockerArgs === forms[1]);
  }
});
