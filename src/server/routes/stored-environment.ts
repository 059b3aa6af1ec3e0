import { isJsonObject } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { SessionEnvironment } from '../../managed/index.ts';
import { notFound, HttpError } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import { toWireTime } from '../wire/wire-schemas.ts';

/** An environment as it is stored. */
export interface StoredEnvironment {
  readonly name: string;
  readonly description: string | null;
  readonly config: 'cloud' | 'self_hosted';
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly archivedAt?: number;
}

/**
 * Finds an environment of a workspace.
 * @throws HttpError 404
 */
export async function getWorkspaceEnvironment(
  { environments }: ServerContext,
  workspace: string,
  id: string,
): Promise<StoredEnvironment> {
  const value = await environments.get(workspace, id);
  if (value === undefined) throw notFound('environment', id);
  return parseEnvironment(value);
}

/** The environment that a session starts with. `hasBuiltIns`: the agent has tools that a worker can run. */
export function toSessionEnvironment(
  { config: kind }: StoredEnvironment,
  hasBuiltIns: boolean,
): SessionEnvironment {
  return kind === 'self_hosted' && hasBuiltIns ? { selfHosted: true } : {};
}

/** Converts an environment to the format of the HTTP API. */
export function toWireEnvironment(id: string, environment: StoredEnvironment): Wire<'Environment'> {
  const { archivedAt, createdAt, updatedAt, config: kind, ...rest } = environment;
  const empty = { apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] };
  return {
    id,
    type: 'environment',
    name: rest.name,
    description: rest.description,
    metadata: { ...rest.metadata },
    config:
      kind === 'self_hosted'
        ? { type: 'self_hosted' }
        : {
            type: 'cloud',
            networking: { type: 'unrestricted' },
            packages: { type: 'packages', ...empty },
          },
    scope: 'organization',
    created_at: toWireTime(createdAt),
    updated_at: toWireTime(updatedAt),
    archived_at: archivedAt === undefined ? null : toWireTime(archivedAt),
  };
}

/** An environment as JSON to store. */
export function toEnvironmentJson(environment: StoredEnvironment): Json {
  const { metadata: pairs, ...rest } = environment;
  return { ...rest, metadata: { ...pairs } };
}

/**
 * Parses a stored environment.
 * @throws HttpError 500 when it is not an object
 */
export function parseEnvironment(value: Json): StoredEnvironment {
  if (!isJsonObject(value)) throw new HttpError(500, 'A stored environment is invalid.');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only toEnvironmentJson writes documents of this kind
  return value as unknown as StoredEnvironment;
}
