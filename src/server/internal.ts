/** Exports of `server/` for other folders of `src/`. */

export { AGENT_INDEX, SESSION_INDEX } from './auth/workspace-index.ts';
export { agentCreate } from './wire/agent-schemas.ts';
export { parseTrustedProxies } from './http/trusted-proxies.ts';
