/** A worker that speaks the HTTP protocol of the Python SDK, and shows one of its failures: `unsent`, `start` or `hook`. */
const {
  RUNPOD_POD_ID,
  RUNPOD_AI_API_KEY: authorization,
  RUNPOD_WEBHOOK_GET_JOB,
  RUNPOD_WEBHOOK_POST_OUTPUT,
} = process.env;
const [, , failure] = process.argv;
const log = (message, requestId = null) =>
  console.log(`{"requestId": ${JSON.stringify(requestId)}, "message": ${JSON.stringify(message)}, "level": "ERROR"}`);

async function take() {
  for (;;) {
    const url = `${RUNPOD_WEBHOOK_GET_JOB.replace("$ID", RUNPOD_POD_ID)}&job_in_progress=0`;
    const response = await fetch(url, { headers: { authorization } });
    if (response.status === 200) return response.json();
  }
}

if (failure === "start") {
  log(`Uncaught exception | ['Traceback (most recent call last):\\n', 'ValueError: no model\\n']`);
  process.exit(1);
}
if (failure === "hook") {
  const { id } = await take();
  const report = { event: "prestart_failed", error_type: "ValueError", error_message: "no model", hook: "load" };
  const url = RUNPOD_WEBHOOK_POST_OUTPUT.replace("$RUNPOD_POD_ID", RUNPOD_POD_ID).replace("$ID", id);
  await fetch(url, {
    method: "POST",
    headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    body: JSON.stringify({ error: JSON.stringify(report) }),
  });
  process.exit(1);
}
for (;;) {
  const { id } = await take();
  log("Error while returning job result. | Object of type bytes is not JSON serializable", id);
}
