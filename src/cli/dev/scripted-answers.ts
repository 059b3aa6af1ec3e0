import { isJsonObject } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { Model } from '../../models/index.ts';

/**
 * A model that answers without a key, so that an agent can be tried: it repeats a message, and calls a tool when the
 * message is `call NAME` with its arguments as JSON.
 * @param why the first sentence of its answers
 */
export function createScriptedAnswers(why: string): Model {
  return new ScriptedModel(
    ({ contents, tools }) => {
      const parts = contents.at(-1)?.parts ?? [];
      const results = parts.flatMap((part) =>
        'functionResponse' in part ? (part.functionResponse ?? []) : [],
      );
      if (results.length > 0) {
        const shown = results.map(({ name, response }) => `${name}: ${JSON.stringify(response)}`);
        return toTurn(`The result is here. ${shown.join(' ')}`);
      }
      const message = parts.map((part) => ('text' in part ? part.text : '')).join('');
      const [, name = '', args = '{}'] = /^call (\S+)\s*(\{.*\})?\s*$/s.exec(message) ?? [];
      if (name === '') {
        const names = tools.map((tool) => tool.name);
        const hint =
          names.length === 0 ? '' : ` To call a tool, write: call ${names.join(' | call ')}`;
        return toTurn(`${why} You wrote: ${message}${hint}`);
      }
      const parsed = parseArgs(args);
      if (parsed === undefined) return toTurn(`These arguments are not JSON: ${args}`);
      return { toolCalls: [{ name, args: parsed }] };
    },
    { name: 'scripted' },
  );
}

/** Word by word, so that streaming can be seen. */
function toTurn(text: string): { readonly text: string; readonly deltas: readonly string[] } {
  return { text, deltas: text.match(/\S+\s*|\s+/g) ?? [] };
}

function parseArgs(text: string): JsonObject | undefined {
  try {
    const args: unknown = JSON.parse(text);
    return isJsonObject(args) ? args : undefined;
  } catch {
    return undefined;
  }
}
