import { textOf } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model, Script } from '../../src/models/index.ts';

/** In place of every model that an agent names: one that follows a script. */
export function scriptedResolver(script: Script = echo): (name: string) => Promise<Model> {
  return async (name) => new ScriptedModel(script, { name });
}

/** Says back what it was told last. */
export const echo: Extract<Script, (...of: never) => unknown> = ({ contents }) => ({
  text: `You said: ${textOf(contents.findLast(({ role }) => role === 'user'))}`,
});
