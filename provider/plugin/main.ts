import { Server, ServerCredentials } from "@grpc/grpc-js";

/** The engine sends whole states at once. */
const longestMessage = 400 * 1024 * 1024;

const server = new Server({
  "grpc.max_receive_message_length": longestMessage,
  "grpc.max_send_message_length": longestMessage,
});
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) {
    process.stderr.write(`pulumi-resource-serverless-compute cannot listen on loopback: ${error.message}\n`);
    process.exit(1);
  }
  // The engine reads the port from the first line and nothing else may be printed there.
  process.stdout.write(`${port}\n`);
  // The rest is loaded while the engine connects; in the bundle that is done before the first call can come in.
  void import("./serve.js").then(({ serve }) => serve(server));
});
