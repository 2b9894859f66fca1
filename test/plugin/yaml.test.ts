import { describe } from "vitest";
import { lifeIn } from "./support/language-life";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();

/** The program with lines put at the top of its resources. */
const withResource = (program: string, ...lines: string[]): string =>
  program.replace(/^resources:\n/m, ["resources:", ...lines.map((line) => `  ${line}`), ""].join("\n"));

describe.skipIf(yaml.missing !== undefined)("a program in YAML", () => {
  lifeIn({
    example: "yaml",
    main: "Pulumi.yaml",
    environment: { PATH: yaml.path },
    withSharedVolume: (program) =>
      withResource(
        program,
        "shared:",
        "  type: serverless-compute:NetworkVolume",
        "  properties: { name: shared, size: 20, dataCenterId: EU-RO-1 }",
      ),
    withSecret: (program, value) =>
      withResource(
        program,
        "token:",
        "  type: serverless-compute:Secret",
        `  properties: { value: { "fn::secret": ${value} } }`,
      ),
  });
});
