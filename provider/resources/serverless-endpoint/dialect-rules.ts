import type { Dialect } from "serverless-compute-api";
import { cpuFlavorEntry, cpuFlavorOf, defaultCpu, gpuTypePattern } from "serverless-compute-api/shapes";
import { type Properties, textsIn, Unknown, type Value } from "../../engine/values";
import type { Failure } from "../../framework/contract";
import { propertyOf } from "../../framework/properties/schema";
import { cudaVersionFailures } from "../cuda-versions";
import { serverlessEndpointInputs } from "./inputs";

const isPowerOfTwo = (count: number): boolean => count >= 2 && Number.isInteger(Math.log2(count));

/** Returns true if a value is certain to be neither absent nor empty. */
const isSet = (value: Value | undefined): boolean =>
  !(value === undefined || value === "" || value instanceof Unknown || (Array.isArray(value) && value.length === 0));

const idleTimeoutDefault = propertyOf(serverlessEndpointInputs.shape.idleTimeout).defaultValue;

/** Adds a failure. `shown` begins the message with the value. */
type AddFailure = (path: string, reason: string, shown?: string) => void;

const contains = (value: string): string => `contains ${JSON.stringify(value)}`;

/** Checks the rules of REST v1: a template (interface: Endpoint), whole seconds (description of REST v1: scalerValue), and a single number of virtual CPUs for all flavours. */
function checkV1({ scalerValue, templateId, computeType, ...inputs }: Properties, addFailure: AddFailure): void {
  if (templateId === undefined)
    addFailure(
      "templateId",
      "is required with REST v1; create a Template with the image, or set the provider's dialect to v2",
    );
  if (typeof scalerValue === "number" && !Number.isInteger(scalerValue))
    addFailure("scalerValue", "must be a whole number with REST v1", `is ${scalerValue}`);
  for (const path of ["gpuPools", "excludedGpuTypeIds"])
    if (computeType === "CPU" && isSet(inputs[path])) addFailure(path, "requires computeType GPU");
  for (const entry of textsIn(inputs["cpuFlavorIds"]).filter((text) => text.includes("-")))
    addFailure(
      "cpuFlavorIds",
      "REST v1 has a single number of virtual CPUs for all flavours; set vcpuCount",
      contains(entry),
    );
}

/** Checks the input rules of a dialect beyond the types (contract of REST v2: EndpointCreate and its rules). Unknown values pass. */
export function validate(inputs: Properties, dialect: Dialect): Failure[] {
  const { vcpuCount, computeType, type = "QUEUE", scalerType, idleTimeout } = inputs;
  const isInputSet = (key: string): boolean => isSet(inputs[key]);
  const failures: Failure[] = [];
  const addFailure: AddFailure = (path, reason, shown) => void failures.push({ path, reason, shown });
  if (dialect === "v1") {
    checkV1(inputs, addFailure);
    return failures;
  }
  if (isInputSet("allowedCudaVersions") && isInputSet("minCudaVersion"))
    addFailure("minCudaVersion", "cannot be combined with allowedCudaVersions in REST v2");
  for (const path of ["allowedCudaVersions", "minCudaVersion"])
    failures.push(...cudaVersionFailures(path, inputs[path]));
  const flavors = textsIn(inputs["cpuFlavorIds"]);
  const sharedCount = typeof vcpuCount === "number" ? vcpuCount : defaultCpu.vcpuCount;
  const fullFlavors = flavors.map((entry) => cpuFlavorEntry(cpuFlavorOf(entry, sharedCount)));
  for (const [path, ids, comparedIds = ids] of [
    ["cpuFlavorIds", flavors, fullFlavors],
    ["excludedGpuTypeIds", textsIn(inputs["excludedGpuTypeIds"])],
  ] satisfies [path: string, ids: string[], compared?: string[]][]) {
    const duplicate = ids.find((_, index) => comparedIds.indexOf(comparedIds[index] ?? "") !== index);
    if (duplicate !== undefined) addFailure(path, "remove one of them", `${contains(duplicate)} twice`);
  }
  for (const entry of flavors.filter((text) => text.includes("-"))) {
    const { id, vcpuCount: count } = cpuFlavorOf(entry, 0);
    if (id === entry)
      addFailure("cpuFlavorIds", 'use a flavour and its virtual CPUs, such as "cpu5c-8"', contains(entry));
    else if (!isPowerOfTwo(count))
      addFailure("cpuFlavorIds", "its virtual CPUs must be a power of two, 2 or more", contains(entry));
  }
  for (const id of textsIn(inputs["excludedGpuTypeIds"]).filter((text) => !gpuTypePattern.test(text)))
    addFailure("excludedGpuTypeIds", "a GPU type must not be blank or begin with -", contains(id));
  if (typeof vcpuCount === "number" && !isPowerOfTwo(vcpuCount))
    addFailure("vcpuCount", "must be a power of two, 2 or more, with REST v2", `is ${vcpuCount}`);
  if (
    type === "QUEUE" &&
    scalerType === "REQUEST_COUNT" &&
    typeof idleTimeout === "number" &&
    idleTimeout !== idleTimeoutDefault
  )
    addFailure(
      "idleTimeout",
      "does not apply to a queue with scalerType REQUEST_COUNT in REST v2; remove it",
      `is ${idleTimeout}`,
    );
  const [unsupportedPaths, requiredType] =
    computeType === "GPU"
      ? [["cpuFlavorIds", "vcpuCount"], "CPU"]
      : [["gpuTypeIds", "gpuPools", "excludedGpuTypeIds", "allowedCudaVersions", "minCudaVersion"], "GPU"];
  if (computeType === "GPU" || computeType === "CPU")
    for (const path of unsupportedPaths.filter(isInputSet))
      addFailure(path, `requires computeType ${requiredType} with REST v2`);
  return failures;
}
