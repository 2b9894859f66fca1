import { runInForeground } from "../child.mjs";
import { root, runScript } from "../entry.mjs";
import { createProgress } from "../progress.mjs";
import { setUp } from "../setup.mjs";
import { callsService, findService } from "./local-service.mjs";
import { createFolders, paths, quickstartEnvironment } from "./paths.mjs";

/** `npm run pulumi -- <args>`: runs the Pulumi CLI with the quickstart's stack and service. */
await runScript(async () => {
  const args = process.argv.slice(2);
  const progress = createProgress();
  const cli = await setUp({ progress });
  await createFolders();
  const service = await findService(paths.address, paths.service);
  if (service === undefined && callsService(args)) {
    progress.print("The local service is not running. Start it with `npm run quickstart`, and repeat this command.");
    return 1;
  }
  return runInForeground(cli.command, args, { cwd: root, env: quickstartEnvironment(cli, service) });
});
