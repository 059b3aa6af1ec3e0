import { ScriptedModel } from 'petrichor/testing';

/** A model that needs no API key. It looks up the last word of each message, then orders it. */
export const demoModel = (): ScriptedModel =>
  new ScriptedModel(({ contents }) => {
    const [part] = contents.at(-1)?.parts ?? [];
    if (part === undefined) return { text: 'Which item?' };
    if ('text' in part) {
      const item = part.text.trim().split(/\s+/).at(-1) ?? '';
      return { text: `I will look up ${item}.`, toolCalls: [{ name: 'price', args: { item } }] };
    }
    if (!('functionResponse' in part) || part.functionResponse.name !== 'price')
      return { text: 'That is all.' };
    const call = contents.at(-2)?.parts.find((one) => 'functionCall' in one);
    const args = call !== undefined && 'functionCall' in call ? call.functionCall.args : {};
    return { text: 'Shall I order it?', toolCalls: [{ name: 'order', args }] };
  });
