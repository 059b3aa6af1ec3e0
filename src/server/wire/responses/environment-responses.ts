import * as v from 'valibot';
import { component } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { deletion, page, pairs, time } from './response-parts.ts';

const noPackages = v.pipe(v.array(v.string()), v.maxLength(0));

/** An environment. */
export const environmentResponse: WireSchema<'Environment'> = component(
  'Environment',
  'Where the tools of sessions run: `cloud` on the server, `self_hosted` on a worker that takes sessions from it.',
  v.object({
    id: v.string(),
    type: v.literal('environment'),
    name: v.string(),
    description: v.nullable(v.string()),
    metadata: pairs,
    config: v.variant('type', [
      v.object({ type: v.literal('self_hosted') }),
      v.object({
        type: v.literal('cloud'),
        networking: v.object({ type: v.literal('unrestricted') }),
        packages: v.object({
          type: v.literal('packages'),
          apt: noPackages,
          cargo: noPackages,
          gem: noPackages,
          go: noPackages,
          npm: noPackages,
          pip: noPackages,
        }),
      }),
    ]),
    scope: v.literal('organization'),
    created_at: time,
    updated_at: time,
    archived_at: v.nullable(time),
  }),
);

/** A page of environments. */
export const environmentPage: WireSchema<'EnvironmentPage'> = page(
  'EnvironmentPage',
  environmentResponse,
);

/** The response to the deletion of an environment. */
export const environmentDeleted: WireSchema<'EnvironmentDeleted'> = deletion(
  'EnvironmentDeleted',
  'environment_deleted',
);
