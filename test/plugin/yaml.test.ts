import { describe } from "vitest";
import { lifecycleIn } from "./support/language-life";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();

describe.skipIf(yaml.missing !== undefined)("a program in YAML", () => {
  lifecycleIn({ example: "yaml", environment: { PATH: yaml.path } });
});
