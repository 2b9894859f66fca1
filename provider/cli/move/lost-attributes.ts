import { optionsOf } from "serverless-compute-api/shapes";
import type { z } from "zod";
import type { Properties } from "../../engine/values";
import { type ObjectKind, objectKinds } from "../../resources";

/** Attributes whose values are in a program under another name, or in the template of an endpoint; in camel case. */
const otherNames: Partial<Record<ObjectKind, readonly string[]>> = {
  NetworkVolume: ["dataCenter", "storageTier"],
  Template: ["image", "disk", "args", "registry", "serverless", "public", "persistentVolume"],
  ServerlessEndpoint: [
    "gpuTypeId",
    "gpuIds",
    "gpuPools",
    "excludedTypes",
    "cpu",
    "locations",
    "networkVolumes",
    "endpointType",
    "scalingType",
    "scalingValue",
    "timeout",
    "imageName",
    "image",
    "containerDiskInGb",
    "disk",
    "env",
    "ports",
    "args",
    "registry",
  ],
};

/** Attributes that only the service sets. */
const readOnly: Partial<Record<ObjectKind, readonly string[]>> = {
  Template: ["earned", "isRunpod", "runtimeInMin"],
  ServerlessEndpoint: ["createdAt", "userId", "users", "version", "templateVersion", "workers"],
};

/** Properties that a program omits if they have the service's default. */
const impliedProperties = ["executionTimeoutMs", "vcpuCount", "type"];

/** Properties of which a program has one. */
const alternatives = [
  ["templateId", "imageName"],
  ["networkVolumeId", "networkVolumeIds"],
  ["flashboot", "flashbootType"],
  ["gpuTypeIds", "gpuPools", "excludedGpuTypeIds"],
  ["dockerArgs", "dockerEntrypoint", "dockerStartCmd"],
];

/**
 * The attributes of a recorded resource that its program lacks: attributes without a property, and attributes whose property
 * the service does not return. `inputs` are the inputs of its object; undefined if no program has it.
 */
export function lostAttributes(
  kind: ObjectKind,
  attributes: readonly string[],
  inputs: Properties | undefined,
): { unsupported: string[]; unreturned: string[] } {
  const shape = new Map<string, z.core.$ZodType>(Object.entries(objectKinds[kind].inputs.shape));
  const covered = [...(otherNames[kind] ?? []), ...(readOnly[kind] ?? [])];
  const isUnreturned = (name: string): boolean => {
    const schema = shape.get(name);
    if (!inputs || !schema || optionsOf(schema).writeOnly || impliedProperties.includes(name)) return false;
    // A mount path without a volume has no effect.
    if (name === "volumeMountPath" && !attributes.includes("volumeInGb")) return false;
    const names = alternatives.find((group) => group.includes(name)) ?? [name];
    return names.every((alternative) => inputs[alternative] === undefined);
  };
  const uncovered = attributes.filter((name) => !covered.includes(name));
  return { unsupported: uncovered.filter((name) => !shape.has(name)), unreturned: uncovered.filter(isUnreturned) };
}
