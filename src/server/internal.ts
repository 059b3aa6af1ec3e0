/** Exports of `server/` for other folders of `src/`. */

export { agentCreate } from './wire/agent-schemas.ts';
