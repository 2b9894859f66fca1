import { dataCenterIds, gpuTypeIds } from "serverless-compute-api/catalog";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { optionTexts } from "../../../option-texts";

const word = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const domain = String.raw`(?=[^/]{1,253}(/|$))${word}(\.${word})*`;
const name = String.raw`[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?`;
const text = (pattern: string, allowed: string) => z.string().regex(new RegExp(`^${pattern}$`), allowed);

/** Name of a namespace, as the API server accepts it. */
export const namespaceName = text(`(?=.{1,63}$)${word}`, 'a name of up to 63 lowercase letters, digits and "-"');
/** Name of a storage class. */
export const className = text(domain, 'a name of up to 253 lowercase letters, digits, "-" and "."');
const labelName = text(`(${domain}/)?${name}`, "a label, such as nvidia.com/gpu.product");
const labelValue = text(`(${name})?`, 'up to 63 letters, digits, "-", "_" and ".", with a letter or digit at each end');

const toleration = z
  .strictObject({
    key: labelName.optional(),
    operator: z.enum(["Exists", "Equal"]).optional(),
    value: labelValue.optional(),
    effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional(),
    tolerationSeconds: z.int().optional(),
  })
  .refine(({ key, operator }) => key !== undefined || operator === "Exists", {
    path: ["operator"],
    error: "must be Exists without a key",
  })
  .refine(({ operator, value }) => operator !== "Exists" || !value, {
    path: ["value"],
    error: "must be empty with the operator Exists",
  })
  .refine(({ effect, tolerationSeconds }) => tolerationSeconds === undefined || effect === "NoExecute", {
    path: ["effect"],
    error: "must be NoExecute with tolerationSeconds",
  });

/** Labels that select nodes, and tolerations of their taints, as in a pod's specification. */
const gpuNodes = z.strictObject({
  nodeSelector: z.record(labelName, labelValue).optional(),
  tolerations: z.array(toleration).default([]),
});

/** An object whose keys are some of the ids. */
const byId = <Value extends z.ZodType>(ids: readonly string[], value: Value) =>
  z.strictObject(Object.fromEntries(ids.map((id) => [id, value.optional()])));

/** Settings of the runtime `kubernetes`. */
export const kubernetesShape = z.strictObject({
  /** Context of the kubeconfig. Default: its current context, or the service account of the service's own pod. */
  context: z.string().min(1).optional().register(optionTexts, {
    flag: "--kube-context <name>",
    text: "context of the kubeconfig, with --runtime kubernetes",
    defaultText: "current context, or the service's own pod",
  }),
  /** Namespace of the workers. Default: the context's, or the namespace of the service's own pod. */
  namespace: namespaceName.optional().register(optionTexts, {
    flag: "--namespace <name>",
    text: "namespace of the workers' pods, with --runtime kubernetes",
    defaultText: "the context's",
  }),
  /** Address at which pods reach this service. Default in a cluster: the Service of `serverless-compute-local manifest`. */
  workerUrl: z
    .url({ protocol: /^https?$/, error: "an address that begins with http:// or https://" })
    .optional()
    .register(optionTexts, {
      flag: "--worker-url <url>",
      text: "address at which pods reach this service, with --runtime kubernetes",
      defaultText: "in a cluster: the Service of manifest",
      details: "It is required outside of a cluster",
    }),
  /** Resource of which a worker gets `gpuCount`. */
  gpuResource: text(`(?=.{1,244}/)${domain}/${name}`, "a resource with its domain, such as nvidia.com/gpu").default(
    "nvidia.com/gpu",
  ),
  /** Nodes by GPU type. Default of NVIDIA's types: the label `nvidia.com/gpu.product` of its GPU feature discovery. */
  gpuNodes: byId(gpuTypeIds, gpuNodes).default({}),
  /** Zone (`topology.kubernetes.io/zone`) by data centre. A data centre without a zone selects no nodes. */
  zones: byId(dataCenterIds, labelValue).default({}),
  /** Storage class of network volumes. Default: the cluster's. */
  storageClass: className.optional(),
  accessMode: z.enum(["ReadWriteMany", "ReadWriteOnce"]).default("ReadWriteMany"),
  /** Pod Security Standard of workers. `restricted` requires an image that does not run as root, or `runAsUser`. */
  podSecurity: z.enum(["restricted", "baseline"]).default("restricted"),
  /** User id of workers. Default: the image's. */
  runAsUser: z.int().min(1).max(limits.number).optional(),
});

export type KubernetesSettings = z.output<typeof kubernetesShape>;
