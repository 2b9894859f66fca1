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

const python2 = await findPython(`runpod==${versions.pythonSdk2}`);

describe(`PyPI runpod ${versions.pythonSdk2}: management, asynchronous, apps and job client`, () => {
  it("get_user, update_user_settings, get_pods, get_gpus, get_gpu, create_template, create_endpoint, get_endpoints, update_endpoint_template, create_container_registry_auth, update_container_registry_auth, delete_container_registry_auth, AsyncioEndpoint.run, AsyncioEndpoint.health, AsyncioJob.status, AsyncioJob.output, AsyncioJob.stream, AsyncioJob.stream with a session of the caller, AsyncioJob.cancel, AppsApiClient.create_network_volume, AppsApiClient.list_network_volumes, AppsApiClient.network_volume_datacenters, AppsApiClient.create_registry_auth, AppsApiClient.list_registry_auths, AppsApiClient.delete_registry_auth, AppsApiClient.create_secret, AppsApiClient.list_secrets, AppsApiClient.delete_secret, AppsApiClient.gpu_stock_status, AppsApiClient.cpu_stock_status, AppsApiClient.save_endpoint, AppsApiClient.list_my_endpoints, AppsApiClient.endpoint_workers, AppsApiClient.delete_endpoint, LiveTarget.invoke, LiveTarget.submit, LiveTarget.wait, LiveTarget.job_status, LiveTarget.cancel_job, LiveTarget.stream_job", async (context) => {
    await using rig = await startRig(python2);
    const args = [await rig.endpoint("plain.py"), "sdk/plain-py:1", await rig.endpoint("generator.py")];
    const { apiKey, serverlessUrl } = rig.service;
    const env = { RUNPOD_ENDPOINT_BASE_URL: `${serverlessUrl}/v2`, RUNPOD_API_BASE_URL: serverlessUrl };
    expect(await runPython(pythonOf(python2, context), "management_v2.py", { args, apiKey, env })).toEqual({
      management: {
        get_user: "ssh-ed25519 AAAA",
        update_user_settings: "ssh-ed25519 AAAA",
        get_pods: [],
        get_gpus: true,
        get_gpu: 48,
        create_container_registry_auth: "sdk-registry",
        update_container_registry_auth: true,
        delete_container_registry_auth: true,
        create_template: ["sdk-first", "sdk-second"],
        create_endpoint: "sdk/plain-py:1",
        get_endpoints: true,
        update_endpoint_template: "sdk/plain-py:1-second",
      },
      asynchronous: {
        output: { echo: { text: "hello" }, id: expect.any(String) },
        status: "COMPLETED",
        cancel: "CANCELLED",
        health: true,
        stream: [{ index: 0 }, { index: 1 }, { index: 2 }],
        plain_session: [{ index: 0 }, { index: 1 }],
      },
      apps: {
        list_network_volumes: true,
        network_volume_datacenters: true,
        list_registry_auths: true,
        delete_registry_auth: true,
        list_secrets: true,
        delete_secret: [],
        gpu_stock_status: "HIGH",
        cpu_stock_status: "HIGH",
        "cpu_stock_status of one vCPU": "High",
        save_endpoint: true,
        list_my_endpoints: true,
        endpoint_workers: [],
        "save_endpoint of an existing endpoint": 2,
        "save_endpoint with one vCPU": ["cpu3c-1-2"],
        delete_endpoint: [true, true],
      },
      jobs: {
        invoke: { text: "now" },
        wait: { text: "later" },
        job_status: "COMPLETED",
        cancel_job: "CANCELLED",
        stream_job: [{ index: 0 }, { index: 1 }, { index: 2 }],
      },
    });
  });
});
