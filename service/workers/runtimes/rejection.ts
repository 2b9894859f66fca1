import { z } from "zod";

const rejection = z.looseObject({ message: z.string() });

/** The JSON in the body of a response; undefined if it is none. */
export function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The reason in the body of a response that rejects a call: the message of its JSON, otherwise its text or its status. */
export const rejectionReason = (status: number, body: string): string =>
  rejection.safeParse(parseBody(body)).data?.message ?? (body.trim() || `status ${status}`);
