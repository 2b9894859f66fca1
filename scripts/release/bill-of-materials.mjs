import { z } from "zod";
import { lastLines, run } from "../child.mjs";
import { root } from "../entry.mjs";

const componentShape = z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() });
const bomShape = z.looseObject({
  metadata: z.looseObject({ component: componentShape }),
  components: z.array(componentShape),
  dependencies: z.array(z.looseObject({ ref: z.string() })),
});

/**
 * Bill of materials (CycloneDX, JSON) of one package: every dependency that an installation includes, by the lockfile.
 * @param {string} folder Folder of the package.
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function billOfMaterials(folder, name) {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only", "--workspace", folder];
  const listed = await run("npm", args, { cwd: root });
  if (listed.code !== 0) throw new Error(`npm cannot list what ${name} is made of: ${lastLines(listed)}`);
  const bom = bomShape.parse(JSON.parse(listed.stdout));
  const [own] = bom.components.filter((one) => one["bom-ref"].startsWith(`${name}@`));
  if (own === undefined) throw new Error(`npm lists no ${name} among what ${name} is made of`);
  // npm describes the repository, whose root package is not published, and names a workspace after its folder.
  const repository = bom.metadata.component["bom-ref"];
  const named = { ...own, name };
  return JSON.stringify({
    ...bom,
    metadata: { ...bom.metadata, component: named },
    components: bom.components.filter((one) => one !== own),
    dependencies: bom.dependencies.filter(({ ref }) => ref !== repository),
  });
}
