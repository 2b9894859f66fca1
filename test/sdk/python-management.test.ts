import { describe, expect, it } from "vitest";
import { findPython } from "./programs";
import { pythonOf, runPython, startRig } from "./rig";
import { versions } from "./versions";

const python = await findPython();

describe(`PyPI runpod ${versions.pythonSdk}: management and asynchronous client`, () => {
  it("get_user, update_user_settings, get_pods, get_gpus, get_gpu, create_template, create_endpoint, get_endpoints, update_endpoint_template, create_container_registry_auth, update_container_registry_auth, delete_container_registry_auth, AsyncioEndpoint.run, AsyncioEndpoint.health, AsyncioJob.status, AsyncioJob.output, AsyncioJob.stream, AsyncioJob.stream with a session of the caller, AsyncioJob.cancel", async (context) => {
    await using rig = await startRig(python);
    const args = [await rig.endpoint("plain.py"), "sdk/plain-py:1", await rig.endpoint("generator.py")];
    const { apiKey, serverlessUrl } = rig.service;
    const env = { RUNPOD_ENDPOINT_BASE_URL: `${serverlessUrl}/v2`, RUNPOD_API_BASE_URL: serverlessUrl };
    expect(await runPython(pythonOf(python, context), "management.py", { args, apiKey, env })).toEqual({
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
