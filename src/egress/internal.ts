/** Exports of `egress/` for other folders of `src/`, without Node's network modules. */

export { FetchError } from './fetch-error.ts';
export { fetchWithinOrigin } from './fetch-within-origin.ts';
export { parseOrigins } from './parse-origins.ts';
