/** Answers like a worker behind an OpenAI-compatible API: a list of words as a stream, anything else whole. */
async function* words({ words = [], raw = [] }) {
  for (const word of words) yield { word };
  for (const text of raw) yield text;
}

export default ({ input: { openai_route: route, openai_input: body } }) => {
  if (body.fail) throw new Error("no such model");
  return body.stream ? words(body) : { route, body };
};
