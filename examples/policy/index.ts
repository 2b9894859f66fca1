import { PolicyPack, type ReportViolation, type ResourceValidationArgs, UnknownValueError } from "@pulumi/policy";
import { hourlyCost, isUnknown, type Prices, pricedKindOf } from "pulumi-serverless-compute/estimate";

/** Runs a check for the resources of one kind, dynamic resources and the plugin's alike. */
const of =
  (kind: string, check: (args: ResourceValidationArgs, report: ReportViolation) => void) =>
  (args: ResourceValidationArgs, report: ReportViolation): void => {
    if (args.type.startsWith("serverless-compute:") || args.type.startsWith("pulumi-nodejs:dynamic/serverless:"))
      if (args.type.endsWith(`:${kind}`)) check(args, report);
  };

/** The stack in `urn:pulumi:<stack>::<project>::…`. */
const stackOf = (urn: string): string => urn.split(":")[2] ?? "";

/** Names of environment variables that usually contain a secret. */
const secretName = /(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS|(API|ACCESS|PRIVATE)_?KEY)(_|$)/i;

/** Returns false for the reference of a Secret, and for one that a preview does not know yet. */
function isPlain(read: () => string): boolean {
  try {
    return !read().startsWith("{{ RUNPOD_SECRET_");
  } catch (error) {
    if (error instanceof UnknownValueError) return false;
    throw error;
  }
}

new PolicyPack("serverless-compute", {
  enforcementLevel: "mandatory",
  policies: [
    {
      name: "hourly-budget",
      description: "The endpoints and volumes of a stack cost at most maxHourly US dollars per hour at workersMax.",
      configSchema: {
        properties: {
          maxHourly: { type: "number", default: 5 },
          gpus: { type: "object", default: {}, description: "US dollars per hour, by GPU type" },
          cpus: { type: "object", default: {}, description: "US dollars per hour and virtual CPU, by CPU flavour" },
          volumes: { type: "object", default: {}, description: "US dollars per month and GB, by volume type" },
        },
      },
      validateStack: ({ resources, getConfig }, report) => {
        const { maxHourly, ...prices } = getConfig<Prices & { maxHourly: number }>();
        let total = 0;
        for (const { type, name, props } of resources) {
          const kind = pricedKindOf(type);
          if (kind === undefined) continue;
          const cost = hourlyCost(kind, props, prices);
          if (isUnknown(cost)) report(`The cost of ${kind} "${name}" is unknown: ${cost.unknown}.`);
          else total += cost.max;
        }
        if (total > maxHourly)
          report(`${total.toFixed(3)} per hour at workersMax is above the budget of ${maxHourly}.`);
      },
    },
    {
      name: "idle-workers",
      description: "Outside production, workersMin is at most `max`: running workers cost money without a job.",
      configSchema: {
        properties: {
          max: { type: "integer", default: 0 },
          production: { type: "array", items: { type: "string" }, default: ["prod"], description: "names of stacks" },
        },
      },
      validateResource: of("ServerlessEndpoint", ({ props, urn, getConfig }, report) => {
        const { max, production } = getConfig<{ max: number; production: string[] }>();
        if (props.workersMin > max && !production.includes(stackOf(urn)))
          report(`workersMin is ${props.workersMin}; outside ${production.join(", ")} it must be at most ${max}.`);
      }),
    },
    {
      name: "pinned-images",
      description: "Images have a digest, or a tag other than `latest`.",
      validateResource: of("Template", ({ props }, report) => {
        const image = String(props.imageName);
        const [, tag] = /:([^:/@]+)$/.exec(image) ?? [];
        if (!image.includes("@sha256:") && (tag === undefined || tag === "latest"))
          report(`imageName "${image}" may change at any time; use a digest or a version.`);
      }),
    },
    {
      name: "no-plain-secrets",
      description: "Environment variables with a secret refer to a Secret, so that the value is not in the template.",
      validateResource: of("Template", ({ props }, report) => {
        const { env = {} } = props;
        for (const name of Object.keys(env).filter((one) => secretName.test(one)))
          if (isPlain(() => env[name])) report(`env.${name} is a plain value; create a Secret and use its reference.`);
      }),
    },
    {
      name: "protected-volumes",
      description: "Volumes are protected, because deleting one deletes its data.",
      validateResource: of("NetworkVolume", ({ opts }, report) => {
        if (!opts.protect) report("Set the resource option `protect: true`.");
      }),
    },
  ],
});
