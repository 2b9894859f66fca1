import { run } from "../../../../../provider/cli/main";

void run();
