import { endpointFields, namesInV2, networkVolumeFields, templateFields } from "serverless-compute-api/shapes";
import type { NameOf, ObjectKind } from "../errors";

/**
 * Names of the properties that an API names differently from the resources, whose names are those of REST v1, by kind of object; a dot
 * separates nested properties. An API reports what its own shapes check, such as the GPU pools of REST v2, without these tables.
 */
type NameTable = Partial<Record<ObjectKind, Record<string, string>>>;

const inRestV2: NameTable = {
  template: Object.fromEntries(namesInV2(templateFields)),
  endpoint: Object.fromEntries(namesInV2(endpointFields)),
  volume: Object.fromEntries(namesInV2(networkVolumeFields)),
};

const inGraphql: NameTable = {
  endpoint: {
    gpuTypeIds: "gpuIds",
    cpuFlavorIds: "instanceIds",
    dataCenterIds: "locations",
  },
};

const nameIn =
  (table: NameTable): NameOf =>
  ([property = "", ...rest], of) => {
    const names = of && table[of];
    return [names?.[String(property)] ?? property, ...rest].map(String).join(".");
  };

/** The name of a property in REST v2. */
export const nameInRestV2 = nameIn(inRestV2);

/** The name of a property in GraphQL. */
export const nameInGraphql = nameIn(inGraphql);
