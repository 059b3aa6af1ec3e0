import { ScriptedModel } from 'petrichor/testing';

/** A model that needs no API key. It asks to delete the last word of each message. */
export const demoModel = (): ScriptedModel =>
  new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    const [part] = last?.parts ?? [];
    if (last?.role === 'user' && part !== undefined && 'text' in part) {
      const path = part.text.trim().split(/\s+/).at(-1) ?? '';
      return {
        text: `I will delete ${path}.`,
        toolCalls: [{ name: 'delete_file', args: { path } }],
      };
    }
    return { text: 'That is all.' };
  });
