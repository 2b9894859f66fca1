import type { Dialect } from "serverless-compute-api";
import { cpuFlavorEntry, cpuFlavorOf, defaultCpu } from "serverless-compute-api/shapes";
import type { Failure, Properties, Value } from "../../lifecycle/contract";
import { propertyOf } from "../../lifecycle/properties/schema";
import { textsIn } from "../../lifecycle/properties/values";
import { malformedCudaVersions } from "../cuda-versions";
import { serverlessEndpointInputs } from "./inputs";

const isPowerOfTwo = (count: number): boolean => count >= 2 && Number.isInteger(Math.log2(count));

const isGiven = (value: Value | undefined): boolean =>
  !(value === undefined || value === "" || (Array.isArray(value) && value.length === 0));

const idleTimeoutDefault = propertyOf(serverlessEndpointInputs.shape.idleTimeout).defaultValue;

/** Checks the rules of REST v1: whole seconds (description of REST v1: scalerValue), and a single number of virtual CPUs for all flavours. */
function rulesOfV1({ scalerValue, cpuFlavorIds }: Properties): Failure[] {
  const counted = textsIn(cpuFlavorIds).filter((entry) => entry.includes("-"));
  return [
    ...(typeof scalerValue === "number" && !Number.isInteger(scalerValue)
      ? [{ path: "scalerValue", reason: `is ${scalerValue}; must be a whole number in REST v1` }]
      : []),
    ...counted.map((entry) => ({
      path: "cpuFlavorIds",
      reason: `contains ${JSON.stringify(entry)}; REST v1 has a single number of virtual CPUs for all flavours; set vcpuCount`,
    })),
  ];
}

/** Checks the input rules of a dialect beyond the types (contract of REST v2: EndpointCreate and its rules). Unknown values pass. */
export function dialectRules(inputs: Properties, dialect: Dialect): Failure[] {
  if (dialect === "v1") return rulesOfV1(inputs);
  const { vcpuCount, computeType, type = "QUEUE", scalerType, idleTimeout } = inputs;
  const given = (key: string): boolean => isGiven(inputs[key]);
  const failures: Failure[] = [];
  const fail = (path: string, reason: string): void => void failures.push({ path, reason });

  if (given("allowedCudaVersions") && given("minCudaVersion"))
    fail("minCudaVersion", "cannot be combined with allowedCudaVersions in REST v2");
  for (const path of ["allowedCudaVersions", "minCudaVersion"])
    failures.push(...malformedCudaVersions(path, inputs[path]));
  const flavors = textsIn(inputs["cpuFlavorIds"]);
  const shared = typeof vcpuCount === "number" ? vcpuCount : defaultCpu.vcpuCount;
  const fullFlavors = flavors.map((entry) => cpuFlavorEntry(cpuFlavorOf(entry, shared)));
  for (const [path, ids, compared = ids] of [
    ["cpuFlavorIds", flavors, fullFlavors],
    ["excludedGpuTypeIds", textsIn(inputs["excludedGpuTypeIds"])],
  ] satisfies [path: string, ids: string[], compared?: string[]][]) {
    const repeated = ids.find((_, index) => compared.indexOf(compared[index] ?? "") !== index);
    if (repeated !== undefined) fail(path, `contains ${JSON.stringify(repeated)} twice; remove one of them`);
  }
  for (const entry of flavors.filter((text) => text.includes("-"))) {
    const { id, vcpuCount: count } = cpuFlavorOf(entry, 0);
    if (id === entry)
      fail("cpuFlavorIds", `contains ${JSON.stringify(entry)}; use a flavour and its virtual CPUs, such as "cpu5c-8"`);
    else if (!isPowerOfTwo(count))
      fail("cpuFlavorIds", `contains ${JSON.stringify(entry)}; its virtual CPUs must be a power of two, 2 or more`);
  }
  for (const id of textsIn(inputs["excludedGpuTypeIds"]).filter((text) => !/^\s*[^-\s]/.test(text)))
    fail("excludedGpuTypeIds", `contains ${JSON.stringify(id)}; a GPU type must not be blank or begin with -`);
  if (typeof vcpuCount === "number" && !isPowerOfTwo(vcpuCount))
    fail("vcpuCount", `is ${vcpuCount}; must be a power of two, 2 or more, in REST v2`);
  if (
    type === "QUEUE" &&
    scalerType === "REQUEST_COUNT" &&
    typeof idleTimeout === "number" &&
    idleTimeout !== idleTimeoutDefault
  )
    fail(
      "idleTimeout",
      `is ${idleTimeout}; does not apply to a queue with scalerType REQUEST_COUNT in REST v2; remove it`,
    );
  const [misplaced, other] =
    computeType === "GPU"
      ? [["cpuFlavorIds", "vcpuCount"], "CPU"]
      : [["gpuTypeIds", "excludedGpuTypeIds", "allowedCudaVersions", "minCudaVersion"], "GPU"];
  if (computeType === "GPU" || computeType === "CPU")
    for (const path of misplaced.filter(given)) fail(path, `requires computeType ${other} in REST v2`);
  return failures;
}
