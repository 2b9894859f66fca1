/** A generator streams: each value is a chunk of /stream, and of a job of OpenAI's clients an event in their form. */
export default function* ({ input }) {
  if (input.openai_route === undefined) {
    yield* input.text.split(" ");
    return;
  }
  if (input.openai_route === "/v1/models") {
    yield { object: "list", data: [{ id: "teller", object: "model", created: 0, owned_by: "acme" }] };
    return;
  }
  const { messages, model } = input.openai_input;
  for (const word of messages.at(-1).content.split(" ")) {
    const choice = { index: 0, delta: { role: "assistant", content: `${word} ` }, finish_reason: null };
    yield { id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model, choices: [choice] };
  }
}
