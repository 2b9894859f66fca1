import { dataCenterIds, gpuTypeIds } from "serverless-compute-api/catalog";
import { z } from "zod";
import { optionTexts } from "../../../option-texts";

/** Labels that select nodes, and tolerations of their taints, as in a pod's specification. */
const gpuNodes = z.strictObject({
  nodeSelector: z.record(z.string(), z.string()).optional(),
  tolerations: z
    .array(
      z.strictObject({
        key: z.string().optional(),
        operator: z.enum(["Exists", "Equal"]).optional(),
        value: z.string().optional(),
        effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional(),
        tolerationSeconds: z.int().optional(),
      }),
    )
    .default([]),
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
  namespace: z.string().min(1).optional().register(optionTexts, {
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
  gpuResource: z.string().min(1).default("nvidia.com/gpu"),
  /** Nodes by GPU type. Default of NVIDIA's types: the label `nvidia.com/gpu.product` of its GPU feature discovery. */
  gpuNodes: byId(gpuTypeIds, gpuNodes).default({}),
  /** Zone (`topology.kubernetes.io/zone`) by data centre. A data centre without a zone selects no nodes. */
  zones: byId(dataCenterIds, z.string()).default({}),
  /** Storage class of network volumes. Default: the cluster's. */
  storageClass: z.string().min(1).optional(),
  accessMode: z.enum(["ReadWriteMany", "ReadWriteOnce"]).default("ReadWriteMany"),
  /** Pod Security Standard of workers. `restricted` requires an image that does not run as root, or `runAsUser`. */
  podSecurity: z.enum(["restricted", "baseline"]).default("restricted"),
  /** User id of workers. Default: the image's. */
  runAsUser: z.int().min(1).optional(),
});

export type KubernetesSettings = z.output<typeof kubernetesShape>;
