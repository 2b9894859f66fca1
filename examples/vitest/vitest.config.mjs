// Without a configuration here, vitest would use that of a folder above.
export default {};
