// A worker in plain Node: requests jobs, runs them and sends their results.
import { randomUUID } from "node:crypto";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import greet from "./quickstart.mjs";

// The kernel does not deliver an unhandled SIGTERM to process 1 of a container.
process.on("SIGTERM", () => process.exit(Number(process.env.EXIT_CODE ?? 0)));

const { RUNPOD_POD_ID: id = "", RUNPOD_AI_API_KEY: authorization = "" } = process.env;
const address = (name, job = "") =>
  (process.env[`RUNPOD_WEBHOOK_${name}`] ?? "").replace("$RUNPOD_POD_ID", id).replace("$ID", job || id);

// With pings, the service notices the silence of a worker while it runs a job.
const ping = () => fetch(address("PING"), { headers: { authorization } }).catch(() => {});
if (process.env.PINGS) {
  // Before the first job, so that a frozen program has pinged.
  await ping();
  setInterval(ping, 500);
}

const operations = {
  echo: ({ text }) => ({ text, workerId: id }),
  env: () => process.env,
  log: ({ text }) => {
    console.log(text);
    return {};
  },
  files: ({ path }) => readdirSync(path),
  read: ({ path }) => readFileSync(path, "utf8"),
  write: ({ path, text }) => writeFileSync(path, text),
  sleep: async ({ ms }) => {
    await pause(ms);
    return { workerId: id };
  },
  // Records in a file shared by all workers that it runs, every few milliseconds.
  trace: async ({ ms }, job) => {
    const note = (what) => appendFileSync("/runpod-volume/trace", `${what} ${job} ${id} ${Date.now()}\n`);
    note("begin");
    for (let left = ms; left > 0; left -= 10) {
      await pause(10);
      note("beat");
    }
    note("end");
    return { job };
  },
  // Reports its execution, and returns a value that no other execution returns.
  token: async ({ ms, url }, job) => {
    const token = randomUUID();
    await fetch(`${url}?job=${job}&token=${token}`);
    await pause(ms);
    return { token };
  },
  call: async ({ url, method = "GET", headers: given = {} }) => {
    const authorization = given.authorization ?? [...(given.backwards ?? "")].reverse().join("");
    const headers = authorization === "" ? {} : { authorization };
    try {
      const answer = await fetch(url, { method, headers, signal: AbortSignal.timeout(3000) });
      return { status: answer.status, text: (await answer.text()).slice(0, 500) };
    } catch (error) {
      return { failure: String(error.cause?.code ?? error.name) };
    }
  },
  memory: ({ megabytes }) => {
    const taken = [];
    for (let i = 0; i < megabytes; i++) taken.push(Buffer.alloc(1024 * 1024, 1));
    return taken.length;
  },
  // Writes a file of zeros, and continues until the worker ends.
  disk: async ({ path, megabytes }) => {
    for (let i = 0; i < megabytes; i++) appendFileSync(path, Buffer.alloc(1024 * 1024));
    await pause(3_600_000);
  },
  exit: ({ code, last }) => {
    console.error(last);
    process.exit(code);
  },
};

/** Runs a job; without an operation, as the quickstart's handler. */
const work = (job, input) => (input.do === undefined ? greet({ input }) : operations[input.do](input, job));

for (;;) {
  try {
    const answer = await fetch(`${address("GET_JOB")}&job_in_progress=0`, { headers: { authorization } });
    if (answer.status !== 200) {
      await answer.arrayBuffer();
      if (answer.status >= 400) await pause(200);
      continue;
    }
    const { id: job, input } = await answer.json();
    const result = await Promise.resolve()
      .then(() => work(job, input))
      .then(
        (output) => ({ output: output ?? null }),
        (error) => ({ error: String(error) }),
      );
    const headers = { authorization, "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify(result) };
    // A service that restarts gets the result later, as from the SDK.
    const post = () => fetch(address("POST_OUTPUT", job), sent).catch(() => pause(200).then(post));
    await (await post()).arrayBuffer();
  } catch {
    await pause(200);
  }
}
