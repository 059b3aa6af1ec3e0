import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { HttpError } from '../http/http-error.ts';

/**
 * What a key opens.
 *
 * - `full`: everything of its workspace, but not the metrics of the whole server.
 * - `read`: what only reads in its workspace.
 * - `metrics`: `GET /metrics`, which counts all workspaces together.
 * - `operator`: what operators do to sessions of all workspaces: list, evict, unquarantine. It reads no event.
 * - `environment`: the work of one environment; for whoever runs workers.
 * - `session`: one session, to read it and to send its tool results, and the work item of it. The server makes these
 *   keys for workers.
 */
export type KeyScope =
  | { readonly type: 'full' }
  | { readonly type: 'read' }
  | { readonly type: 'metrics' }
  | { readonly type: 'operator' }
  | { readonly type: 'environment'; readonly environmentId: string }
  | { readonly type: 'session'; readonly environmentId: string; readonly sessionId: string };

/** The kinds of scopes. */
export type KeyScopeType = KeyScope['type'];

export const FULL_SCOPE: KeyScope = { type: 'full' };

/**
 * Lets a key through to a route that is open to its scope, for the environment and the session that it is bound to.
 * What it names is not looked up before, so a refusal does not tell what exists.
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
    ? `another ${scope.type}: use the key of that one.`
    : `${method} ${path}: use a key with the scope ${scopes.join(' or ')}.`;
  throw new HttpError(403, `A key with the scope ${scope.type} does not open ${problem}`, {
    details: { error_code: 'scope_not_allowed', scope: scope.type },
  });
}

/** The scope of a kept key; undefined when it is not known here, so that the key opens nothing. */
export function parseKeyScope(value: Json | undefined): KeyScope | undefined {
  if (value === undefined) return FULL_SCOPE;
  if (!isJsonObject(value)) return undefined;
  const { type, environmentId, sessionId } = value;
  switch (type) {
    case 'full':
    case 'read':
    case 'metrics':
    case 'operator':
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
