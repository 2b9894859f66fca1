import { cpuFlavorOf, usualCpu } from "serverless-compute-api/shapes";
import { propertyOf } from "../../lifecycle/properties/schema";
import { isRecord } from "../../protocol/values";
import { kinds } from "../../resources";
import { readUrn } from "../../verbs/urn";
import { compare, unknownValue } from "../preview-comment/changes";
import type { Preview, Step } from "../preview-comment/preview";
import { kindOf } from "../resource-types";
import type { Prices } from "./prices";

/** Hours of a month: a twelfth of a year. */
export const hoursPerMonth = 730;

/** Cost in US dollars per hour, of `workersMin` workers and of `workersMax`; the same for a volume. */
export interface Cost {
  min: number;
  max: number;
}

/** Why a cost is unknown. */
export interface UnknownCost {
  unknown: string;
}

/** The cost of one resource before and after the deployment; a side is undefined if the resource is absent there. */
export interface ResourceCost {
  resource: string;
  kind: Priced;
  /** Workers or size after the deployment, such as `0 to 3 workers`. */
  quantity: string;
  before: Cost | UnknownCost | undefined;
  after: Cost | UnknownCost | undefined;
}

type Inputs = Readonly<Record<string, unknown>>;

/** Reads an input, or the default of one that the program leaves out. */
type Read = (key: string) => unknown;

export const isUnknown = (cost: Cost | UnknownCost | undefined): cost is UnknownCost =>
  cost !== undefined && "unknown" in cost;

const priced = ["ServerlessEndpoint", "NetworkVolume"] as const;
type Priced = (typeof priced)[number];

/** The kind of a type token, as dynamic resource or of the plugin; undefined if such resources cost nothing or are not ours. */
export const pricedKindOf = (type: string): Priced | undefined => priced.find((one) => one === kindOf(type));

/** The costs of the endpoints and volumes of a preview, in the order of their names. */
export function costsOf({ steps }: Preview, prices: Prices): ResourceCost[] {
  const sides = new Map<string, { before?: Inputs; after?: Inputs }>();
  // The steps of a replacement have one URN; each has one of the sides, or both.
  for (const { urn, oldState, newState } of steps) {
    const before = sides.get(urn)?.before ?? inputsOf(oldState);
    const after = inputsOf(newState) ?? sides.get(urn)?.after;
    sides.set(urn, { ...(before && { before }), ...(after && { after }) });
  }
  return [...sides]
    .flatMap(([urn, { before, after }]): ResourceCost[] => {
      const { name, type } = readUrn(urn);
      const kind = pricedKindOf(type);
      if (kind === undefined) return [];
      const cost = (inputs: Inputs | undefined) => inputs && hourlyCost(kind, inputs, prices);
      const quantity = quantityOf(kind, reader(kind, after ?? before ?? {}));
      return [{ resource: name, kind, quantity, before: cost(before), after: cost(after) }];
    })
    .sort((a, b) => compare(a.resource, b.resource));
}

const inputsOf = (state: Step["oldState"]): Inputs | undefined => state?.inputs ?? undefined;

function reader(kind: Priced, inputs: Inputs): Read {
  const shape: Record<string, Parameters<typeof propertyOf>[0]> = kinds[kind].inputs.shape;
  return (key) => inputs[key] ?? (shape[key] && propertyOf(shape[key]).fallback);
}

function quantityOf(kind: Priced, read: Read): string {
  const shown = (key: string): string => (typeof read(key) === "number" ? String(read(key)) : "?");
  if (kind === "NetworkVolume") return `${shown("size")} GB`;
  return `${shown("workersMin")} to ${shown("workersMax")} workers`;
}

/** The cost of a resource with these inputs in US dollars per hour, or why it is unknown. */
export function hourlyCost(kind: Priced, inputs: Inputs, prices: Prices): Cost | UnknownCost {
  const read = reader(kind, inputs);
  const computed = kind === "NetworkVolume" ? volumeCost(read, prices) : endpointCost(read, prices);
  return typeof computed === "string" ? { unknown: computed } : computed;
}

/** A number of the inputs, or the reason why there is none. */
function numberIn(read: Read, key: string): number | string {
  const value = read(key);
  if (typeof value === "number") return value;
  return `${key} ${value === unknownValue || isRecord(value) ? "is known after the deployment" : "is not set"}`;
}

/** The texts of a list of the inputs, or the reason why there are none. */
function textsIn(read: Read, key: string): string[] | string {
  const texts = [read(key)].flat().filter((one) => typeof one === "string");
  if (texts.includes(unknownValue)) return `${key} is known after the deployment`;
  return texts.length > 0 ? texts : `${key} is empty, so the service chooses`;
}

/** The volume's cost, or the reason why it is unknown. */
function volumeCost(read: Read, prices: Prices): Cost | string {
  const size = numberIn(read, "size");
  if (typeof size === "string") return size;
  const type = read("type");
  if (typeof type !== "string")
    return 'type is not set, so the data centre decides; set it, for example type: "STANDARD"';
  const price = prices.volumes[type];
  if (price === undefined) return `volume type "${type}" has no known price`;
  const hourly = (size * price) / hoursPerMonth;
  return { min: hourly, max: hourly };
}

/** The endpoint's cost, or the reason why it is unknown. Of several GPU types or CPU flavours the most expensive counts. */
function endpointCost(read: Read, prices: Prices): Cost | string {
  const [min, max] = [numberIn(read, "workersMin"), numberIn(read, "workersMax")];
  if (typeof min === "string") return min;
  if (typeof max === "string") return max;
  if (max === 0) return { min: 0, max: 0 };
  const worker = read("computeType") === "CPU" ? cpuWorkerPrice(read, prices) : gpuWorkerPrice(read, prices);
  return typeof worker === "string" ? worker : { min: min * worker, max: max * worker };
}

function gpuWorkerPrice(read: Read, { gpus }: Prices): number | string {
  const [count, types] = [numberIn(read, "gpuCount"), textsIn(read, "gpuTypeIds")];
  if (typeof count === "string") return count;
  if (typeof types === "string") return types;
  const unknown = types.find((type) => gpus[type] === undefined);
  if (unknown !== undefined) return `GPU type "${unknown}" has no known price`;
  return count * Math.max(...types.map((type) => gpus[type] ?? 0));
}

function cpuWorkerPrice(read: Read, { cpus }: Prices): number | string {
  const isEmpty = [read("cpuFlavorIds") ?? []].flat().length === 0;
  const entries = isEmpty ? [usualCpu.flavorId] : textsIn(read, "cpuFlavorIds");
  if (typeof entries === "string") return entries;
  const shared = read("vcpuCount") === undefined ? usualCpu.vcpuCount : numberIn(read, "vcpuCount");
  const costs: number[] = [];
  for (const entry of entries) {
    const { id, vcpuCount } = cpuFlavorOf(entry, shared);
    if (typeof vcpuCount === "string") return vcpuCount;
    const price = cpus[id];
    if (price === undefined) return `CPU flavour "${id}" has no known price`;
    costs.push(vcpuCount * price);
  }
  return Math.max(...costs);
}
