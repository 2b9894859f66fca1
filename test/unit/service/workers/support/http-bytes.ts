import type { Random } from "../../../../support/random";

/** An action on a connection: bytes to send, a turn of the event loop, the end of sending, or a reset. */
export type Step = Buffer | "turn" | "end" | "reset";

/** Texts of a message; requests use the address and the key of an endpoint. */
export interface Addresses {
  host: string;
  /** Path of a load balancing endpoint. */
  balancer: string;
  /** Id of a queue endpoint, and its worker token. */
  queue: string;
  token: string;
  key: string;
}

const bytes = (random: Random, max: number): string =>
  String.fromCharCode(...Array.from({ length: random.int(0, max) }, () => random.int(0, 255)));

/** Items of a list, each with the same probability. */
const some = <Item>(random: Random, items: readonly Item[], probability: number): Item[] =>
  items.filter(() => random.chance(probability));

const message = (head: string[], body: string): string => `${head.join("\r\n")}\r\n\r\n${body}`;

const chunked = (random: Random, body: string): string => {
  const size = random.chance(0.9) ? body.length.toString(16) : random.pick(["-1", "fffffffffffffffff", "z", ""]);
  return `${size}${random.pick(["", "", ";a=b"])}\r\n${body}\r\n0\r\n${random.pick(["", "", "x: y\r\n", "content-length: 3\r\n"])}\r\n`;
};

/** The framing headers of a body and its bytes; sometimes they contradict each other. */
function framed(random: Random): { headers: string[]; body: string } {
  const body = bytes(random, 40);
  const framings = [
    { headers: [], body: "" },
    { headers: [`content-length: ${body.length}`], body },
    { headers: ["transfer-encoding: chunked"], body: chunked(random, body) },
    { headers: [`content-length: ${random.pick(["0", "5", "-1", "x", "1e9", "99999999999999999999"])}`], body },
    { headers: [`transfer-encoding: ${random.pick(["gzip, chunked", "identity", "chunked, chunked", "x"])}`], body },
    { headers: ["content-length: 3", "transfer-encoding: chunked"], body: chunked(random, body) },
    { headers: ["content-length: 3", "content-length: 4"], body },
  ];
  return random.chance(0.8) ? random.pick(framings.slice(0, 3)) : random.pick(framings);
}

const oddHeaders = [
  "x-control: a\u0001b",
  "x-delete: a\u007fb",
  "x-latin: \u00e9\u00ff",
  "x-folded: a\r\n b",
  "no colon",
  ": no name",
  "x y: space in the name",
  `x-long: ${"l".repeat(2000)}`,
  "x-forwarded-for: 203.0.113.9",
  "x-worker-id: other",
  "trailer: x",
  "te: trailers",
  "keep-alive: timeout=1",
  "set-cookie: a=b",
  "expect: 100-continue",
  "expect: other",
];
const connections = [
  "close",
  "keep-alive",
  "upgrade",
  "host",
  "content-length",
  "transfer-encoding, x",
  "x-worker-id",
  ", ,",
];
const upgrades = ["websocket", "WebSocket", "h2c", "websocket, h2c", "other", ""];

/** A request: mostly one that the load balancer forwards or upgrades. */
function request(random: Random, { host, balancer, queue, token, key }: Addresses): string {
  const targets = [
    "/healthz",
    balancer,
    `${balancer}/a?b=c`,
    `${balancer}/%zz`,
    "/load-balancers/none/a",
    "/load-balancers/%zz",
    `http://${host}${balancer}/a`,
    `http://other${balancer}`,
    `http://${host}`,
    "*",
    "//",
    "",
    "/\u00e9",
    `/v2/${queue}/health`,
    `/v2/${queue}/job-take/w?gpu=x`,
    `/v2/${queue}/ping/w`,
    "/v2/serverless",
    "/graphql",
    `${host}`,
  ];
  const methods = ["GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "CONNECT", "TRACE", "PRI", "NONE"];
  const isPlain = random.chance(0.6);
  const target = isPlain ? `${balancer}/a` : random.pick(targets);
  const { headers, body } = framed(random);
  const isUpgrade = random.chance(0.4);
  const head = [
    `${random.chance(0.7) ? random.pick(["GET", "POST"]) : random.pick(methods)} ${target} ${random.chance(0.95) ? "HTTP/1.1" : random.pick(["HTTP/1.0", "HTTP/2.0", "HTTP/9", ""])}`,
    ...(random.chance(0.95) ? [`host: ${host}`] : some(random, ["host: a", "host: b"], 0.5)),
    ...(random.chance(0.9) ? [`authorization: ${target.includes("/job-take") ? token : `Bearer ${key}`}`] : []),
    ...(isUpgrade
      ? ["connection: upgrade", `upgrade: ${random.chance(0.6) ? "websocket" : random.pick(upgrades)}`]
      : []),
    ...(random.chance(0.2) ? [`connection: ${random.pick(connections)}`] : []),
    ...(random.chance(0.2) ? [`upgrade: ${random.pick(upgrades)}`] : []),
    ...(isUpgrade && random.chance(0.8) ? [] : headers),
    ...(random.chance(0.2) ? some(random, oddHeaders, 0.15) : []),
  ];
  return message(head, isUpgrade ? bytes(random, 20) : body);
}

/** A response: mostly one that the parser accepts. */
function response(random: Random): string {
  const statuses = [
    "200",
    "204",
    "304",
    "404",
    "500",
    "100",
    "101",
    "101",
    "102",
    "103",
    "099",
    "000",
    "199",
    "600",
    "999",
    "1000",
    "-1",
    "x",
    "",
  ];
  const reasons = ["OK", "", "a\u0001b", "a\u007fb", "\u00e9", "x".repeat(2000)];
  const { headers, body } = framed(random);
  const isUpgrade = random.chance(0.3);
  const head = [
    `${random.chance(0.95) ? "HTTP/1.1" : random.pick(["HTTP/1.0", "HTTP/2", "ICY", ""])} ${isUpgrade && random.chance(0.8) ? "101" : random.pick(statuses)}${random.chance(0.9) ? ` ${random.pick(reasons)}` : ""}`,
    ...(isUpgrade ? ["connection: upgrade", `upgrade: ${random.pick(upgrades)}`] : []),
    ...(random.chance(0.3) ? [`connection: ${random.pick(connections)}`] : []),
    ...(isUpgrade && random.chance(0.8) ? [] : headers),
    ...(random.chance(0.3) ? some(random, oddHeaders, 0.15) : []),
  ];
  return message(head, body);
}

/** Damages a text: removes its end, or replaces a part by random bytes. */
function damage(random: Random, text: string): string {
  if (random.chance(0.85)) return text;
  const at = random.int(0, text.length);
  return random.chance(0.6) ? text.slice(0, at) : `${text.slice(0, at)}${bytes(random, 10)}${text.slice(at + 4)}`;
}

/** Splits a text at random into the steps of a connection, which ends, is reset or stays open. */
function stepsOf(random: Random, text: string): Step[] {
  const all = Buffer.from(text, "latin1");
  const cuts = Array.from({ length: random.int(0, 4) }, () => random.int(0, all.length)).sort((a, b) => a - b);
  const parts = [0, ...cuts].map((start, index) => all.subarray(start, cuts[index] ?? all.length));
  const steps: Step[] = parts.flatMap((part) => [part, ...some(random, ["turn", "turn"] as const, 0.5)]);
  const ends: Step[][] = [[], [], [], [], ["end"], ["turn", "end"], ["turn", "reset"], ["end", "turn", "reset"]];
  return [...steps, ...random.pick(random.chance(0.95) ? ends : [["reset"]])];
}

const messages = (random: Random, create: () => string): string =>
  Array.from({ length: random.pick([1, 1, 2, 3]) }, () =>
    damage(random, random.chance(0.97) ? create() : bytes(random, 60)),
  ).join("");

/** The steps of a client: pipelined requests. */
export const clientSteps = (random: Random, addresses: Addresses): Step[] =>
  stepsOf(
    random,
    messages(random, () => request(random, addresses)),
  );

/** The steps of a worker on one connection: responses, before or after it has received a request. */
export const workerSteps = (random: Random): Step[] =>
  stepsOf(
    random,
    messages(random, () => response(random)),
  );
