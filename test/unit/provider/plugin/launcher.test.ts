import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const launcher = fileURLToPath(new URL("../../../../provider/bin/pulumi-resource-serverless-compute", import.meta.url));
const onWindows = process.platform === "win32";

test("the launcher for this system starts the plugin and prints its port", async () => {
  // Windows starts .cmd files only through a shell, as Pulumi does.
  const plugin = onWindows
    ? spawn(`"${launcher}.cmd"`, { shell: true, stdio: ["ignore", "pipe", "inherit"] })
    : spawn(launcher, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(plugin, "exit");
  try {
    const [line] = await once(plugin.stdout.setEncoding("utf8"), "data");
    expect(line).toMatch(/^\d{4,5}\r?\n$/);
    expect(Number(line)).toBeLessThan(65_536);
  } finally {
    if (onWindows && plugin.pid !== undefined) spawn("taskkill", ["/pid", String(plugin.pid), "/t", "/f"]);
    else plugin.kill();
    await ended;
  }
});
