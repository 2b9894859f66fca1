import { expect, test } from "vitest";
import { at, expectResponse } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";

const target = await useTarget({ stream: "envelope" });
const account = useAccount(target);

test("GET /stream/{job_id} with the setting stream: envelope returns {status, stream} as the SDKs read it", async (context) => {
  target.localOnly(context, "the shape is a setting of the local service");
  const jobs = await account.jobsOn("stream", context);
  const id = await jobs.submit({ chunks: ["one"] });
  const response = await jobs.call("GET", `/stream/${id}`);
  expectResponse(response, 200, { stream: [{ output: "one" }] });
  expect(["IN_PROGRESS", "COMPLETED"]).toContain(at(response.json, "status"));
  await jobs.reaches(id, "COMPLETED");
  expectResponse(await jobs.call("GET", `/stream/${id}`), 200, { status: "COMPLETED", stream: [] });
});
