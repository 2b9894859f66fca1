import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { lastLines, run } from "../child.mjs";
import { root } from "../entry.mjs";

const componentShape = z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() });
const bomShape = z.looseObject({
  metadata: z.looseObject({ component: componentShape }),
  components: z.array(componentShape),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
});

const manifestShape = z.looseObject({ peerDependencies: z.record(z.string(), z.string()).default({}) });

/**
 * Bill of materials (CycloneDX, JSON) of one package: every dependency that its installation adds, by the lockfile. Peers belong to
 * the program that installs it.
 * @param {string} folder Folder of the package.
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function billOfMaterials(folder, name) {
  // Without `--omit dev`, which would also omit dependencies shared by a package and a build tool.
  const args = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--workspace", folder];
  const result = await run("npm", args, { cwd: root });
  if (result.code !== 0) throw new Error(`npm cannot list the dependencies of ${name}: ${lastLines(result)}`);
  const bom = bomShape.parse(JSON.parse(result.stdout));
  const [component] = bom.components.filter((candidate) => candidate["bom-ref"].startsWith(`${name}@`));
  if (component === undefined) throw new Error(`npm's dependency list of ${name} does not contain ${name}`);
  const manifest = manifestShape.parse(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")));
  const peers = Object.keys(manifest.peerDependencies);
  const installed = installedWith(component["bom-ref"], bom.dependencies, peers);
  // npm describes the repository, whose root package is not published, and names a workspace after its folder.
  return JSON.stringify({
    ...bom,
    metadata: { ...bom.metadata, component: { ...component, name } },
    components: bom.components.filter((candidate) => candidate !== component && installed.has(candidate["bom-ref"])),
    dependencies: bom.dependencies.filter(({ ref }) => installed.has(ref)),
  });
}

/**
 * References of a component and all its dependencies, without peers.
 * @param {string} component
 * @param {{ ref: string, dependsOn: string[] }[]} dependencies
 * @param {string[]} peers
 * @returns {Set<string>}
 */
function installedWith(component, dependencies, peers) {
  const reachable = new Set([component]);
  // A set grows while it is iterated.
  for (const reference of reachable)
    for (const dependency of dependencies.find(({ ref }) => ref === reference)?.dependsOn ?? [])
      if (!peers.some((peer) => dependency.startsWith(`${peer}@`))) reachable.add(dependency);
  return reachable;
}
