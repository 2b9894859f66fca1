import { runInForeground } from "../child.mjs";
import { root, runScript } from "../entry.mjs";
import { createProgress } from "../progress.mjs";
import { setUp } from "../setup.mjs";
import { findService } from "./local-service.mjs";
import { createFolders, paths, quickstartEnvironment } from "./paths.mjs";

/** `npm run pulumi -- <args>`: runs the Pulumi CLI with the quickstart's stack and service. */
await runScript(async () => {
  const progress = createProgress();
  const cli = await setUp({ progress });
  await createFolders();
  const service = await findService(paths.addresses);
  if (service === undefined) {
    progress.print("The local service is not running; start it with `npm run quickstart`.");
  }
  return runInForeground(cli.command, process.argv.slice(2), { cwd: root, env: quickstartEnvironment(cli, service) });
});
