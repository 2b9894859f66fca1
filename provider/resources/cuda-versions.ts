import type { Failure, Value } from "../lifecycle/contract";

/** CUDA versions at `path` that REST v2 rejects (contract: GpuCreate, TemplateCreate): every version is `major.minor`. */
export const malformedCudaVersions = (path: string, value: Value | undefined): Failure[] =>
  [value]
    .flat()
    .filter((one): one is string => typeof one === "string" && one !== "" && !/^\d+\.\d+$/.test(one))
    .map((version) => ({
      path,
      reason: `contains ${JSON.stringify(version)}; CUDA versions have the form major.minor in REST v2, such as "12.4"`,
    }));
