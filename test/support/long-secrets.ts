import { createHmac, randomBytes } from "node:crypto";

/** Secrets of realistic, multi-line forms, random in every run. */
interface LongSecrets {
  /** A private key in PEM: many lines. */
  pem: string;
  /** A signed token: three parts in base64url, one line. */
  jwt: string;
  /** 2,000 characters of plain text with blanks and quotes. */
  text: string;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function newToken(): string {
  const signedText = `${base64url({ alg: "HS256", typ: "JWT" })}.${base64url({ sub: randomBytes(300).toString("hex") })}`;
  return `${signedText}.${createHmac("sha256", randomBytes(32)).update(signedText).digest("base64url")}`;
}

/** Creates a secret of each form. */
export function longSecrets(): LongSecrets {
  // An RSA key of 2,048 bits has 1,218 bytes in PKCS #8; generating one takes up to a second.
  const lines =
    randomBytes(1218)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  const words = Array.from(
    { length: 200 },
    (_, index) => `${randomBytes(4).toString("hex")}${index % 9 === 4 ? '"' : " "}`,
  );
  return {
    pem: ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n"),
    jwt: newToken(),
    text: `${words.join("")}${randomBytes(100).toString("hex")}`,
  };
}
