import { z } from "zod";
import { invalidProperty } from "../errors";
import type { SystemClock } from "../steady-clock";
import type { Database } from "../store/database";
import { openTable } from "./table";

const row = z.object({
  id: z.string(),
  name: z.string().nullable(),
  awsUser: z.string(),
  repository: z.string(),
  tag: z.string(),
  awsRegion: z.string(),
  createdAt: z.number(),
});

/** Access of the account to an Amazon ECR repository; time in ms since the epoch. */
export type DelegationRow = z.output<typeof row>;

const repositoryArn = /^arn:aws[\w-]*:ecr:([a-z0-9-]+):(\d{12}):repository\/([a-z0-9][\w./-]*?)(?::([\w.-]+))?$/;

/** Default tag of a resource, as in image names. */
const defaultTag = "latest";

/** Registry delegations, which are stored and returned but not used to pull images. */
export type Delegations = ReturnType<typeof createDelegations>;

export function createDelegations({ database, clock }: { database: Database; clock: SystemClock }) {
  const columns = "id, name, aws_user AS awsUser, repository, tag, aws_region AS awsRegion, created_at AS createdAt";
  const table = openTable(database, { name: "delegations", noun: "delegation", columns, row });
  const insert = database.prepare(
    "INSERT INTO delegations (id, name, aws_user, repository, tag, aws_region, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  return {
    list: table.list,
    /** `resource` is the ARN of a repository, with or without a tag. */
    create: ({ resource, name = null }: { resource: string; name?: string | null | undefined }): DelegationRow => {
      const [, awsRegion, awsUser, repository, tag = defaultTag] = repositoryArn.exec(resource) ?? [];
      if (awsRegion === undefined || awsUser === undefined || repository === undefined) {
        const form = "arn:aws:ecr:<region>:<12-digit account>:repository/<name>";
        throw invalidProperty("resource", `${JSON.stringify(resource)} is not allowed; must be ${form}`);
      }
      const id = table.newId();
      const createdAt = clock.now();
      insert.run(id, name, awsUser, repository, tag, awsRegion, createdAt);
      return { id, name, awsUser, repository, tag, awsRegion, createdAt };
    },
    /** Throws a ServiceError `missing` if there is no such delegation. */
    remove: (id: string): void => table.remove(table.get(id).id),
  };
}
