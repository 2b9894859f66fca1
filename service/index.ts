import { isDeepStrictEqual } from "node:util";
import { createAuth } from "./api/auth";
import { endpointsOverview } from "./api/endpoint-overview";
import { createEndpointRoutes } from "./api/endpoint-routes";
import type { AppliedSeed } from "./api/local";
import { v2Controllers } from "./api/management/controllers";
import { createPager } from "./api/management/pages";
import { roots } from "./api/responses";
import { createServer } from "./api/server";
import { createUserRateLimit } from "./api/user-rate-limit";
import { createConsole } from "./console";
import { createDataPlane } from "./data-plane";
import { ServiceError, StartError } from "./errors";
import { pollFile } from "./file-poll";
import { checkPort, listenError, rootOf } from "./listening";
import { openLog } from "./log";
import type { ServiceOptions } from "./options";
import { createResources } from "./resources";
import type { EndpointRow } from "./resources/endpoint-table";
import type { Seed } from "./seed/seed-file";
import type { Service } from "./service";
import { checkOptions, environmentValue, resolveSettings, type ServiceSettings, withStartError } from "./settings";
import { steadyClock } from "./steady-clock";
import { apiKeyFileOf, ensureApiKey } from "./store/api-key";
import { createTemporaryFolder } from "./store/data-folder";
import { openWatchedDatabase } from "./store/disk-watch";
import { diskFault, unreadable } from "./store/faults";
import { readServiceAddress, removeServiceAddress, writeServiceAddress } from "./store/service-address";
import { commandOf, sourceFileOf } from "./workers/handler-files";
import { workerLogPath } from "./workers/logs";
import { pullerOf } from "./workers/runtimes";
import { commandProblems } from "./workers/runtimes/process/image-command";
import { watchSources } from "./workers/source-watch";

export { StartError } from "./errors";
export type { EndpointFaults } from "./faults/faults";
export type { ServiceOptions } from "./options";
export type { Service } from "./service";
export { resetDataFolder, restoreDataFolder, snapshotDataFolder } from "./snapshots";

/** Interval of the checks whether the seed file has changed, ms. */
const seedPollInterval = 1000;

/** Starts the local service; rejects with a StartError if the port or the data folder is in use. */
export async function createService(options: ServiceOptions = {}): Promise<Service> {
  checkOptions(options);
  // Loaded only if used, because the parser adds as much to a start as the store.
  const seed =
    options.seed === undefined ? undefined : (await import("./seed/seed-file.js")).readSeedFile(options.seed);
  const settings = resolveSettings(options, seed);
  const temporary = options.ephemeral ? createTemporaryFolder(settings.onNotice) : undefined;
  if (temporary) settings.dataFolder = temporary.path;
  try {
    const service = await openService(settings, seed);
    const stop = (deadline?: number): Promise<void> => service.stop(deadline).finally(temporary?.remove);
    return { ...service, stop };
  } catch (error) {
    await temporary?.remove();
    throw error;
  }
}

async function openService(settings: ServiceSettings, seed: Seed | undefined): Promise<Service> {
  // If a service runs on the folder, the lock's error names its process.
  if (readServiceAddress(settings.dataFolder) === undefined) await checkPort(settings.listening.host, settings.port);
  const store = openWatchedDatabase(settings);
  try {
    return await startService(settings, store, seed);
  } catch (error) {
    store.database.close();
    throw unreadable(settings.dataFolder, error);
  }
}

async function startService(
  settings: ServiceSettings,
  { database, useLog, problem }: ReturnType<typeof openWatchedDatabase>,
  seed: Seed | undefined,
): Promise<Service> {
  const { dataFolder, templateRelease, deleteNeedsScaleDown, listening, retire } = settings;
  const clock = steadyClock(settings.clock);
  removeServiceAddress(dataFolder);
  const apiKey = ensureApiKey(dataFolder, settings.apiKey);
  const { log, close: closeLog } = openLog(settings, apiKey);
  useLog(log);
  const auth = createAuth(apiKey);
  let isSeeding = false;
  // The quota does not apply to the objects of a seed file and the twins used for comparison.
  const workerQuota = (): number | undefined => (isSeeding ? undefined : settings.workerQuota);
  function withoutQuota<Result>(work: () => Result): Result {
    isSeeding = true;
    try {
      return work();
    } finally {
      isSeeding = false;
    }
  }
  const resources = createResources({
    database,
    clock: clock.system,
    templateRelease,
    stock: settings.stock,
    workerQuota,
  });
  resources.checkRows();
  let root = "";
  const dataPlane = createDataPlane({
    database,
    clock,
    settings,
    endpoints: resources.lookup,
    events: resources.events,
    log,
    onNotice: settings.onNotice,
    serverlessUrl: () => root,
    listenForWorkers: (address, port) => server.listenForWorkers(address, port),
  });
  const logFile = (endpointId: string): string => workerLogPath(dataFolder, endpointId);
  const { view } = dataPlane;
  const endpointRoutes = createEndpointRoutes({
    auth,
    clock,
    endpoints: resources.lookup,
    events: resources.events,
    ...dataPlane,
    settings,
    log,
  });
  const pager = createPager(settings.pageSize);
  const controllers = v2Controllers({ resources, pager, serverlessUrl: () => root });
  const console = settings.console
    ? createConsole({
        apiKey,
        checkKey: auth.checkRest,
        clock,
        resources,
        logFile,
        jobRoutes: endpointRoutes.consoleJobs,
        view: { ...view, problem },
        faults: dataPlane.faults,
        serverlessUrl: () => root,
      })
    : undefined;
  const server = createServer({
    auth,
    resources,
    rest: { deleteNeedsScaleDown, workers: view.workers },
    restV2: {
      controllers,
      pager,
      clock: clock.system,
      view: { workers: view.workers, logFile },
      rateLimit: settings.rateLimits === "off" ? undefined : createUserRateLimit(clock),
    },
    endpointRoutes,
    problem,
    local: {
      faults: dataPlane.faults,
      applySeedFile: () => applyChangedSeedFile(),
      status: () => ({ endpoints: endpointsOverview(resources, view), problem: problem() }),
    },
    metrics: {
      endpoints: resources.endpoints.list,
      health: view.health,
      counts: dataPlane.queue.counters.read,
      metrics: dataPlane.metrics.find,
    },
    console,
    listening,
    retire,
    log,
    requestLimit: settings.timings.requestLimit,
  });

  const { images } = settings;
  for (const text of commandProblems(images)) settings.onNotice(text);
  const imageOf = ({ templateId }: EndpointRow): string => resources.templates.find(templateId)?.imageName ?? "";
  const applySeedFile = async (input: Seed, updates = false) => {
    const { applySeed } = await import("./seed/seeding.js");
    const onProgress = (text: string): void => settings.onNotice(`${input.file}: ${text}`);
    const seeded = withoutQuota(() => applySeed(input, resources, controllers, environmentValue, onProgress, updates));
    const { created, updated, differences, endpointIds } = seeded;
    log.info({ created, updated: updated.map(({ path }) => path), differences }, "seed file: applied");
    for (const [name, id] of Object.entries(endpointIds)) {
      const { faults: seedFaults } = input.endpoints[name] ?? {};
      if (seedFaults) dataPlane.faults.replace(id, seedFaults);
    }
    return seeded;
  };
  const applyChangedSeedFile = async (): Promise<AppliedSeed> => {
    if (!seed)
      throw new ServiceError(
        "invalid",
        "the service was started without a seed file; start it again with --seed <file>",
      );
    const { readSeedFile } = await import("./seed/seed-file.js");
    try {
      const input = readSeedFile(seed.file);
      const { created, updated, differences, others } = await applySeedFile(input, true);
      const atStart = (["images", "simulate", "runtime", "kubernetes"] as const).filter(
        (section) => !isDeepStrictEqual(input[section], seed[section]),
      );
      return { file: seed.file, created, updated, differences, others, atStart };
    } catch (error) {
      throw error instanceof StartError ? new ServiceError("invalid", error.message) : error;
    }
  };
  const imagesToPull = (): string[] => {
    const isPulled = (image: string): boolean => commandOf(images, image) === undefined;
    return pullerOf(settings.runtime) === undefined ? [] : [...resources.lookup.images()].filter(isPulled);
  };
  const onSave = (changed: string, sources: string[]): void => {
    const reason = `${changed} was saved: its workers restart after their jobs`;
    for (const endpoint of resources.endpoints.list()) {
      const source = sourceFileOf(images, imageOf(endpoint));
      if (source !== undefined && sources.includes(source)) dataPlane.restartWorkers(endpoint.id, reason);
    }
  };
  // The time of the file changes however an editor saves it.
  const seedWatch =
    seed &&
    pollFile(
      seed.file,
      ({ mtimeMs }) => mtimeMs,
      seedPollInterval,
      () =>
        settings.onNotice(
          `${seed.file}: changed; run "serverless-compute-local apply", because a restart only creates missing objects`,
        ),
    );
  const sourceWatch = settings.watch ? watchSources({ images, onSave, onNotice: settings.onNotice }) : undefined;

  const stop = async (deadline: number, { leavesWorkers }: { leavesWorkers: boolean }): Promise<void> => {
    server.rejectUsers();
    // Another service may use a new folder in this place.
    if (readServiceAddress(dataFolder)?.pid === process.pid) removeServiceAddress(dataFolder);
    seedWatch?.close();
    sourceWatch?.close();
    try {
      // Workers return their last results over HTTP, so the server closes after them.
      await dataPlane.stop(deadline, leavesWorkers);
    } catch (error) {
      throw diskFault(error, dataFolder) ?? error;
    } finally {
      await server.close();
      dataPlane.metrics.close();
      database.close();
      log.info("stopped");
      closeLog();
    }
  };

  let endpointIds: Record<string, string> = {};
  let place: Record<string, string> = {};
  try {
    if (seed) {
      const { differences, endpointIds: ids } = await applySeedFile(seed);
      for (const difference of differences)
        settings.onNotice(`${seed.file}: ${difference}; the existing object is not changed`);
      endpointIds = ids;
    }
    await dataPlane.open();
    const port = await server.listen(settings.port);
    root = rootOf(listening.host, port);
    place = await dataPlane.start();
    server.setReady();
    writeServiceAddress(dataFolder, { serverlessUrl: root, pid: process.pid });
    log.info({ host: listening.host, port, pid: process.pid }, "started");
  } catch (error) {
    // The next service adopts the workers of an earlier one.
    await stop(0, { leavesWorkers: true }).catch(() => undefined);
    throw listenError(error, listening.host, settings.port) ?? error;
  }

  let stopped: Promise<void> | undefined;
  return {
    url: root,
    baseUrl: `${root}${roots.rest}`,
    graphqlUrl: `${root}${roots.graphql}`,
    serverlessUrl: root,
    apiKey,
    apiKeyFile: apiKeyFileOf(dataFolder),
    consoleUrl: console?.newLink(),
    images,
    endpointIds,
    runtime: settings.runtime,
    place,
    imagesToPull: imagesToPull(),
    faults: (endpointId, newFaults) =>
      withStartError(() =>
        newFaults === undefined ? dataPlane.faults.read(endpointId) : dataPlane.faults.replace(endpointId, newFaults),
      ),
    stop: (deadline = 5000) => {
      stopped ??= stop(deadline, { leavesWorkers: false });
      return stopped;
    },
  };
}
