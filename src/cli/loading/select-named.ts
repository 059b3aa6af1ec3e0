import { AgentModuleError } from './agent-module-error.ts';

/**
 * Selects the export with a name, or the only one. Undefined: no name was given, and there are none.
 * @param note a sentence for the error that no export has the name
 * @throws AgentModuleError if none has the name, or there are several
 */
export function selectNamed<T extends { readonly name: string }>(
  file: string,
  noun: 'agent' | 'net',
  exports: readonly T[],
  { name, note = '' }: { readonly name: string | undefined; readonly note?: string },
): T | undefined {
  const found = exports.map((one) => one.name);
  const selected = exports.filter((one) => name === undefined || one.name === name);
  if (selected.length > 1) {
    const sentence = `exports ${selected.length} ${noun}s: ${found.join(', ')}. Choose one with --agent NAME.`;
    throw new AgentModuleError(file, 'several_agents', sentence, { found });
  }
  const [only] = selected;
  if (only === undefined && name !== undefined) {
    const sentence = `exports no ${noun} "${name}". Its ${noun}s are: ${found.join(', ') || 'none'}.${note}`;
    throw new AgentModuleError(file, 'not_found', sentence, { found });
  }
  return only;
}
