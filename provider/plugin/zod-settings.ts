import { z } from "zod";

// Each object's shape would have a parser compiled for it, which takes longer than a deployment has values to parse. Here and
// in no other way into Pulumi: the plugin's bundle has a zod of its own.
z.config({ jitless: true });
