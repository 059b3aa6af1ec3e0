import { contentText } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model, ModelScript } from '../../src/models/index.ts';

/** Resolves every model name to a model that follows a script. */
export function scriptedResolver(script: ModelScript = echo): (name: string) => Promise<Model> {
  return async (name) => new ScriptedModel(script, { name });
}

/** Repeats the last message. */
export const echo: Extract<ModelScript, (...of: never) => unknown> = ({ contents }) => ({
  text: `You said: ${contentText(contents.findLast(({ role }) => role === 'user'))}`,
});
