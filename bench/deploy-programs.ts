import { mkdir, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const root = join(__dirname, "..");
const { version } = require("../provider/package.json");

/** Third-party provider to measure next to ours, against the same service. */
export interface Peer {
  /** Path of the executable, `pulumi-resource-<name>`. */
  path: string;
  /**
   * YAML program. The part before the line `---` appears once (Pulumi.yaml without name, runtime and plugins). The part
   * after it is repeated for every three resources, with `{i}` as their number.
   */
  program: string;
}

/** Provider and the program that measures it. */
export interface Contestant {
  name: string;
  /** Writes the program of `count` resources into its folder. */
  write(folder: string, count: number): Promise<void>;
}

/** Program of volumes, templates and endpoints that use both. */
const threeResources = (i: number): string => `
  volume${i}:
    type: serverless-compute:NetworkVolume
    properties: { name: volume-${i}, size: 10, dataCenterId: EU-RO-1 }
  template${i}:
    type: serverless-compute:Template
    properties: { name: template-${i}, imageName: "acme/echo:1", containerDiskInGb: 5, env: { MODEL: small } }
  endpoint${i}:
    type: serverless-compute:ServerlessEndpoint
    properties: { name: endpoint-${i}, templateId: "\${template${i}.id}", networkVolumeId: "\${volume${i}.id}", workersMax: 0 }
`;

const numbers = (count: number): number[] => Array.from({ length: Math.ceil(count / 3) }, (_, index) => index);

const yaml = (plugin: string, version: string, folder: string, resources: string): string =>
  `name: bench\nruntime: yaml\nplugins:\n  providers:\n    - name: ${plugin}\n      path: ${folder}\n      version: ${version}\n${resources}`;

/** The same resources in JavaScript, through dynamic resources. */
const program = (count: number): string => `
const { NetworkVolume, ServerlessEndpoint, Template } = require("pulumi-serverless-compute");
for (let i = 0; i < ${Math.ceil(count / 3)}; i++) {
  const volume = new NetworkVolume(\`volume\${i}\`, { name: \`volume-\${i}\`, size: 10, dataCenterId: "EU-RO-1" });
  const template = new Template(\`template\${i}\`, { name: \`template-\${i}\`, imageName: "acme/echo:1", containerDiskInGb: 5, env: { MODEL: "small" } });
  new ServerlessEndpoint(\`endpoint\${i}\`, { name: \`endpoint-\${i}\`, templateId: template.id, networkVolumeId: volume.id, workersMax: 0 });
}
`;

/** The plugin whose executable is in a folder, in a YAML program. */
export const viaPlugin = (name: string, folder: string): Contestant => ({
  name,
  write: (target, count) =>
    writeFile(
      join(target, "Pulumi.yaml"),
      yaml("serverless-compute", version, folder, `resources:${numbers(count).map(threeResources).join("")}`),
    ),
});

/** Dynamic resources of a package in a folder, in a JavaScript program. */
export const viaDynamic = (name: string, folder: string): Contestant => ({
  name,
  write: async (target, count) => {
    await writeFile(join(target, "Pulumi.yaml"), "name: bench\nruntime: nodejs\n");
    await writeFile(join(target, "package.json"), "{}");
    await writeFile(join(target, "index.js"), program(count));
    await mkdir(join(target, "node_modules"), { recursive: true });
    await symlink(folder, join(target, "node_modules", "pulumi-serverless-compute"));
    await symlink(join(root, "node_modules", "@pulumi"), join(target, "node_modules", "@pulumi"));
  },
});

/** Third-party provider. */
export function viaPeer({ path, program }: Peer): Contestant {
  const [head = "", each = ""] = program.split(/^---\n/m);
  const plugin = basename(path).replace(/^pulumi-resource-/, "");
  return {
    name: "peer",
    write: (target, count) => {
      const groups = numbers(count).map((i) => each.replaceAll("{i}", String(i)));
      const resources = `${head}resources:\n${groups.join("")}`;
      return writeFile(join(target, "Pulumi.yaml"), yaml(plugin, "0.0.1", dirname(path), resources));
    },
  };
}
