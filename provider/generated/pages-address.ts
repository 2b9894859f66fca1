// Written by npm run generate from publisher.json: change that, not this file.

/** Web address of the docs; undefined if they are not published. */
export const pagesAddress: string | undefined = undefined;
