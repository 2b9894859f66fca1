import { gpuPools } from "serverless-compute-api/catalog";
import { cpuFlavorOf, defaultCpu, networkVolumeFields } from "serverless-compute-api/shapes";
import { unknownText } from "../../engine/engine-properties";
import { isRecord } from "../../engine/values";
import { propertyOf } from "../../framework/properties/schema";
import { parseUrn } from "../../framework/urn";
import { kinds } from "../../resources";
import { compare } from "../pulumi-preview/changes";
import type { Preview, Step } from "../pulumi-preview/preview";
import { kindOf } from "../state";
import type { Prices } from "./prices";

/** Hours of a month: a twelfth of a year. */
export const hoursPerMonth = 730;

/** Cost in US dollars per hour, of `workersMin` workers and of `workersMax`; the same for a volume. */
export interface Cost {
  min: number;
  max: number;
}

/** The reason for an unknown cost. */
export interface UnknownCost {
  unknown: string;
  /** The types without a known price, if that is the reason. */
  unpriced?: readonly string[];
}

/** The cost of one resource before and after the deployment; a side is undefined if the resource is absent there. */
export interface ResourceCost {
  resource: string;
  kind: PricedKind;
  /** Workers or size after the deployment, such as `0 to 3 workers`. */
  quantity: string;
  before: Cost | UnknownCost | undefined;
  after: Cost | UnknownCost | undefined;
}

type Inputs = Readonly<Record<string, unknown>>;

/** Reads an input, or the default of one that the program leaves out. */
type InputReader = (key: string) => unknown;

export const isUnknown = (cost: Cost | UnknownCost | undefined): cost is UnknownCost =>
  cost !== undefined && "unknown" in cost;

const pricedKinds = ["ServerlessEndpoint", "NetworkVolume"] as const;
type PricedKind = (typeof pricedKinds)[number];

/** The kind of a type token, as dynamic resource or of the plugin; undefined if such resources cost nothing or are not ours. */
export const pricedKindOf = (type: string): PricedKind | undefined =>
  pricedKinds.find((candidate) => candidate === kindOf(type));

/** The costs of the endpoints and volumes of a preview, in the order of their names. */
export function costsOf({ steps }: Preview, prices: Prices): ResourceCost[] {
  const sides = new Map<string, { before?: Inputs; after?: Inputs }>();
  // The steps of a replacement have one URN; each has one of the sides, or both.
  for (const { op, urn, oldState, newState } of steps) {
    const before = sides.get(urn)?.before ?? settingsOf(oldState, oldState);
    // A replacement does not get the type of the volume that it replaces.
    const after = settingsOf(newState, /replace/.test(op) ? undefined : oldState) ?? sides.get(urn)?.after;
    sides.set(urn, { ...(before && { before }), ...(after && { after }) });
  }
  return [...sides]
    .flatMap(([urn, { before, after }]): ResourceCost[] => {
      const { name, type } = parseUrn(urn);
      const kind = pricedKindOf(type);
      if (kind === undefined) return [];
      const cost = (inputs: Inputs | undefined) => inputs && hourlyCost(kind, inputs, prices);
      const quantity = quantityOf(kind, inputReader(kind, after ?? before ?? {}));
      return [{ resource: name, kind, quantity, before: cost(before), after: cost(after) }];
    })
    .sort((a, b) => compare(a.resource, b.resource));
}

/** The inputs of a resource, with the volume type that the service has determined for the deployed object. */
function settingsOf(state: Step["newState"], deployed: Step["oldState"]): Inputs | undefined {
  const type = deployed?.outputs?.["type"];
  return state?.inputs ? { ...(typeof type === "string" && { type }), ...state.inputs } : undefined;
}

function inputReader(kind: PricedKind, inputs: Inputs): InputReader {
  const shape: Record<string, Parameters<typeof propertyOf>[0]> = kinds[kind].inputs.shape;
  return (key) => readValue(inputs, key) ?? (shape[key] && propertyOf(shape[key]).defaultValue);
}

/** Reads a value; the resources of a policy pack throw at values that a preview does not know. */
function readValue(inputs: Inputs, key: string): unknown {
  try {
    return inputs[key];
  } catch {
    return unknownText;
  }
}

function quantityOf(kind: PricedKind, readInput: InputReader): string {
  const numberText = (key: string): string => (typeof readInput(key) === "number" ? String(readInput(key)) : "?");
  if (kind === "NetworkVolume") return `${numberText("size")} GB`;
  return `${numberText("workersMin")} to ${numberText("workersMax")} workers`;
}

/** The cost of a resource with these inputs in US dollars per hour, or why it is unknown. */
export function hourlyCost(kind: PricedKind, inputs: Inputs, prices: Prices): Cost | UnknownCost {
  const readInput = inputReader(kind, inputs);
  const cost = kind === "NetworkVolume" ? volumeCost(readInput, prices) : endpointCost(readInput, prices);
  return typeof cost === "string" ? { unknown: cost } : cost;
}

/** A number of the inputs, or the reason why there is none. */
function readNumber(readInput: InputReader, key: string): number | string {
  const value = readInput(key);
  if (typeof value === "number") return value;
  return `${key} ${value === unknownText || isRecord(value) ? "is known after the deployment" : "is not set"}`;
}

/** The texts of a list of the inputs, or the reason why there are none. */
function readTexts(readInput: InputReader, key: string): string[] | string {
  const texts = [readInput(key)].flat().filter((candidate) => typeof candidate === "string");
  if (texts.includes(unknownText)) return `${key} is known after the deployment`;
  return texts.length > 0 ? texts : `${key} is empty, so the service chooses`;
}

/** The volume's cost, or the reason why it is unknown. If the data centre determines the type, the most expensive type counts. */
function volumeCost(readInput: InputReader, prices: Prices): Cost | UnknownCost | string {
  const size = readNumber(readInput, "size");
  if (typeof size === "string") return size;
  const type = readInput("type");
  const types = typeof type === "string" && type !== unknownText ? [type] : networkVolumeFields.type.options;
  const unpriced = types.filter((candidate) => prices.volumes[candidate] === undefined);
  if (unpriced.length > 0) return noKnownPrice("volume type", unpriced);
  const hourly = (size * Math.max(...types.map((candidate) => prices.volumes[candidate] ?? 0))) / hoursPerMonth;
  return { min: hourly, max: hourly };
}

const noKnownPrice = (noun: string, unpriced: readonly string[]): UnknownCost => {
  const quoted = unpriced.map((name) => JSON.stringify(name)).join(", ");
  const subject = unpriced.length === 1 ? `${noun} ${quoted} has` : `${noun}s ${quoted} have`;
  return { unknown: `${subject} no known price`, unpriced };
};

/** The endpoint's cost, or the reason why it is unknown. Of several GPU types or CPU flavours the most expensive counts. */
function endpointCost(readInput: InputReader, prices: Prices): Cost | UnknownCost | string {
  const [min, max] = [readNumber(readInput, "workersMin"), readNumber(readInput, "workersMax")];
  if (typeof min === "string") return min;
  if (typeof max === "string") return max;
  if (max === 0) return { min: 0, max: 0 };
  const workerPrice =
    readInput("computeType") === "CPU" ? cpuWorkerPrice(readInput, prices) : gpuWorkerPrice(readInput, prices);
  return typeof workerPrice === "number" ? { min: min * workerPrice, max: max * workerPrice } : workerPrice;
}

/** The GPU types of the inputs, or the reason why they are unknown. A pool that the bundled catalog lacks counts as a type. */
function gpuTypesOf(readInput: InputReader): string[] | string {
  if ([readInput("gpuPools") ?? []].flat().length === 0) return readTexts(readInput, "gpuTypeIds");
  const pools = readTexts(readInput, "gpuPools");
  if (typeof pools === "string") return pools;
  const excluded = [readInput("excludedGpuTypeIds")].flat();
  return pools.flatMap((pool) => gpuPools[pool] ?? [pool]).filter((type) => !excluded.includes(type));
}

function gpuWorkerPrice(readInput: InputReader, { gpus }: Prices): number | UnknownCost | string {
  const [count, types] = [readNumber(readInput, "gpuCount"), gpuTypesOf(readInput)];
  if (typeof count === "string") return count;
  if (typeof types === "string") return types;
  const unpriced = types.filter((type) => gpus[type] === undefined);
  if (unpriced.length > 0) return noKnownPrice("GPU type", unpriced);
  return count * Math.max(...types.map((type) => gpus[type] ?? 0));
}

function cpuWorkerPrice(readInput: InputReader, { cpus }: Prices): number | UnknownCost | string {
  const isEmpty = [readInput("cpuFlavorIds") ?? []].flat().length === 0;
  const entries = isEmpty ? [defaultCpu.flavorId] : readTexts(readInput, "cpuFlavorIds");
  if (typeof entries === "string") return entries;
  const defaultVcpuCount =
    readInput("vcpuCount") === undefined ? defaultCpu.vcpuCount : readNumber(readInput, "vcpuCount");
  const costs: number[] = [];
  const unpriced: string[] = [];
  for (const entry of entries) {
    const { id, vcpuCount } = cpuFlavorOf(entry, defaultVcpuCount);
    if (typeof vcpuCount === "string") return vcpuCount;
    const price = cpus[id];
    if (price === undefined) unpriced.push(id);
    else costs.push(vcpuCount * price);
  }
  if (unpriced.length > 0) return noKnownPrice("CPU flavour", unpriced);
  return Math.max(...costs);
}
