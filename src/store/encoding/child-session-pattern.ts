// The rule of `isChildSessionId` as patterns for the databases.

const HEX = '[0-9a-f]';
const LENGTHS = [8, 4, 4, 4, 12];

/** The suffix that a called agent's session id adds to the id of the calling session, as a SQLite GLOB. */
export const CHILD_GLOB: string = `/${LENGTHS.map((length) => HEX.repeat(length)).join('-')}/[0-9]*`;

/** The same suffix as a PostgreSQL regular expression. */
export const CHILD_REGEX: string = `/${LENGTHS.map((length) => `${HEX}{${length}}`).join('-')}/[0-9]`;
