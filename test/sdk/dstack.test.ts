import { describe, expect, it } from "vitest";
import { findPython } from "./programs";
import { pythonOf, runPython, startRig } from "./rig";
import { versions } from "./versions";

const pythonSearch = await findPython(`dstack==${versions.dstack}`);

describe(`PyPI dstack ${versions.dstack}: client of its runpod backend`, () => {
  it("validate_api_key, create_container_registry_credentials, list_container_registry_credentials, delete_container_registry_credentials, create_network_volume, get_network_volume, delete_network_volume, get_pod, terminate_pod, delete_cluster", async (context) => {
    const python = pythonOf(pythonSearch, context);
    await using rig = await startRig();
    const { apiKey, serverlessUrl } = rig.service;
    const program = { args: [serverlessUrl], apiKey, env: { HOME: "/nowhere" } };
    expect(await runPython(python, "dstack_client.py", program)).toEqual({
      valid: true,
      invalid: false,
      registry: true,
      registries: [],
      volume: { id: expect.any(String), name: "dstack", size: 20, dataCenter: "EU-RO-1", type: "STANDARD" },
      deleted: [true, false],
      gone: null,
      pod: null,
      terminated: [false, false],
    });
  });
});
