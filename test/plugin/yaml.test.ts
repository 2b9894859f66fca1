import { delimiter } from "node:path";
import { describe, inject } from "vitest";
import { lifeIn } from "./support/language-life";

const host = inject("yamlHost");

/** The program with lines put at the top of its resources. */
const withResource = (program: string, ...lines: string[]): string =>
  program.replace(/^resources:\n/m, ["resources:", ...lines.map((line) => `  ${line}`), ""].join("\n"));

describe.skipIf("reason" in host)("a program in YAML", () => {
  const { PATH = "" } = process.env;
  lifeIn({
    example: "yaml",
    main: "Pulumi.yaml",
    environment: { PATH: "folder" in host ? `${host.folder}${delimiter}${PATH}` : PATH },
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
