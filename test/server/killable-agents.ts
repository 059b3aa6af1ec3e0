/**
 * The agent of servers that tests kill: its turn has two rounds of tools. `note` may not run twice; `look` may, because
 * it only reads. Each appends to a file when it starts and when it is done. With `HOLD_NOTES=1`, no `note` ends in this
 * process, so that a kill during one is always during the turn.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isFunctionResponsePart, isTextPart } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model, ModelScript } from '../../src/models/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';
import { SideEffects } from '../crash/side-effects.ts';

const effects = new SideEffects(process.env['SIDE_EFFECTS'] ?? '', process.pid);
const parameters = { type: 'object', properties: { text: { type: 'string' } } } as const;

async function work(name: string, text: string, attempt: number): Promise<string> {
  effects.note({ what: 'began', tool: name, callId: text, attempt });
  if (name === 'note' && process.env['HOLD_NOTES'] === '1') await new Promise(() => undefined);
  await sleep(25);
  effects.note({ what: 'did', tool: name, callId: text, attempt });
  return `${name} ${text}`;
}

export const tools: readonly Tool[] = [
  tool({
    name: 'note',
    description: 'Writes something down',
    parameters,
    execute: async ({ text }, { attempt }) => work('note', String(text), attempt),
  }),
  tool({
    name: 'look',
    description: 'Looks something up',
    parameters,
    readOnly: true,
    execute: async ({ text }, { attempt }) => work('look', String(text), attempt),
  }),
];

/** `work X`: two tools in parallel, then one, then an answer in pieces. */
const script: ModelScript = ({ contents }) => {
  const user = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && !parts.some(isFunctionResponsePart),
  );
  const message =
    contents[user]?.parts.map((part) => (isTextPart(part) ? part.text : '')).join('') ?? '';
  const text = message.replace(/^work /, '');
  const rounds = contents
    .slice(user)
    .filter(({ parts }) => parts.some(isFunctionResponsePart)).length;
  if (rounds === 0) return { toolCalls: [call('note', `${text}-1`), call('look', `${text}-1`)] };
  if (rounds === 1) return { toolCalls: [call('note', `${text}-2`)] };
  return { text: `Done: ${text}.`, deltas: ['Done: ', text, '.'], deltaDelayMs: 5 };
};

function call(
  name: string,
  text: string,
): { readonly name: string; readonly args: { readonly text: string } } {
  return { name, args: { text } };
}

export const resolver = async (): Promise<Model> => new ScriptedModel(script);

export const agents: readonly object[] = [
  {
    name: 'Mortal',
    model: 'gemini-2.5-flash',
    tools: tools.map(({ name }) => ({ type: 'builtin', name })),
  },
];
