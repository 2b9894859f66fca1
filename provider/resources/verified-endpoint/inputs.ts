import { z } from "zod";
import { serverlessEndpointInputs, serverlessEndpointOutputs } from "../serverless-endpoint/inputs";
import { templateInputs, templateOutputs } from "../template/inputs";

// The component sets these inputs of its resources.
const { replaceOnChange: _replaceOnChange, ...template } = templateInputs.shape;
const { templateId: _templateId, verify, ...endpoint } = serverlessEndpointInputs.shape;
const { url, version } = serverlessEndpointOutputs.shape;

/** Inputs of a VerifiedEndpoint. */
export const verifiedEndpointInputs = z.strictObject({
  template: z.strictObject(template).describe("Configuration of the workers. Each change creates a new template."),
  endpoint: z.strictObject(endpoint).describe("Hardware, number and scaling of workers.").optional(),
  verify: verify.unwrap(),
});

/** Outputs of a VerifiedEndpoint. */
export const verifiedEndpointOutputs = z.object({
  endpointId: z.string().describe("Id of the endpoint."),
  templateId: z.string().describe("Id of the template that the endpoint uses."),
  url,
  version,
  revision: templateOutputs.shape.revision,
});

/** Description of the component in the schema. */
export const verifiedEndpointDescription =
  "An endpoint with a safe rollout: each change of its template creates a new template, and a worker of the new version must " +
  "complete a job as expected. If the job fails, the endpoint is rolled back to the previous template. The component consists of a " +
  "`Template` and a `ServerlessEndpoint`; the option `customTimeouts` applies to both.";
