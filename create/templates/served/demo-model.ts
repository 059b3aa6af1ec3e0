import { ScriptedModel } from 'petrichor/testing';

/** A model that needs no API key. It cancels the order whose id ends the message, or looks it up. */
export const demoModel = (): ScriptedModel =>
  new ScriptedModel(({ contents }) => {
    const [part] = contents.at(-1)?.parts ?? [];
    if (part === undefined || !('text' in part)) return { text: 'That is all.' };
    const id = part.text.trim().split(/\s+/).at(-1) ?? '';
    const name = /cancel/i.test(part.text) ? 'cancel_order' : 'order_status';
    return { toolCalls: [{ name, args: { id } }] };
  });
