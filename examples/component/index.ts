import { TestedEndpoint } from "./endpoint";

const languages = { english: "Hello", german: "Hallo" };

export const urls = Object.entries(languages).map(([language, greeting]) => {
  const { url } = new TestedEndpoint(language, {
    imageName: "acme/greeter:1",
    env: { GREETING: greeting },
    test: { input: { name: "you" }, output: { text: `${greeting}, you!` } },
  });
  return url;
});
