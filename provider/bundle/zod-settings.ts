import { z } from "zod";

// Without this setting, zod compiles a parser for each object shape, which takes longer than parsing a deployment's values.
// A module of its own, because the modules that create shapes are evaluated before the body of a module that imports them.
// Zod shares the setting with other copies of it in the process, but only the engine's processes load this bundle.
z.config({ jitless: true });
