import type {
  ListResourcesResult,
  McpServer,
  ReadResourceTemplateCallback,
} from '@modelcontextprotocol/server';
import type { LogEvent } from '../../../core/index.ts';
import type { Caller } from '../../auth/api-keys.ts';
import { readLog } from '../../events/session-log.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findCallerSession } from '../caller-session.ts';
import type { McpServerSdk } from './mcp-server-sdk.ts';

/** How many sessions a list has, and how many events a resource. */
const MAX_SESSIONS = 50;
const MAX_EVENTS = 1000;

const JSON_TYPE = 'application/json';

/** The logs of the workspace's sessions: from the first event, or from the event after a number. */
export function addLogResources(
  sdk: McpServerSdk,
  server: McpServer,
  context: ServerContext,
  caller: Caller,
): void {
  const read: ReadResourceTemplateCallback = async ({ href }, { session_id: name, after }) => {
    const id = decodeURIComponent([name].flat().join(''));
    const from = Number([after ?? '0'].flat().join(''));
    const session = await findCallerSession(context, caller, id);
    if (session === undefined || !Number.isSafeInteger(from) || from < 0)
      throw new sdk.ResourceNotFoundError(href);
    const events: LogEvent[] = [];
    for await (const event of readLog(context, session, from)) {
      events.push(event);
      if (events.length === MAX_EVENTS) break;
    }
    const { agentId, sessionStatus, lastSeq } = session;
    const log = { session_id: id, agent_id: agentId, status: sessionStatus, last: lastSeq, events };
    return { contents: [{ uri: href, mimeType: JSON_TYPE, text: JSON.stringify(log) }] };
  };
  const list = async (): Promise<ListResourcesResult> => {
    const options = { userId: caller.workspace, limit: MAX_SESSIONS };
    const { data } = await context.runtime.listSessions(options);
    return {
      resources: data.map(({ id, title = id, agentId }) => ({
        uri: `petrichor://sessions/${encodeURIComponent(id)}/log`,
        name: `Log of session ${title}`,
        description: `A session of ${agentId}.`,
        mimeType: JSON_TYPE,
      })),
    };
  };
  server.registerResource(
    'session log',
    new sdk.ResourceTemplate('petrichor://sessions/{session_id}/log', { list }),
    {
      description: `The log of a session: its messages, calls and results, in order; the first ${MAX_EVENTS} events.`,
      mimeType: JSON_TYPE,
    },
    read,
  );
  // The SDK matches a template with a query only if the URI has the query.
  server.registerResource(
    'part of a session log',
    new sdk.ResourceTemplate('petrichor://sessions/{session_id}/log{?after}', { list: undefined }),
    {
      description: `The events of a session's log after a number, at most ${MAX_EVENTS}.`,
      mimeType: JSON_TYPE,
    },
    read,
  );
}
