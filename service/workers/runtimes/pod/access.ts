import { z } from "zod";
import { StartError } from "../../../errors";
import { CallError } from "../json-client";
import { type Cluster, lacksQuota, reasonOf } from "./cluster";

/** The rules of a Role that allows all that the runtime does. */
export const roleRules = [
  { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "watch", "patch", "delete"] },
  { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
  { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["create", "patch", "delete"] },
  { apiGroups: [""], resources: ["events"], verbs: ["list"] },
];

const reviewResponse = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });

/** Checks the cluster, the credentials, the role and the namespace; rejects with the first problem. */
export async function checkAccess(cluster: Cluster, storageClass: string | undefined): Promise<void> {
  // One after another, so that the first missing rule is reported.
  for (const rule of roleRules) for (const verb of rule.verbs) await requireVerb(cluster, rule, verb);
  // Creates nothing; a list of a namespace that does not exist would be empty.
  const body = { metadata: { generateName: "serverless-compute-check-" } };
  await cluster.call("POST", cluster.path("secrets"), { query: { dryRun: "All" }, body }).catch((error: unknown) => {
    // The pods of an earlier service may use the whole quota.
    if (!(error instanceof CallError && lacksQuota(error))) throw error;
  });
  if (storageClass === undefined) return;
  await cluster.call("GET", `/apis/storage.k8s.io/v1/storageclasses/${storageClass}`).catch((error: unknown) => {
    // Storage classes belong to no namespace, so the role may not read them; then the first volume reports the class.
    if (error instanceof CallError && error.status === 404)
      throw new StartError(
        `kubernetes.storageClass: "${storageClass}" does not exist in the cluster; create it or specify another one`,
      );
  });
}

/** The StartError for a call that failed at the start; any other error as it is. */
export function toStartError(error: unknown, { displayUrl, namespace, hasCredentials }: Cluster): unknown {
  if (!(error instanceof CallError)) return error;
  if (!hasCredentials && [401, 403].includes(error.status))
    return new StartError(
      `runtime "kubernetes": the kubeconfig has no credentials for ${displayUrl} (${error.message}); add a token, a client certificate or exec to the user of the context; tokenFile is not read`,
    );
  if (error.status === 404)
    return new StartError(`kubernetes.namespace: "${namespace}" does not exist; create it or specify another one`);
  const remedy = error.status === 401 ? "" : "; check the cluster and the context";
  return new StartError(`runtime "kubernetes": ${reasonOf(error, displayUrl)}${remedy}`);
}

/** Rejects with a StartError if the role lacks a verb of the rule. */
async function requireVerb(cluster: Cluster, rule: (typeof roleRules)[number], verb: string): Promise<void> {
  const { namespace } = cluster;
  const [resource, subresource] = (rule.resources[0] ?? "").split("/");
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const body = { spec: { resourceAttributes: { namespace, verb, resource, subresource } } };
  if (reviewResponse.parse(await cluster.call("POST", path, { body })).status.allowed) return;
  throw new StartError(
    `runtime "kubernetes": the credentials do not allow to ${verb} ${rule.resources[0]} in the namespace "${namespace}"; add this rule to their Role: ${JSON.stringify(rule)}`,
  );
}
