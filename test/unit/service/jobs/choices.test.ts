import { expect, test } from "vitest";
import { images, shortTimings } from "../workers/support/programs";
import { useJobRig } from "./support/job-rig";

test("/cancel of a finished job returns 200 with its state", async () => {
  const rig = await useJobRig({ images, timings: shortTimings });
  const jobs = await rig.endpoint("tool");
  const id = await jobs.run({ do: "throw" });
  await jobs.reaches(id, "FAILED");
  const answer = await jobs.call("POST", `/cancel/${id}`);
  expect([answer.status, answer.json]).toEqual([200, { id, status: "FAILED" }]);
});

test("/health and /retry have no rate limit", async () => {
  const rig = await useJobRig({ images, rateLimits: "on" });
  const jobs = await rig.endpoint("tool", { workersMax: 0 });
  const id = await jobs.run({});
  const told = new Set<number>();
  for (let at = 0; at < 150; at++) {
    told.add((await jobs.call("GET", "/health")).status);
    told.add((await jobs.call("POST", `/retry/${id}`)).status);
  }
  expect([...told].sort()).toEqual([200, 400]);
});
