import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe } from "vitest";
import { lifeIn } from "./support/language-life";
import { findPython } from "./support/python";
import { sdkFor } from "./support/sdk";

const python = await findPython(await sdkFor("python"));

describe.skipIf(python.missing !== undefined)("a program in Python with the generated SDK", () => {
  lifeIn({
    example: "python",
    main: "__main__.py",
    install: (folder) => symlink(python.venv, join(folder, "venv")),
    environment: { PATH: python.path },
    withSharedVolume: (text) =>
      `${text}\nserverless.NetworkVolume("shared", name="shared", size=20, data_center_id="EU-RO-1")\n`,
  });
});
