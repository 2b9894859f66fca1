import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Way } from "./way";

/** A program whose provider runs on an unsupported version of Node. */
export function describeUnsupportedNode(way: Way): void {
  it("reports an unsupported Node in one sentence, without stack trace, and not as a bug in the provider", async () => {
    const stack = await way.createStack({});
    try {
      const oldNode = join(stack.folder, "old-node.cjs");
      await writeFile(oldNode, 'Object.defineProperty(process.versions, "node", { value: "18.20.4" });');
      await stack.writeProgram(`new (require("${way.module}").Secret)("token", { value: "token-value" });`);
      const preview = await stack.preview({ env: { NODE_OPTIONS: `--require ${oldNode}` }, end: "failure" });
      const output = preview.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
      expect(output.join("\n")).toContain(
        "pulumi-serverless-compute: requires Node 20.19 or later, found 18.20.4; install a newer Node",
      );
      expect(preview.output).not.toMatch(/^\s+at /m);
      expect(preview.output).not.toMatch(/exited prematurely|bug in the provider/);
    } finally {
      await stack.remove();
    }
  });
}
