import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { findPython } from "./programs";
import { pythonOf, startRig } from "./rig";
import { versions } from "./versions";

const pythonSearch = await findPython(`dstack==${versions.dstack}`);
const program = fileURLToPath(new URL("dstack_client.py", import.meta.url));

describe(`PyPI dstack ${versions.dstack}: client of its runpod backend`, () => {
  it("validate_api_key, create_container_registry_credentials, list_container_registry_credentials, delete_container_registry_credentials, create_network_volume, get_network_volume, delete_network_volume, get_pod, terminate_pod, delete_cluster", async (context) => {
    const python = pythonOf(pythonSearch, context);
    await using rig = await startRig();
    // The key is passed by standard input, because arguments are visible in the list of processes.
    const input = `${rig.service.apiKey}\n`;
    const env = { PATH: process.env["PATH"], HOME: "/nowhere" };
    const { stdout, stderr } = await run(python, [program, rig.service.serverlessUrl], { env, input });
    expect(stdout, stderr).not.toBe("");
    expect(JSON.parse(stdout)).toEqual({
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
