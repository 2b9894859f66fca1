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
  const listed = await run("npm", args, { cwd: root });
  if (listed.code !== 0) throw new Error(`npm cannot list the dependencies of ${name}: ${lastLines(listed)}`);
  const bom = bomShape.parse(JSON.parse(listed.stdout));
  const [own] = bom.components.filter((one) => one["bom-ref"].startsWith(`${name}@`));
  if (own === undefined) throw new Error(`npm's dependency list of ${name} does not contain ${name}`);
  const manifest = manifestShape.parse(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")));
  const peers = Object.keys(manifest.peerDependencies);
  const installed = installedWith(own["bom-ref"], bom.dependencies, peers);
  // npm describes the repository, whose root package is not published, and names a workspace after its folder.
  return JSON.stringify({
    ...bom,
    metadata: { ...bom.metadata, component: { ...own, name } },
    components: bom.components.filter((one) => one !== own && installed.has(one["bom-ref"])),
    dependencies: bom.dependencies.filter(({ ref }) => installed.has(ref)),
  });
}

/**
 * References of a component and all its dependencies, without peers.
 * @param {string} own
 * @param {{ ref: string, dependsOn: string[] }[]} dependencies
 * @param {string[]} peers
 * @returns {Set<string>}
 */
function installedWith(own, dependencies, peers) {
  const found = new Set([own]);
  // A set grows while it is iterated.
  for (const reference of found)
    for (const needed of dependencies.find(({ ref }) => ref === reference)?.dependsOn ?? [])
      if (!peers.some((peer) => needed.startsWith(`${peer}@`))) found.add(needed);
  return found;
}
