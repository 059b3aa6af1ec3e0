import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import { notFound, HttpError } from '../http/http-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { component } from '../wire/component.ts';
import type { Wire } from '../wire/component.ts';
import {
  environmentDeleted,
  environmentPage,
  environmentResponse,
} from '../wire/responses/environment-responses.ts';
import {
  mergeMetadata,
  booleanParameter,
  metadata,
  metadataChange,
  nonEmptyText,
  pagination,
  text,
  unsupported,
} from '../wire/wire-schemas.ts';
import {
  getWorkspaceEnvironment,
  parseEnvironment,
  toEnvironmentJson,
  toWireEnvironment,
} from './stored-environment.ts';
import type { StoredEnvironment } from './stored-environment.ts';

const none = 'is not supported by this server: leave it out or empty';
const noPackage = v.nullish(v.pipe(v.array(v.string()), v.maxLength(0, none)));
const noPackages = v.nullish(
  v.object({
    type: v.optional(v.literal('packages')),
    apt: noPackage,
    cargo: noPackage,
    gem: noPackage,
    go: noPackage,
    npm: noPackage,
    pip: noPackage,
  }),
);
const config = v.variant(
  'type',
  [
    v.object({
      type: v.literal('cloud'),
      networking: v.nullish(
        v.object({
          type: v.literal('unrestricted', 'must be unrestricted: this server cannot limit it'),
          allow_mcp_servers: unsupported,
          allow_package_managers: unsupported,
          allowed_hosts: unsupported,
        }),
      ),
      packages: noPackages,
    }),
    v.object({ type: v.literal('self_hosted') }),
  ],
  'must have the type cloud or self_hosted',
);

const scope = v.nullish(
  v.picklist(['organization'], 'must be organization: this server has no accounts'),
);

const create = component(
  'EnvironmentParams',
  'Definition of a new environment. Default type: `cloud`. The type cannot change later.',
  v.object({
    name: nonEmptyText(256),
    description: v.nullish(text(2048)),
    config: v.nullish(config),
    metadata: v.nullish(metadata),
    scope,
  }),
);

const update = component(
  'EnvironmentChange',
  'Changes to an environment. Omitted fields keep their value.',
  v.object({
    name: v.nullish(nonEmptyText(256)),
    description: v.nullish(text(2048)),
    config: v.nullish(config),
    metadata: v.nullish(metadataChange),
    scope,
  }),
);

/** Routes for environments. */
export function environmentRoutes(context: ServerContext): readonly HttpRoute[] {
  const { environments, clock, newId } = context;

  const save = async (
    workspace: string,
    id: string,
    environment: StoredEnvironment,
  ): Promise<Wire<'Environment'>> => {
    await environments.put(workspace, id, toEnvironmentJson(environment));
    return toWireEnvironment(id, environment);
  };

  return [
    defineRoute('POST /v1/environments: Create an environment', {
      response: environmentResponse,
      body: create,
      creates: true,
      run: async ({ caller: { workspace }, body, idempotentRequest }) => {
        const id = await idempotentRequest.reserveId(newId('env'));
        const earlier = await environments.get(workspace, id);
        if (earlier !== undefined) return toWireEnvironment(id, parseEnvironment(earlier));
        const now = clock.now();
        return save(workspace, id, {
          name: body.name,
          description: body.description ?? null,
          config: body.config?.type ?? 'cloud',
          metadata: body.metadata ?? {},
          createdAt: now,
          updatedAt: now,
        });
      },
    }),
    defineRoute('GET /v1/environments: List environments', {
      response: environmentPage,
      query: v.object({ ...pagination, include_archived: v.optional(booleanParameter) }),
      run: async ({ caller: { workspace }, query }) => {
        const page = await environments.list(workspace, query, async ({ id, value }) => {
          const environment = parseEnvironment(value);
          const isShown = environment.archivedAt === undefined || query.include_archived === true;
          return isShown ? toWireEnvironment(id, environment) : undefined;
        });
        return { data: page.data, next_page: page.next };
      },
    }),
    defineRoute('GET /v1/environments/{environment_id}: Read an environment', {
      response: environmentResponse,
      run: async ({ caller: { workspace }, params }) => {
        const id = params('environment_id');
        return toWireEnvironment(id, await getWorkspaceEnvironment(context, workspace, id));
      },
    }),
    defineRoute('POST /v1/environments/{environment_id}: Change an environment', {
      response: environmentResponse,
      body: update,
      run: async ({ caller: { workspace }, params, body }) => {
        const id = params('environment_id');
        const present = await getWorkspaceEnvironment(context, workspace, id);
        if (present.archivedAt !== undefined)
          throw new HttpError(400, `Environment "${id}" is archived. Create another one.`, {
            details: {
              /**
               * The environment is archived, so it cannot be changed.
               * @remedy Create another environment.
               */
              error_code: 'environment_archived',
            },
          });
        if (body.config != null && body.config.type !== present.config)
          throw new HttpError(400, 'config.type: cannot change after creation.', {
            details: {
              /**
               * An update would change the type of the configuration of an environment.
               * @remedy Create another environment with the other type.
               */
              error_code: 'invalid_config_type_change',
            },
          });
        return save(workspace, id, {
          ...present,
          ...omitUndefined({
            name: body.name != null ? body.name : undefined,
            description: body.description,
          }),
          metadata: mergeMetadata(present.metadata, body.metadata ?? {}),
          updatedAt: clock.now(),
        });
      },
    }),
    defineRoute('POST /v1/environments/{environment_id}/archive: Archive an environment', {
      response: environmentResponse,
      run: async ({ caller: { workspace }, params }) => {
        const id = params('environment_id');
        const present = await getWorkspaceEnvironment(context, workspace, id);
        if (present.archivedAt !== undefined) return toWireEnvironment(id, present);
        const at = clock.now();
        return save(workspace, id, { ...present, archivedAt: at, updatedAt: at });
      },
    }),
    defineRoute('DELETE /v1/environments/{environment_id}: Delete an environment', {
      response: environmentDeleted,
      run: async ({ caller: { workspace }, params }) => {
        const id = params('environment_id');
        if (!(await environments.remove(workspace, id))) throw notFound('environment', id);
        return { id, type: 'environment_deleted' };
      },
    }),
  ];
}
