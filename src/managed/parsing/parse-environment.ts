import { omitUndefined } from '../../core/internal.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import type { ManagedAgentDef } from '../interface/agent-def.ts';
import type { SessionEnvironment } from '../interface/managed-runtime.ts';

const schema = v.strictObject({
  env: v.exactOptional(v.record(v.string(), v.string('must be text'))),
  workingFolder: v.exactOptional(v.pipe(v.string(), v.nonEmpty('must not be empty'))),
  selfHosted: v.exactOptional(v.boolean()),
});

/**
 * Parses a session's environment. An option that no tool of the agent uses is rejected.
 * @throws InvalidInputError naming the invalid field
 */
export function parseEnvironment(
  value: SessionEnvironment | undefined,
  { tools = [] }: ManagedAgentDef,
): SessionEnvironment {
  const {
    env = {},
    workingFolder,
    selfHosted,
  } = parseJsonWithSchema(schema, value ?? {}, 'environment');
  const environment: SessionEnvironment = omitUndefined({
    env: Object.keys(env).length > 0 ? env : undefined,
    workingFolder,
    selfHosted: selfHosted === true ? selfHosted : undefined,
  });
  const [field] = Object.keys(environment);
  if (field !== undefined && tools.every(({ type }) => type === 'custom'))
    throw new InvalidInputError(
      `environment.${field}`,
      'has no effect, because this agent has no built-in tool: omit it.',
    );
  return environment;
}
