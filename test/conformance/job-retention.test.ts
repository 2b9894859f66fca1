import { expect, test } from "vitest";
import { expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";

const minute = 60_000;
const target = await useTarget({ timings: { runsyncRetention: 5 * minute } });
const account = useAccount(target);

test("the result of /runsync is kept up to 5 minutes with the setting runsyncRetention", {
  tags: ["reading:runsync-retention"],
}, async (context) => {
  target.localOnly(context, "how long results are kept is a setting of the local service");
  const jobs = await account.jobsOn("echo", context);
  const id = stringAt(await jobs.runsync({}), "id");
  await target.advance(4.8 * minute, context);
  expectResponse(await jobs.status(id), 200, { status: "COMPLETED" });
  await target.advance(0.3 * minute, context);
  await expect.poll(async () => (await jobs.status(id)).status).toBe(404);
});
