import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { HttpError } from '../http/http-error.ts';

/**
 * What a key allows.
 * - `full`: everything in its workspace, but not the metrics of the whole server.
 * - `read`: reading in its workspace.
 * - `console`: reading in its workspace, and all verbs of its sessions, schedules and proofs. It is for the developer console.
 * - `metrics`: `GET /metrics`, which covers all workspaces.
 * - `operator`: listing, evicting and unquarantining sessions of all workspaces, reading their quotas, and draining the
 * server. It cannot read events.
 * - `import`: adding sessions of journal files to its workspace. Such a file can have approvals that nobody gave.
 * - `environment`: the work of one environment. It is for processes that start workers.
 * - `session`: reading one session, sending its tool results, and its work item. The server creates these keys for
 * workers.
 */
export type KeyScope =
  | { readonly type: 'full' }
  | { readonly type: 'read' }
  | { readonly type: 'console' }
  | { readonly type: 'metrics' }
  | { readonly type: 'operator' }
  | { readonly type: 'import' }
  | { readonly type: 'environment'; readonly environmentId: string }
  | { readonly type: 'session'; readonly environmentId: string; readonly sessionId: string };

/** The types of scopes. */
export type KeyScopeType = KeyScope['type'];

/** The scopes of routes that change sessions, schedules and proofs, but no agent, environment or webhook. */
export const SESSION_WRITE_SCOPES: readonly KeyScopeType[] = ['full', 'console'];

export const FULL_SCOPE: KeyScope = { type: 'full' };

/**
 * Checks that a key's scope allows a route, for the environment and session that the key is bound to. It checks before
 * any lookup, so a refusal does not reveal what exists.
 * @throws HttpError 403
 */
export function assertScope(
  scope: KeyScope,
  {
    method,
    path,
    scopes,
  }: {
    readonly method: string;
    readonly path: string;
    readonly scopes: readonly KeyScopeType[];
  },
  params: (name: string) => string,
): void {
  const isBound =
    (scope.type === 'environment' || scope.type === 'session') &&
    ((path.includes('{environment_id}') && params('environment_id') !== scope.environmentId) ||
      (scope.type === 'session' &&
        path.includes('{session_id}') &&
        params('session_id') !== scope.sessionId));
  if (scopes.includes(scope.type) && !isBound) return;
  const problem = isBound
    ? `another ${scope.type}. Use the key of that one.`
    : `${method} ${path}. Use a key with the scope ${scopes.join(' or ')}.`;
  throw new HttpError(403, `A key with the scope ${scope.type} does not allow ${problem}`, {
    details: {
      /**
       * The scope of the key does not allow the request or the event.
       * @remedy Use a key with a sufficient scope.
       */
      error_code: 'scope_not_allowed',
      scope: scope.type,
    },
  });
}

/**
 * Parses a stored scope. A missing value is the full scope: keys stored before scopes existed have none. Returns
 * undefined for an unknown scope, so that the key allows nothing.
 */
export function parseKeyScope(value: Json | undefined): KeyScope | undefined {
  if (value === undefined) return FULL_SCOPE;
  if (!isJsonObject(value)) return undefined;
  const { type, environmentId, sessionId } = value;
  switch (type) {
    case 'full':
    case 'read':
    case 'console':
    case 'metrics':
    case 'operator':
    case 'import':
      return { type };
    case 'environment':
      return typeof environmentId === 'string' ? { type, environmentId } : undefined;
    case 'session':
      return typeof environmentId === 'string' && typeof sessionId === 'string'
        ? { type, environmentId, sessionId }
        : undefined;
    default:
      return undefined;
  }
}

export function toKeyScopeJson(scope: KeyScope): JsonObject {
  return { ...scope };
}
