import * as v from 'valibot';
import { InvalidInputError, parseJsonWithSchema } from '../../core/index.ts';
import type { ManagedAgentDef } from '../interface/agent-def.ts';
import type { SessionEnvironment } from '../interface/managed-runtime.ts';

const schema = v.strictObject({
  env: v.exactOptional(v.record(v.string(), v.string('must be text'))),
  workingFolder: v.exactOptional(v.pipe(v.string(), v.nonEmpty('must not be empty'))),
  selfHosted: v.exactOptional(v.boolean()),
});

/**
 * Reads a session's environment. What no tool of the agent would see is refused, not ignored.
 * @throws InvalidInputError
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
  const environment: SessionEnvironment = {
    ...(Object.keys(env).length > 0 && { env }),
    ...(workingFolder !== undefined && { workingFolder }),
    ...(selfHosted === true && { selfHosted }),
  };
  const [field] = Object.keys(environment);
  if (field !== undefined && tools.every(({ type }) => type === 'custom'))
    throw new InvalidInputError(
      `environment.${field}`,
      'changes nothing: this agent has no built-in tool. Leave it out.',
    );
  return environment;
}
