import { z } from "zod";
import { StartError } from "../../../errors";
import { type Cluster, ClusterError } from "./cluster";

/** The rules of a Role that allows all that the runtime does. */
export const roleRules = [
  { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "watch", "patch", "delete"] },
  { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
  { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["create", "delete"] },
  { apiGroups: [""], resources: ["events"], verbs: ["list"] },
];

const reviewResponse = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });

/** Checks the cluster, the credentials, the role and the namespace; rejects with a StartError that names the first problem. */
export async function checkAccess(cluster: Cluster, storageClass: string | undefined): Promise<void> {
  const { namespace } = cluster;
  try {
    // One after another, so that the first missing rule is reported.
    for (const rule of roleRules) await checkRule(cluster, rule);
    const metadata = { name: "serverless-compute-check" };
    // Creates nothing; a list of a namespace that does not exist would be empty.
    await cluster.call("POST", cluster.path("secrets"), { query: { dryRun: "All" }, body: { metadata } });
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    if (error.status === 404)
      throw new StartError(`kubernetes.namespace: "${namespace}" does not exist; create it or specify another one`);
    if (error.status === 401)
      throw new StartError(
        `runtime "kubernetes": ${cluster.displayUrl} rejects the credentials (${error.message}); renew them or select another context`,
      );
    if (error.status !== 409) throw startErrorOf(error);
  }
  if (storageClass === undefined) return;
  await cluster.call("GET", `/apis/storage.k8s.io/v1/storageclasses/${storageClass}`).catch((error: unknown) => {
    // Storage classes belong to no namespace, so the role may not read them; then the first volume reports the class.
    if (error instanceof ClusterError && error.status === 404)
      throw new StartError(
        `kubernetes.storageClass: "${storageClass}" does not exist in the cluster; create it or specify another one`,
      );
  });
}

/** The StartError for a call that failed at the start. */
export const startErrorOf = (error: ClusterError): StartError =>
  new StartError(`runtime "kubernetes": ${error.message}; check the cluster and the context`);

/** Rejects with a StartError if the role lacks one of the rule's verbs. */
async function checkRule(cluster: Cluster, rule: (typeof roleRules)[number]): Promise<void> {
  const { namespace } = cluster;
  const [name = "", subresource] = (rule.resources[0] ?? "").split("/");
  for (const verb of rule.verbs) {
    const resourceAttributes = { namespace, verb, resource: name, ...(subresource ? { subresource } : {}) };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const review = reviewResponse.parse(await cluster.call("POST", path, { body: { spec: { resourceAttributes } } }));
    if (review.status.allowed) continue;
    const ruleText = JSON.stringify(rule);
    throw new StartError(
      `runtime "kubernetes": the credentials do not allow to ${verb} ${rule.resources[0]} in the namespace "${namespace}"; add this rule to their Role: ${ruleText}`,
    );
  }
}
