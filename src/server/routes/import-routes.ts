import { stat } from 'node:fs/promises';
import * as v from 'valibot';
import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, QuotaExceededError } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { LABELS, parseAgentName, toLabelsId } from '../../managed/internal.ts';
import { DamagedCopyError } from '../../runtime/index.ts';
import { importSessionCopy, toFileSource } from '../../runtime/internal.ts';
import type { SessionFile } from '../../runtime/internal.ts';
import { checkSessionId } from '../../store/internal.ts';
import type { DocumentItem } from '../../store/index.ts';
import { HttpError } from '../http/http-error.ts';
import { receiveFile } from '../http/receive-file.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { sessionResponse } from '../wire/responses/session-responses.ts';
import { metadata, text } from '../wire/wire-schemas.ts';
import { toWireSession } from './to-wire-session.ts';
import { getWorkspaceAgent } from './workspace-agents.ts';

const labels = v.object({
  title: v.optional(text(1024)),
  metadata: v.optional(metadata),
});

/** The route that adds a session of a journal file. */
export function importRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime, store, imports, clock, readerTimeoutMs, webhookOutbox } = context;
  return [
    defineRoute('POST /v1/imports: Add the session of a journal file', {
      response: sessionResponse,
      body: v.pipe(v.string(), v.description('A journal file, uncompressed.')),
      fileType: 'application/x-ndjson',
      scopes: ['import'],
      creates: true,
      errors: [408, 501],
      run: async ({ caller: { workspace }, request }) => {
        if (imports === undefined)
          throw new HttpError(
            501,
            'This server imports no journal files. Start it with the option imports, or use petrichor import.',
          );
        using _place = imports.take(workspace);
        const limits = { maxBytes: imports.maxBytes, idleMs: readerTimeoutMs, clock };
        await using file = await receiveFile(request, FILE_NAME, limits);
        const { artifacts } = runtime.runtime;
        const { key } = await imports
          .runAlone(async () =>
            importSessionCopy(toFileSource(file.path), store, {
              clock,
              ...omitUndefined({ artifacts }),
              approve: async (found) => approve(context, { workspace, path: file.path }, found),
            }),
          )
          .catch((error: unknown) => {
            throw withoutFolder(error, file.path);
          });
        await webhookOutbox.publish(workspace, key.sessionId, 'session.created');
        const session = await runtime.getSession({ id: key.sessionId, userId: workspace });
        return toWireSession(context, session);
      },
    }),
  ];
}

const FILE_NAME = 'journal.jsonl';

/**
 * Checks that the session belongs into the workspace, and that its agents are those of the workspace. The definitions of the
 * file are not taken: they could be those of agents of other workspaces. Nor is its record.
 * @throws InvalidInputError, HttpError
 */
async function approve(
  context: ServerContext,
  { workspace, path }: { readonly workspace: string; readonly path: string },
  { key, sessions, record }: SessionFile,
): Promise<readonly DocumentItem[]> {
  const { runtime } = context.runtime;
  if (key.appName !== runtime.app)
    throw new InvalidInputError(
      'session.key.appName',
      `must be "${runtime.app}", the application of this server; it is "${key.appName}". Import the file where that application runs.`,
    );
  if (key.userId !== workspace)
    throw new InvalidInputError(
      'session.key.userId',
      `must be the workspace of the key; it is "${key.userId}". Use a key of that workspace.`,
    );
  checkSessionId(key.sessionId, 'session.key.sessionId');
  for (const agent of new Set(sessions.map((one) => one.agent)))
    await assertAgent(context, workspace, agent);
  await assertRoom(context, workspace, (await stat(path)).size);
  const { title, metadata: pairs } = parseLabels(record);
  if (title === undefined && pairs === undefined) return [];
  const id = toLabelsId(key, key.sessionId);
  if ((await context.store.document(LABELS, id)) !== undefined) return [];
  const value: Json = omitUndefined({ title, metadata: pairs });
  return [{ type: 'document', kind: LABELS, id, version: 1, value }];
}

/** @throws QuotaExceededError if the workspace or the application has no room for a session with so many bytes */
async function assertRoom(
  { runtime }: ServerContext,
  workspace: string,
  bytes: number,
): Promise<void> {
  const ofUser = await runtime.runtime.quotas({ user: workspace });
  const ofApp = await runtime.runtime.quotas({ scope: 'app' });
  for (const status of [...ofUser, ...ofApp])
    if (
      (status.quota === 'sessions' && status.used >= status.limit) ||
      (status.quota === 'storageBytes' && status.used + bytes > status.limit)
    )
      throw new QuotaExceededError(status);
}

/** @throws HttpError 404 unless the program or the workspace has the agent */
async function assertAgent(context: ServerContext, workspace: string, name: string): Promise<void> {
  if (context.runtime.runtime.agents.has(name)) return;
  const stored = parseAgentName(name);
  if (stored?.environment === '') {
    await getWorkspaceAgent(context, workspace, stored.agentId, stored.version);
    return;
  }
  throw new HttpError(
    404,
    stored === undefined
      ? `There is no agent "${name}", which the session of the file has. Start the server with it.`
      : `The session of the file has an environment of its own, so its agent is "${name}". Import it with petrichor import.`,
  );
}

/** What is no valid title or metadata is left out. */
function parseLabels(record: Json | undefined): v.InferOutput<typeof labels> {
  const parsed = v.safeParse(labels, record);
  return parsed.success ? parsed.output : {};
}

/** Errors name the file, whose folder is nobody's business. */
function withoutFolder(error: unknown, path: string): unknown {
  if (!(error instanceof DamagedCopyError)) return error;
  return new HttpError(400, error.message.replaceAll(path, 'The journal file'), {
    details: { error_code: error.code },
    cause: error,
  });
}
