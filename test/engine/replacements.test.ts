import { replacementsThrough } from "../doors/replacements";
import { dynamicDoor } from "./door";

replacementsThrough(dynamicDoor);
