import { ScriptedModel } from 'petrichor/testing';

/** Models that need no API key. This one asks for the weather of the last word of the message. */
export const researcherModel = (): ScriptedModel =>
  new ScriptedModel(({ contents }) => {
    const [part] = contents.at(-1)?.parts ?? [];
    if (part !== undefined && 'functionResponse' in part)
      return { text: JSON.stringify(part.functionResponse.response) };
    const text = part !== undefined && 'text' in part ? part.text : '';
    return {
      toolCalls: [{ name: 'weather', args: { city: text.trim().split(/\s+/).at(-1) ?? '' } }],
    };
  });

/** Repeats the facts of its instruction. */
export const writerModel = (): ScriptedModel =>
  new ScriptedModel(({ instruction }) => ({
    text: `Pack a coat: ${/\{.*\}/.exec(instruction ?? '')?.[0] ?? 'no facts'}`,
  }));
