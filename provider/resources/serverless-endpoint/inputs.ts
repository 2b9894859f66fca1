import { restEndpointCreate } from "serverless-compute-api/shapes";
import { z } from "zod";
import { traits } from "../../lifecycle/properties/traits";
import { adoptExisting } from "../adopt-existing";

const { shape } = restEndpointCreate;
const restartsWorkers = { warns: "active workers may restart" };

/** Inputs of a ServerlessEndpoint resource as people write them: the REST API's own, with its defaults (interface: Endpoint). */
export const serverlessEndpointInputs = restEndpointCreate
  .safeExtend({
    computeType: shape.computeType.register(traits, { replaces: true }),
    gpuTypeIds: shape.gpuTypeIds.register(traits, restartsWorkers),
    gpuCount: shape.gpuCount.register(traits, restartsWorkers),
    dataCenterIds: shape.dataCenterIds.register(traits, { unordered: true }),
    allowedCudaVersions: shape.allowedCudaVersions.register(traits, { unordered: true }),
    networkVolumeIds: shape.networkVolumeIds.register(traits, { unordered: true }),
    workersMin: shape.workersMin.register(traits, restartsWorkers),
    workersMax: shape.workersMax.register(traits, restartsWorkers),
    adoptExisting,
  })
  .strict();

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...serverlessEndpointInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;

/** What a ServerlessEndpoint resource knows only once it exists. */
export const serverlessEndpointOutputs = z.object({
  url: z.string().describe("Root of the endpoint's job API."),
  version: z.int().describe("Counts the changes of its template and environment."),
});
export type Outputs = z.output<typeof serverlessEndpointOutputs>;
