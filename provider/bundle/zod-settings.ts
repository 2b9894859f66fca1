import { z } from "zod";

// Without this setting, zod compiles a parser for each object shape, which takes longer than parsing a deployment's values.
// The bundle contains its own copy of zod, so the setting does not affect the program's copy.
z.config({ jitless: true });
