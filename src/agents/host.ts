import type { SessionKey } from '../core/index.ts';

/** What an agent's net may know of where it runs. */
export interface AgentHost {
  readonly sessionKey: SessionKey;
}

/** A net that runs outside a session, in a test or a proof, has no key of its own. */
const nowhere: SessionKey = { appName: 'none', userId: 'none', sessionId: 'none' };

export function sessionKeyOf(host: unknown): SessionKey {
  return isAgentHost(host) ? host.sessionKey : nowhere;
}

function isAgentHost(host: unknown): host is AgentHost {
  return typeof host === 'object' && host !== null && 'sessionKey' in host;
}
