import { rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { root, runScript } from "../entry.mjs";
import { LockTimeout, withLock } from "../lock.mjs";
import { createProgress } from "../progress.mjs";
import { startSetUp } from "../setup.mjs";
import { remainingObjects, startService } from "./local-service.mjs";
import { createFolders, paths, quickstartEnvironment } from "./paths.mjs";
import { inspectMachine, planLines } from "./plan.mjs";
import { createStack } from "./stack.mjs";
import { showNext, showOutput, showOutputs } from "./text.mjs";

/** @typedef {ReturnType<typeof createStack>} Stack */

/**
 * Time until the service releases a template, ms. The hosted service takes up to two minutes, too long for a quickstart.
 */
const templateRelease = 5000;

const print = createProgress(process.stdout).print;

const usage = `Usage: npm run quickstart [-- <option>]
  --once    destroys the stack at the end
  --clean   removes the stack and the service's data`;

/** `npm run quickstart [-- --once | --clean]`: deploys examples/quickstart to a local service. */
await runScript(async () => {
  const options = /** @type {const} */ ({ once: { type: "boolean" }, clean: { type: "boolean" } });
  const { values } = parseArgs({ options });
  try {
    return await withLock(paths.lock, values.clean ? clean : () => open(values.once === true), {
      // A process that was just killed may take a moment to end.
      timeout: 1_000,
    });
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error;
    throw new Error(`A quickstart is already running here (process ${error.pid}). Stop it with Ctrl-C first.`);
  }
}, usage);

/** @param {boolean} once Destroys the stack at the end instead of staying open. */
async function open(once) {
  const staysRunning = !once && process.stdin.isTTY && process.stdout.isTTY;
  for (const line of planLines(await inspectMachine(), staysRunning)) print(line);
  const { workspace, cli: pendingCli } = startSetUp({ progress: createProgress(process.stdout) });
  await workspace;
  await createFolders();
  // The service starts beside the download or build of the CLI.
  const images = { "acme/greeter:1": join(root, "examples/quickstart/handler.mjs") };
  const service = await startService(
    { dataFolder: paths.service, images, templateRelease, logLevel: "info", onNotice: print },
    paths.address,
  );
  /** @type {AbortSignal | undefined} Undefined until the CLI is ready: Ctrl-C then ends this process. */
  let interrupt;
  try {
    print(`Local service: ${service.serverlessUrl}`);
    // With --once, no user reads the link, and the output may be stored in logs.
    if (staysRunning) print(`Console: open ${service.consoleUrl} (the link works once)`);
    const cli = await pendingCli;
    interrupt = interruption();
    const stack = createStack(cli.command, quickstartEnvironment(cli, service), interrupt, print);
    await stack.open();
    print(`Deploying examples/quickstart with Pulumi ${cli.version}:\n`);
    return await (staysRunning
      ? deployAndStay(stack, service, interrupt)
      : deployAndDestroy(stack, service, interrupt));
  } catch (error) {
    if (!interrupt?.aborted) throw error;
    return 130;
  } finally {
    await service.stop();
    if (interrupt && (staysRunning || interrupt.aborted)) showNextSteps();
  }
}

/**
 * @param {Stack} stack
 * @param {import("./local-service.mjs").RunningService} service
 * @param {AbortSignal} interrupt
 */
async function deployAndStay(stack, service, interrupt) {
  if (!(await stack.up({ refresh: service.hasMoved }))) {
    print("\nThe deployment failed; its objects are kept, and the next run continues from there.");
    return interrupt.aborted ? 130 : 1;
  }
  const outputs = await stack.outputs();
  const isValid = await check(stack, outputs);
  showNext(service.serverlessUrl, outputs);
  await whenAborted(interrupt);
  return isValid ? 0 : 1;
}

/**
 * @param {Stack} stack
 * @param {import("./local-service.mjs").RunningService} service
 * @param {AbortSignal} interrupt
 */
async function deployAndDestroy(stack, service, interrupt) {
  const deployed = (await stack.up({ refresh: service.hasMoved })) && (await check(stack, await stack.outputs()));
  interrupt.throwIfAborted();
  print("\nDestroying the stack:\n");
  const destroyed = await stack.destroy();
  interrupt.throwIfAborted();
  const remaining = await remainingObjects(service);
  if (remaining.length > 0) print(`The service still contains: ${remaining.join(", ")}`);
  const isSuccessful = deployed && destroyed && remaining.length === 0;
  if (isSuccessful) print("\nDone: deployed, job completed, destroyed; the service is empty.");
  else print(`\nFailed: ${deployed ? "some objects could not be destroyed" : "the deployment did not succeed"}.`);
  return isSuccessful ? 0 : 1;
}

/**
 * Prints the deployment and whether the output came from a worker that received the secret.
 * @param {Stack} stack
 * @param {Record<string, unknown>} outputs
 */
async function check(stack, outputs) {
  showOutputs(outputs);
  return showOutput(outputs["answer"], await stack.fingerprint());
}

function showNextSteps() {
  print(`\nThe service is stopped. The stack and its data are kept in ${relative(root, paths.folder)}.`);
  print("  npm run quickstart              continues with this stack");
  print("  npm run quickstart -- --clean   removes everything");
}

async function clean() {
  await rm(paths.folder, { recursive: true, force: true });
  print(`Removed ${relative(root, paths.folder)}.`);
  return 0;
}

/**
 * Aborts at the first Ctrl-C (or SIGTERM), so that running work ends gracefully; the second one ends it immediately.
 */
function interruption() {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(130);
      controller.abort();
    });
  }
  return controller.signal;
}

/** @param {AbortSignal} signal */
function whenAborted(signal) {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
