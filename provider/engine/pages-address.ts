// Written by npm run generate from publisher.json: change that, not this file.

/** Where the pages of docs are on the web; undefined while nobody publishes them. */
export const pagesAddress: string | undefined = undefined;
