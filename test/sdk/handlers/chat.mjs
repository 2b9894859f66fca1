async function* chat({ id, input: { openai_input } }) {
  const { messages, model, stream } = openai_input;
  const facts = { id, model, created: 0 };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const { content } = messages.at(-1);
  if (!stream) {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    yield { ...facts, object: "chat.completion", choices, usage };
    return;
  }
  const chunk = (delta, finish_reason = null) => ({
    ...facts,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  });
  for (const word of content.split(" ")) yield chunk({ content: word });
  yield { ...chunk({}, "stop"), usage };
}

/** A model for OpenAI's clients that repeats the last message, word by word if it streams; transcriptions of audio contain its size. */
export default (job) => {
  const { audio_base64: audio } = job.input;
  return audio === undefined ? chat(job) : { text: `${Buffer.from(audio, "base64").length} bytes`, language: "en" };
};
