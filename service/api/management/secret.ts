import { v2SecretCreate, v2SecretPatch } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { SecretRow, Secrets } from "../../resources/secrets";
import { parseV2 } from "../../validation";
import { isoTime } from "../responses";
import type { Pager, ReadNewest } from "./pages";

/** A secret as returned by REST v2, without its value. */
const v2Secret = ({ id, name, description, createdAt, valueUpdatedAt }: SecretRow) => ({
  id,
  name,
  description: description || null,
  createdAt: isoTime(createdAt),
  valueLastUpdatedAt: isoTime(valueUpdatedAt),
});

const listQuery = z.object({ name: z.string().optional() });

/** Maximum body size, bytes: a value of 16 MB with its JSON escapes. */
const bodyLimit = 40 * 1024 * 1024;

/** A secret as returned by GraphQL, without its value. */
export const graphqlSecret = (secret: SecretRow) => ({
  ...secret,
  createdAt: isoTime(secret.createdAt),
  updatedAt: isoTime(secret.updatedAt),
});

/** The operations on secrets in REST v2, which shares them with GraphQL. */
export const secretController = (secrets: Secrets, pager: Pager) => ({
  bodyLimit,
  list(query: unknown) {
    const name = parseV2(listQuery, query).name?.toLowerCase();
    const named: ReadNewest<SecretRow> = (start) =>
      secrets.newest(start, Number.MAX_SAFE_INTEGER).filter(({ row }) => row.name.toLowerCase() === name);
    const operation = `/account/secrets?name=${name ?? ""}`;
    const { rows, pagination } = pager.page(operation, name === undefined ? secrets.newest : named, query);
    return { secrets: rows.map(v2Secret), pagination };
  },
  get: (id: string) => v2Secret(secrets.get(id)),
  create: (body: unknown) => v2Secret(secrets.create(parseV2(v2SecretCreate, body))),
  update(id: string, body: unknown) {
    const { value, description } = parseV2(v2SecretPatch, body);
    if (value !== undefined) secrets.updateValue({ id, value });
    if (description !== undefined) secrets.updateDescription({ id, description: description || null });
    return v2Secret(secrets.get(id));
  },
  remove: secrets.remove,
});
