import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe } from "vitest";
import { lifecycleIn } from "./support/language-life";
import { findPython } from "./support/python";
import { sdkFor } from "./support/sdk";

const python = await findPython(await sdkFor("python"));

describe.skipIf(python.missing !== undefined)("a program in Python with the generated SDK", () => {
  lifecycleIn({
    example: "python",
    install: (folder) => symlink(python.venv, join(folder, "venv")),
    environment: { PATH: python.path },
  });
});
