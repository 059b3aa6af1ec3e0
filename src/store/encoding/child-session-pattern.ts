// The rule of `isChildSessionId`, in the pattern languages of the databases.

const HEX = '[0-9a-f]';
const LENGTHS = [8, 4, 4, 4, 12];

/** What follows the calling session's id in that of a called agent's session, as a GLOB of SQLite. */
export const CHILD_GLOB: string = `/${LENGTHS.map((length) => HEX.repeat(length)).join('-')}/[0-9]*`;

/** The same as a regular expression of PostgreSQL. */
export const CHILD_REGEX: string = `/${LENGTHS.map((length) => `${HEX}{${length}}`).join('-')}/[0-9]`;
