import { z } from "zod";

// Each object's shape would have a parser compiled for it, which takes longer than a deployment has values to parse. The bundle
// has a zod of its own; that of a program stays as it is.
z.config({ jitless: true });
