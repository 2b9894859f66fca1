import { createRunpod } from "@runpod/ai-sdk-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SdkRig, startRig } from "./rig";
import { versions } from "./versions";

let rig: SdkRig;
let root: string;
beforeAll(async () => {
  rig = await startRig();
  root = `${rig.service.serverlessUrl}/v2/${await rig.endpoint("chat.mjs")}`;
});
afterAll(() => rig[Symbol.asyncDispose]());

const provider = () => createRunpod({ apiKey: rig.service.apiKey, baseURL: `${root}/openai/v1` });
const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "one two three" }] }];

describe(`npm @runpod/ai-sdk-provider ${versions.aiSdkProvider}`, () => {
  it("languageModel.doGenerate", async () => {
    const { content, finishReason } = await provider().languageModel("acme/chat").doGenerate({ prompt });
    expect(content).toEqual([{ type: "text", text: "one two three" }]);
    expect(JSON.stringify(finishReason)).toContain("stop");
  });

  it("languageModel.doStream", async () => {
    const { stream } = await provider().languageModel("acme/chat").doStream({ prompt });
    const words: string[] = [];
    for await (const part of stream) if (part.type === "text-delta") words.push(part.delta);
    expect(words).toEqual(["one", "two", "three"]);
  });

  it("transcriptionModel.doGenerate", async () => {
    const model = provider().transcriptionModel(root);
    const options = { runpod: { pollIntervalMillis: 20 } };
    const audio = { audio: new Uint8Array(5), mediaType: "audio/wav", providerOptions: options };
    expect(await model.doGenerate(audio)).toMatchObject({ text: "5 bytes", language: "en" });
  });
});
