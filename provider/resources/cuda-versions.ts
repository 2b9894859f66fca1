import { cudaVersionPattern } from "serverless-compute-api/shapes";
import { textsIn, type Value } from "../engine/values";
import type { Failure } from "../framework/contract";

/** Returns a failure for each CUDA version that is not `major.minor`, as REST v2 requires. */
export const cudaVersionFailures = (path: string, value: Value | undefined): Failure[] =>
  textsIn(value)
    .filter((version) => !cudaVersionPattern.test(version))
    .map((version) => ({
      path,
      shown: `contains ${JSON.stringify(version)}`,
      reason: 'CUDA versions have the form major.minor with REST v2, such as "12.4"',
    }));
