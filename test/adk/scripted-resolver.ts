import { contentText } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model, ModelScript } from '../../src/models/index.ts';

/** In place of every model that an agent names: one that follows a script. */
export function scriptedResolver(script: ModelScript = echo): (name: string) => Promise<Model> {
  return async (name) => new ScriptedModel(script, { name });
}

/** Says back what it was told last. */
export const echo: Extract<ModelScript, (...of: never) => unknown> = ({ contents }) => ({
  text: `You said: ${contentText(contents.findLast(({ role }) => role === 'user'))}`,
});
