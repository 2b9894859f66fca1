import { type Clock, wallClock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { retirableApis } from "./errors";
import { defaultHost } from "./listening";
import { optionTexts } from "./option-texts";
import { stockLevels } from "./resources/stock";
import type { ServiceTimings } from "./timings";
import { runtimeNames } from "./workers/runtimes";
import { kubernetesShape } from "./workers/runtimes/pod/settings";

/** Default port of the service and its clients. */
export const defaultPort = 7337;

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const milliseconds = z.int().min(0).max(limits.number);

/** Options with which the service imitates situations of the hosted service. A seed file contains them as `simulate`. */
export const simulationShape = z.strictObject({
  /**
   * Stock by GPU type or CPU flavour (`ID`), or in one data centre (`ID@DATACENTER`): NONE, LOW, MEDIUM or HIGH. With NONE, no worker
   * starts. Default: HIGH.
   */
  stock: z.record(z.string(), z.enum(stockLevels)).default({}).register(optionTexts, {
    flag: "--stock <id=level>",
    text: "stock of a GPU type or CPU flavour, or of ID@DATACENTER: NONE, LOW, MEDIUM or HIGH; repeatable",
    defaultText: "HIGH",
    details: "[Stock and quota](guides/rehearse-failures.md#stock-and-quota) describes the effect",
    example: "NVIDIA L4@EU-RO-1=NONE",
  }),
  /** Maximum sum of `workersMax` over all endpoints. Default: no limit. */
  workerQuota: z.int().min(0).max(limits.number).optional().register(optionTexts, {
    flag: "--worker-quota <n>",
    text: "largest sum of workersMax over all endpoints",
    defaultText: "no limit",
    details: "[Stock and quota](guides/rehearse-failures.md#stock-and-quota) describes the effect",
  }),
  /** Time that a template stays in use after its last endpoint released it, ms. Default 120000. */
  templateRelease: milliseconds.default(limits.templateRelease).register(optionTexts, {
    flag: "--template-release <seconds>",
    text: "time that a template stays in use after its last endpoint released it",
    details: "0 is for [clients that do not wait](guides/templates-in-use.md#other-clients)",
  }),
  /** Time after its submission for which /status, /stream, /cancel and /retry do not find a job, ms. Default 0. */
  jobVisibilityDelay: milliseconds.default(0).register(optionTexts, {
    flag: "--job-visibility-delay <seconds>",
    text: "time for which /status, /stream, /cancel and /retry do not find a new job",
    details: "They return 404, as those of the hosted service may do for some seconds",
  }),
  /** Shape of /stream responses: the interface's bare array, or the SDKs' envelope. Default `auto`: the envelope for those SDKs only. */
  stream: z.enum(["auto", "array", "envelope"]).default("auto").register(optionTexts, {
    flag: "--stream <auto|array|envelope>",
    text: "shape of /stream responses: the bare array, or the envelope {status, stream}",
    details:
      "`auto` is the array, and the envelope for the public SDKs and MCP server, [recognised by their headers](clients.md)",
  }),
  /** Rate limits of the interface; `off` is for load tests of handlers. Default `on`. */
  rateLimits: z.enum(["on", "off"]).default("on").register(optionTexts, {
    flag: "--rate-limits <on|off>",
    text: "off disables the rate limits, for load tests of your own handlers",
  }),
  /** APIs that respond with 410 to every request, as after their retirement. Default: none. */
  retire: z.array(z.enum(retirableApis)).readonly().default([]).register(optionTexts, {
    flag: "--retire <apis>",
    text: "APIs that return 410, as after their retirement: v1, graphql or v1,graphql",
    details: "The hosted service [retires them](hosted-service.md#addresses-and-key)",
  }),
  /** True if REST v1 and GraphQL reject the delete of an endpoint whose `workersMax` is above 0. Default false. */
  deleteNeedsScaleDown: z.boolean().default(false).register(optionTexts, {
    flag: "--delete-needs-scale-down",
    text: "REST v1 and GraphQL reject the delete of an endpoint whose workersMax is above 0",
  }),
  /** Default page size of REST v2 lists. Default 1000. */
  pageSize: z.int().min(1).max(1000).default(1000).register(optionTexts, {
    flag: "--page-size <n>",
    text: "default number of elements in a page of a REST v2 list",
    details: "`1` tests how a client follows cursors",
  }),
});

/** Options of `createService`; all are optional. */
export const optionsShape = z.strictObject({
  /** Port; 0 selects a free one. Default 7337. */
  port: z.int().min(0).max(65_535).default(defaultPort).register(optionTexts, {
    flag: "--port <n>",
    text: "port; 0 selects a free one",
  }),
  /** Address to listen on. Default 127.0.0.1; any address but loopback requires `allowHosts`. */
  host: z.string().default(defaultHost).register(optionTexts, {
    flag: "--host <address>",
    text: "address to listen on; any address other than loopback requires --allow-host",
  }),
  /** Host names that clients may use, in addition to loopback; other Host headers are rejected with 421. */
  allowHosts: z.array(z.string()).readonly().default([]).register(optionTexts, {
    flag: "--allow-host <host>",
    text: "host name or address that clients may use, in addition to loopback; repeatable",
    details:
      "With it, only these names, loopback and the address of `--host` are accepted as Host headers, and others get 421. Without it, every Host header is accepted",
  }),
  /** The API key. Default: the key in the data folder, which is generated at its first start. */
  apiKey: z.string().optional(),
  /**
   * Path of a seed file (docs/service.md, Seed file): objects that do not exist are created, differences are reported through
   * `onNotice`, and its images are added to `images`.
   */
  seed: z.string().optional().register(optionTexts, {
    flag: "--seed <file>",
    text: "YAML file with objects to create if they do not exist, and with images",
    details: "[Seed file](service.md#seed-file) describes its content",
  }),
  /** Folder of the database, the key file and the logs. Default `.serverless-compute/service`. */
  dataFolder: z.string().min(1).optional(),
  /** True to use a temporary data folder, which is removed when the service stops. Default false. */
  ephemeral: z.boolean().default(false).register(optionTexts, {
    flag: "--ephemeral",
    text: "use a temporary data folder, which is removed at the end",
    details: "It cannot be combined with `--data`",
  }),
  /** Image name → command line, or path of a handler file (.mjs, .js or .ts), that runs the image. */
  images: z
    .record(z.string().regex(/^[^=\s]+$/, "an image name without spaces"), z.string().regex(/\S/, "a command"))
    .default({})
    .register(optionTexts, {
      flag: "--image <name=command>",
      text: "command line or handler file that runs an image; repeatable",
      details: "[Images and handlers](service.md#images-and-handlers) describes both",
      example: 'acme/echo:1=./echo.mjs or acme/chat:1="python3 -u handler.py"',
    }),
  /**
   * Runtime of images without an entry in `images`: a container (`docker`), a container if a Docker Engine is reachable
   * (`auto`), a pod of a Kubernetes cluster (`kubernetes`), or none. Default `auto`.
   */
  runtime: z
    .enum(runtimeNames)
    .default("auto")
    .register(optionTexts, {
      flag: `--runtime <${runtimeNames.join("|")}>`,
      text: "runtime of images without a command; auto uses a Docker Engine if one is reachable",
      details:
        "`auto`: a [container](service.md#containers) if a Docker Engine is available. `docker`: the start fails without an engine. `kubernetes`: a pod of [your cluster](guides/run-on-your-cluster.md). `none`: no containers",
    }),
  /**
   * GPUs for workers of GPU endpoints in containers, `gpuCount` each: if the engine has GPUs (`auto`), always, so that workers
   * fail without GPUs (`all`), or never (`none`). Default `auto`.
   */
  gpus: z.enum(["auto", "all", "none"]).default("auto").register(optionTexts, {
    flag: "--gpus <auto|all|none>",
    text: "GPUs for workers in containers; auto uses them if the Docker Engine has any",
  }),
  /** Options of the runtime `kubernetes`: the cluster, and how pods use it. */
  kubernetes: kubernetesShape.optional(),
  ...simulationShape.shape,
  /** True if the service serves the console. Default true. */
  console: z.boolean().default(true).register(optionTexts, {
    flag: "--no-console",
    text: "do not serve the console at the service's root",
    details: "[Console](console.md) describes it",
  }),
  /** True if workers restart, after their jobs, when a source file in the folder of their handler changes. Default false. */
  watch: z.boolean().default(false).register(optionTexts, {
    flag: "--watch",
    text: "restart workers after their jobs when a source file in the handler's folder changes",
    details:
      "The logs of service and workers name the file. JavaScript, TypeScript and Python files in and below each handler's folder are watched, except `node_modules`, hidden folders and virtual environments. A handler that does not load fails the next jobs",
  }),
  /** Overrides of internal timings, for tests. They may change with every version. */
  timings: z.custom<Partial<ServiceTimings>>(isObject, "must be an object").optional(),
  /** Default: the machine's clock. */
  clock: z.custom<Clock>(isObject, "must be a clock").default(wallClock),
  /** Receives warnings for the user, such as moved files or a full disk. */
  onNotice: z
    .custom<(text: string) => void>((value) => typeof value === "function", "must be a function")
    .default(() => () => undefined),
  /** Default `info` for the command line, `silent` when embedded. */
  logLevel: z.enum(["silent", "error", "warn", "info", "debug"]).default("silent"),
});

/** Options of `createService`; all are optional. Times in milliseconds. */
export interface ServiceOptions extends z.input<typeof optionsShape> {}
