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

/** Checks the rules of REST v1: a template (interface: Endpoint), whole seconds (description of REST v1: scalerValue), and a single number of virtual CPUs for all flavours. */
function v1Failures(inputs: Properties): Failure[] {
  const { scalerValue, cpuFlavorIds, templateId, computeType } = inputs;
  const entriesWithCount = textsIn(cpuFlavorIds).filter((entry) => entry.includes("-"));
  return [
    ...(templateId === undefined
      ? [
          {
            path: "templateId",
            reason: "is required with REST v1; create a Template with the image, or set the provider's dialect to v2",
          },
        ]
      : []),
    ...(typeof scalerValue === "number" && !Number.isInteger(scalerValue)
      ? [{ path: "scalerValue", shown: `is ${scalerValue}`, reason: "must be a whole number with REST v1" }]
      : []),
    ...["gpuPools", "excludedGpuTypeIds"].flatMap((path) =>
      computeType === "CPU" && isSet(inputs[path]) ? [{ path, reason: "requires computeType GPU" }] : [],
    ),
    ...entriesWithCount.map((entry) => ({
      path: "cpuFlavorIds",
      shown: `contains ${JSON.stringify(entry)}`,
      reason: "REST v1 has a single number of virtual CPUs for all flavours; set vcpuCount",
    })),
  ];
}

/** Checks the input rules of a dialect beyond the types (contract of REST v2: EndpointCreate and its rules). Unknown values pass. */
export function validate(inputs: Properties, dialect: Dialect): Failure[] {
  if (dialect === "v1") return v1Failures(inputs);
  const { vcpuCount, computeType, type = "QUEUE", scalerType, idleTimeout } = inputs;
  const isInputSet = (key: string): boolean => isSet(inputs[key]);
  const failures: Failure[] = [];
  const addFailure = (path: string, reason: string, shown?: string): void =>
    void failures.push({ path, reason, ...(shown !== undefined && { shown }) });

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
    if (duplicate !== undefined) addFailure(path, "remove one of them", `contains ${JSON.stringify(duplicate)} twice`);
  }
  for (const entry of flavors.filter((text) => text.includes("-"))) {
    const { id, vcpuCount: count } = cpuFlavorOf(entry, 0);
    if (id === entry)
      addFailure(
        "cpuFlavorIds",
        'use a flavour and its virtual CPUs, such as "cpu5c-8"',
        `contains ${JSON.stringify(entry)}`,
      );
    else if (!isPowerOfTwo(count))
      addFailure(
        "cpuFlavorIds",
        "its virtual CPUs must be a power of two, 2 or more",
        `contains ${JSON.stringify(entry)}`,
      );
  }
  for (const id of textsIn(inputs["excludedGpuTypeIds"]).filter((text) => !gpuTypePattern.test(text)))
    addFailure("excludedGpuTypeIds", "a GPU type must not be blank or begin with -", `contains ${JSON.stringify(id)}`);
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
