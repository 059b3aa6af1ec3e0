import { checkOptions } from '../../core/index.ts';
import type { AgentSource } from '../../runtime/index.ts';
import { DEFINITION_OPTIONS } from './definition-options.ts';
import type { DefinitionOptions } from './definition-options.ts';
import { DefinitionSource } from './definition-source.ts';

/**
 * The stored definitions of agents, for a runtime that also runs agents from code. `manageRuntime` and a server over
 * that runtime create and change the definitions.
 * @throws InvalidInputError if an option is invalid
 * @example
 * const runtime = await openRuntime({ agents: [assistant, definitions({ env: process.env })], store });
 */
export function definitions(options: DefinitionOptions = {}): AgentSource {
  checkOptions(DEFINITION_OPTIONS, options);
  return new DefinitionSource(options);
}
