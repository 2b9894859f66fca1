import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { at } from "../support/raw-http";
import { describeFaults } from "./fault-suite";
import { findPythonSdks } from "./programs";
import { pythonOf } from "./rig";

const program = fileURLToPath(new URL("faults.py", import.meta.url));

let end = (): void => {};
afterAll(() => end());

for (const { version, python } of await findPythonSdks())
  describeFaults(
    `PyPI runpod ${version}: synchronous client under injected faults`,
    "PyPI `runpod`",
    {
      succeeds: { text: /^(COMPLETED )?\{'echo'/, job: "completed" },
      "sends the request again, succeeds": { text: /^COMPLETED \{'echo'/, job: "completed" },
      "raises 429, no job": { text: /^HTTPError: 429 /, job: undefined },
      "raises 500, no job": { text: /^HTTPError: 500 /, job: undefined },
      "raises 500": { text: /^HTTPError: 500 /, job: "completed" },
      "raises `ConnectionError`; the job runs": { text: /^ConnectionError: /, job: "completed" },
      "returns `None`, status `FAILED`": { text: /^(FAILED )?None$/, job: "failed" },
      "raises `TimeoutError` (`run_sync`: `ReadTimeout`); the job stays queued": {
        text: /^(TimeoutError|ReadTimeout): /,
        job: "inQueue",
      },
    },
    ({ service }, context) => {
      const client = spawn(pythonOf(python, context), [program], {
        env: { PATH: process.env["PATH"], RUNPOD_ENDPOINT_BASE_URL: `${service.serverlessUrl}/v2` },
        stdio: ["pipe", "pipe", "ignore"],
      });
      end = () => client.stdin.end();
      // The key is passed by standard input, because arguments are visible in the list of processes.
      client.stdin.write(`${service.apiKey}\n`);
      const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
      const call = async (...words: [name: string, endpointId: string, timeout: number]): Promise<string> => {
        client.stdin.write(`${JSON.stringify(words)}\n`);
        const message: unknown = JSON.parse((await lines.next()).value);
        const exception = at(message, "raised");
        if (exception !== undefined) throw exception;
        return String(at(message, "returned"));
      };
      return {
        submit: (endpointId) => call("submit", endpointId, 0),
        follow: (endpointId, timeout) => call("follow", endpointId, timeout),
        sync: (endpointId, timeout) => call("sync", endpointId, timeout),
      };
    },
  );
