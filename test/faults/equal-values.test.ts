import { isDeepStrictEqual } from "node:util";
import type { Dialect } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { deployResource, variantNames } from "./support/engine-state";
import { reportedRows } from "./support/reported-values";

/** Inputs that REST v1 does not return: the state contains pools only if the program selects them. */
const notInV1 = ["gpuPools", "excludedGpuTypeIds"];

describe.each<Dialect>(["v1", "v2"])("with REST %s", (dialect) => {
  const rows = reportedRows(dialect).flatMap((row) => {
    const plain = { ...row, title: `${row.kind}: ${row.property}` };
    if (row.kind !== "Template") return [plain];
    return [
      plain,
      { ...row, title: `${plain.title}, with replaceOnChange`, program: { ...row.program, replaceOnChange: true } },
    ];
  });

  describe.each(variantNames)("a value that is added to the program, in the %s,", (variant) => {
    test.each(rows)("$title is no change if the object has it, else a change", async (row) => {
      const { property, program, values } = row;
      for (const value of values) {
        const resource = await deployResource(variant, dialect, row);
        await resource.refresh(row.fields(value));
        const added = await resource.preview({ ...program, [property]: value });
        if (dialect === "v1" && notInV1.includes(property)) {
          expect(added).toMatchObject({ failures: [], changes: !isDeepStrictEqual(value, []), replaces: [] });
          continue;
        }
        expect(added).toMatchObject({ failures: [], changes: false, replaces: [] });
        const other = values.find((candidate) => candidate !== value);
        expect(await resource.preview({ ...program, [property]: other ?? null })).toMatchObject({ changes: true });
      }
    });
  });
});
