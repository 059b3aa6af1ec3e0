import { omitUndefined, readOwn } from '../../core/internal.ts';
import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import type { PermissionMode, PermissionPolicy } from '../interface/agent-def.ts';

const MODES = {
  auto_approve: 'auto_approve',
  prompt: 'prompt',
  deny: 'deny',
  always_allow: 'auto_approve',
  always_ask: 'prompt',
  // The protocol lets a classifier decide. Asking a person is always safe.
  auto: 'prompt',
} as const satisfies Readonly<Record<string, PermissionMode>>;

type ModeName = keyof typeof MODES;

const MODE_NAMES: readonly ModeName[] = [
  'auto_approve',
  'prompt',
  'deny',
  'always_allow',
  'always_ask',
  'auto',
];

const mode: v.GenericSchema<unknown, PermissionMode> = v.pipe(
  v.picklist(MODE_NAMES, 'must be auto_approve, prompt or deny'),
  v.transform((word) => MODES[word]),
);

/** A policy in the form of the Managed Agents protocol: `{ type: 'always_ask' }`. */
const typed = v.object({
  type: v.pipe(
    v.picklist(['always_allow', 'always_ask', 'auto'], 'must be always_allow, always_ask or auto'),
    v.transform((word): PermissionMode => MODES[word]),
  ),
});

/** The policy of an agent: `{ default, tools }`, or `{ type }` for all of its tools. */
export const permissionPolicy: v.GenericSchema<unknown, PermissionPolicy> = v.pipe(
  v.union(
    [v.object({ default: mode, tools: v.optional(v.record(v.string(), mode), {}) }), typed],
    'must be { default, tools } or { type }',
  ),
  v.transform((policy) => ('type' in policy ? { default: policy.type } : omitEmptyTools(policy))),
);

/** The policy of one tool: `{ type: 'always_ask' }` or `{ default: 'prompt' }`. */
const toolPolicy: v.GenericSchema<unknown, PermissionMode> = v.pipe(
  v.union(
    [typed, v.object({ default: mode })],
    'must be { type } with always_allow, always_ask or auto, or { default } with auto_approve, prompt or deny',
  ),
  v.transform((policy) => ('type' in policy ? policy.type : policy.default)),
);

/** The fields of a tool that affect its permission. */
export interface ToolRule {
  readonly enabled?: boolean | null | undefined;
  readonly permission_policy?: PermissionMode | null | undefined;
}

/** Whether the tool is offered, and whether a person must approve its calls. */
export const toolRule: {
  readonly enabled: v.NullishSchema<v.GenericSchema<unknown, boolean>, undefined>;
  readonly permission_policy: v.NullishSchema<typeof toolPolicy, undefined>;
} = {
  enabled: v.nullish(v.boolean('must be true or false')),
  permission_policy: v.nullish(toolPolicy),
};

/** The mode from a tool's own fields; `undefined` if they set none. */
export function toMode({ enabled, permission_policy: mode }: ToolRule): PermissionMode | undefined {
  return enabled === false ? 'deny' : (mode ?? undefined);
}

/**
 * Merges a policy with the modes that single tools set. Returns `undefined` if nothing is set.
 * @throws InvalidInputError if both name a tool and differ
 */
export function withToolRules(
  policy: PermissionPolicy | undefined,
  rules: Readonly<Record<string, PermissionMode>>,
  field: string,
): PermissionPolicy | undefined {
  if (policy === undefined && Object.keys(rules).length === 0) return undefined;
  for (const [name, mode] of Object.entries(policy?.tools ?? {})) {
    const own = readOwn(rules, name);
    if (own !== undefined && own !== mode)
      throw new InvalidInputError(
        `${field}.permission_policy.tools.${name}`,
        `is ${mode}, but the tool itself sets ${own}: set it in one place.`,
      );
  }
  return omitEmptyTools({
    default: policy?.default ?? 'auto_approve',
    tools: { ...policy?.tools, ...rules },
  });
}

function omitEmptyTools({ default: general, tools = {} }: PermissionPolicy): PermissionPolicy {
  return {
    default: general,
    ...omitUndefined({ tools: Object.keys(tools).length > 0 ? tools : undefined }),
  };
}
