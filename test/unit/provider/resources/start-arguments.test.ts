import { describe, expect, test } from "vitest";
import { revisionOf } from "../../../../provider/resources/template/revision";
import { toStartLists, toStartText } from "../../../../provider/resources/template/start-arguments";

const lists = { dockerEntrypoint: ["sh", "-c"], dockerStartCmd: ["echo 'a b'"] };
const text = '{"entrypoint":["sh","-c"],"cmd":["echo \'a b\'"]}';

describe("the start text", () => {
  test("is the command itself without lists", () => {
    expect(toStartText({ dockerArgs: "python -u handler.py" })).toBe("python -u handler.py");
    for (const dockerArgs of ["{not JSON", '{"cmd": ["a"], "user": "b"}'])
      expect(toStartText({ dockerArgs })).toBe(dockerArgs);
  });

  test("is JSON with lists, and equal for equal lists in any notation", () => {
    expect(toStartText({ dockerArgs: "", ...lists })).toBe(text);
    expect(toStartText({ dockerArgs: ` { "cmd": ["echo 'a b'"], "entrypoint": ["sh", "-c"] }` })).toBe(text);
  });

  test("is read back in the form that the program uses", () => {
    expect(toStartLists(text, false)).toEqual({ dockerArgs: "", ...lists });
    expect(toStartLists(text, true)).toEqual({ dockerArgs: text, dockerEntrypoint: [], dockerStartCmd: [] });
  });
});

test("a template with lists has the revision of the same arguments as a string", () => {
  const content = { imageName: "a:1", env: {}, ports: "", containerDiskInGb: 5 };
  expect(revisionOf({ ...content, dockerArgs: "", ...lists })).toBe(revisionOf({ ...content, dockerArgs: text }));
  expect(revisionOf({ ...content, dockerArgs: "" })).not.toBe(revisionOf({ ...content, dockerArgs: text }));
});
