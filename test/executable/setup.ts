export { setUpExecutable as default } from "../support/installation";
