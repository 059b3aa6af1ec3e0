/** Exports of `server/` for other folders of `src/`. */

export { createExporter } from './create-exporter.ts';
export { SESSION_INDEX, WorkspaceIndex } from './auth/workspace-index.ts';
export { removeUnchangedSession } from './retention/remove-session.ts';
export { agentCreate } from './wire/agent-schemas.ts';
export { parseTrustedProxies } from './http/trusted-proxies.ts';
export { listenWithRouting, type RequestRouting } from './listen.ts';
