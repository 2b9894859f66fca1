import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findPython } from "./programs";
import { pythonOf, startRig } from "./rig";
import { versions } from "./versions";

const python = await findPython();
const program = fileURLToPath(new URL("management.py", import.meta.url));

/** Runs the program once; each test checks a part of its output. */
async function runProgram(python: string, rig: Awaited<ReturnType<typeof startRig>>): Promise<unknown> {
  const { service } = rig;
  const endpoints = [await rig.endpoint("plain.py"), "sdk/plain-py:1", await rig.endpoint("generator.py")];
  const root = service.serverlessUrl;
  const client = spawn(python, [program, ...endpoints], {
    env: { PATH: process.env["PATH"], RUNPOD_ENDPOINT_BASE_URL: `${root}/v2`, RUNPOD_API_BASE_URL: root },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // The key is passed by standard input, because arguments are visible in the list of processes.
  client.stdin.end(`${service.apiKey}\n`);
  const [said, complaint] = await Promise.all([text(client.stdout), text(client.stderr)]);
  expect(said, complaint).not.toBe("");
  return JSON.parse(said);
}

describe(`PyPI runpod ${versions.pythonSdk}: management and asynchronous client`, () => {
  it("get_user, update_user_settings, get_pods, get_gpus, get_gpu, create_template, create_endpoint, get_endpoints, update_endpoint_template, create_container_registry_auth, update_container_registry_auth, delete_container_registry_auth, AsyncioEndpoint.run, AsyncioEndpoint.health, AsyncioJob.status, AsyncioJob.output, AsyncioJob.stream, AsyncioJob.stream with a session of the caller, AsyncioJob.cancel", async (context) => {
    await using rig = await startRig(python);
    expect(await runProgram(pythonOf(python, context), rig)).toEqual({
      management: {
        get_user: "ssh-ed25519 AAAA",
        update_user_settings: "ssh-ed25519 AAAA",
        get_pods: [],
        get_gpus: true,
        get_gpu: 48,
        create_container_registry_auth: "sdk-registry",
        update_container_registry_auth: true,
        delete_container_registry_auth: null,
        create_template: ["sdk-first", "sdk-second"],
        create_endpoint: true,
        get_endpoints: true,
        update_endpoint_template: true,
      },
      output: { echo: { text: "hello" }, id: expect.any(String) },
      status: "COMPLETED",
      cancel: "CANCELLED",
      health: true,
      stream: [{ index: 0 }, { index: 1 }, { index: 2 }],
      plain_session: [{ index: 0 }, { index: 1 }],
    });
  });
});
