import { expect, test } from "vitest";
import { type Path, Unknown } from "../../../../provider/engine/values";
import {
  containsSecret,
  hasPlaintextSecrets,
  isSecretAt,
  secretOutputs,
  secretsIn,
} from "../../../../provider/framework/properties/secret-paths";
import { kinds } from "../../../../provider/resources";

const paths: Path[] = [["env", "TOKEN"], ["triggers", "1"], ["input"]];

/** Outputs that contain the output of a job, or facts about it. */
const ofOutput = ["output", "outputSha256", "outputSize"];

test("values at and below a secret path are secret; values above contain a secret", () => {
  expect([["env", "TOKEN"], ["input"], ["input", "a", "0"]].map((path) => isSecretAt(path, paths))).toEqual([
    true,
    true,
    true,
  ]);
  expect([["env"], ["env", "TOKENS"], ["triggers", "0"], []].map((path) => isSecretAt(path, paths))).toEqual(
    Array(4).fill(false),
  );
  expect([["env"], ["triggers"], ["input", "a"]].map((path) => containsSecret(path, paths))).toEqual([
    true,
    true,
    true,
  ]);
  expect([["env", "A"], ["expect"]].map((path) => containsSecret(path, paths))).toEqual([false, false]);
});

test("secret values are strings and numbers of both sides, at every depth, each once", () => {
  const olds = { env: { TOKEN: "old", MODEL: "open" }, input: { a: [4711, true, null, { b: "deep" }] } };
  const news = { env: { TOKEN: "new" }, triggers: ["open", "old"], input: Unknown.value };
  expect(secretsIn([olds, news], paths)).toEqual({ paths, values: ["old", "4711", "deep", "new"] });
});

test.each<[keyof typeof kinds, Path[], string[]]>([
  ["Template", [["env", "TOKEN"]], ["env", "revision"]],
  ["Template", [["dockerArgs"]], ["dockerArgs", "revision"]],
  ["Template", [["readme"]], ["readme"]],
  ["JobInvoke", [["input", "prompt"]], ["s3Config", "input", ...ofOutput]],
  ["JobInvoke", [["expect", "output", "text"]], ["s3Config", "expect", ...ofOutput]],
  ["JobInvoke", [["triggers", "0"]], ["s3Config", "triggers"]],
  ["Secret", [["name"]], ["value", "name", "reference"]],
])("the outputs of a %s that secret inputs %j make secret", (kind, secretInputs, outputs) => {
  expect(secretOutputs(kinds[kind], secretInputs).map(([top]) => top)).toEqual(outputs);
});

test.each([
  [{ bucketName: "b" }, ["s3Config", ...ofOutput]],
  [null, ["s3Config"]],
])("the output of a job with s3Config %j is secret only if a worker may repeat its keys", (s3Config, outputs) => {
  expect(secretOutputs(kinds.JobInvoke, [], { s3Config }).map(([top]) => top)).toEqual(outputs);
});

test.each<[exposed: boolean, marks: string[][], secretInput: string[]]>([
  [true, [], ["env"]],
  [true, [["env", "A"]], ["env"]],
  [false, [["env"]], ["env", "A"]],
  [false, [], ["absent"]],
])("it is %s that a state with marks at %j exposes the secret %j", (exposed, secretPaths, path) => {
  const properties = { env: { A: "1", B: "2" }, tags: ["a", "b"], absent: null };
  expect(hasPlaintextSecrets({ properties, secretPaths }, [path])).toBe(exposed);
});
