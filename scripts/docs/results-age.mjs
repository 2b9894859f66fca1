// Fails if docs/performance.md shows deployments that were measured long before the last change of the provider.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../child.mjs";
import { root, runScript } from "../entry.mjs";

/** Maximum time between the measurement and a later change of the provider, days. */
const maxAge = 30;

await runScript(async () => {
  const { date } = JSON.parse(readFileSync(join(root, "bench", "results.json"), "utf8"));
  const log = await run("git", ["log", "-1", "--format=%cs", "--", "provider"], { cwd: root }).catch(() => undefined);
  // Without Git or a repository, as in an unpacked archive, there is no date to compare with.
  const changed = log?.code === 0 ? log.stdout.trim() : date;
  const age = (Date.parse(changed) - Date.parse(date)) / 86_400_000;
  if (age <= maxAge) return 0;
  console.error(
    `bench/results.json is of ${date}, and the provider changed on ${changed}, more than ${maxAge} days later. ` +
      "Run on an idle machine: npm run bench -- deploy --save",
  );
  return 1;
});
