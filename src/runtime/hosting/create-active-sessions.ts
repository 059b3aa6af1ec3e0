import { ModelCallCounts } from '../called-agents/model-call-counts.ts';
import { SessionBroadcast } from '../log/session-broadcast.ts';
import { ActiveSessions } from './active-sessions.ts';
import type { ActiveSessionsOptions } from './active-sessions.ts';

type RequiredService = 'store' | 'committer' | 'clock' | 'owner' | 'findAgent' | 'onError';

/** What hosting sessions needs, and the services that have a default. */
export type HostingOptions = Pick<ActiveSessionsOptions, RequiredService> &
  Partial<Omit<ActiveSessionsOptions, RequiredService>>;

/**
 * Hosts sessions. The only construction of session hosting: a runtime passes all services, `applyInbox` the required
 * ones. The defaults are for sessions that nobody watches and whose agents call no other agents.
 */
export function createActiveSessions(options: HostingOptions): ActiveSessions {
  return new ActiveSessions({
    broadcast: new SessionBroadcast(),
    findInterceptor: async () => ({ observe: undefined, interceptCall: undefined }),
    services: {},
    modelCalls: new ModelCallCounts(options.store, options.isOpen ?? (() => true)),
    calledAgents: undefined,
    runChild: async () =>
      Promise.reject(new Error('This host runs no called agents: open the session in a runtime.')),
    ignoringOwnChanges: async (write) => write(),
    schedule: () => {},
    onBusy: () => {},
    isOpen: () => true,
    ...options,
  });
}
