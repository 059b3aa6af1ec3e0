/**
 * The agent of the nodes of a fleet. `note` may not run twice; `look` may, because it only reads; `sign` may not run
 * twice and waits for an approval. Each appends a line to a file when it starts and when it is done. Servers of an
 * earlier release load this file too, so it uses little.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFunctionResponsePart, isTextPart } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model } from '../../src/models/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';

const effectsFile = process.env['SIDE_EFFECTS'] ?? '';
const toolMs = Number(process.env['TOOL_MS'] ?? 25);
const parameters = { type: 'object', properties: { text: { type: 'string' } } } as const;

async function work(name: string, text: string): Promise<string> {
  const write = (what: string): void =>
    appendFileSync(
      effectsFile,
      `${JSON.stringify({ what, call: `${name} ${text}`, at: Date.now() })}\n`,
    );
  write('began');
  await sleep(toolMs);
  write('did');
  return `${name} ${text}`;
}

export const tools: readonly Tool[] = [
  tool({
    name: 'note',
    description: 'Writes something down',
    parameters,
    execute: async ({ text }) => work('note', String(text)),
  }),
  tool({
    name: 'look',
    description: 'Looks something up',
    parameters,
    readOnly: true,
    execute: async ({ text }) => work('look', String(text)),
  }),
  tool({
    name: 'sign',
    description: 'Signs something',
    parameters,
    execute: async ({ text }) => work('sign', String(text)),
  }),
];

/** `work X`: two tools in parallel, then one, then an answer in pieces. `sign X`: one tool, then an answer. */
export const resolver = async (): Promise<Model> =>
  new ScriptedModel(({ contents }) => {
    const user = contents.findLastIndex(
      ({ role, parts }) => role === 'user' && !parts.some(isFunctionResponsePart),
    );
    // A message that was given up has no answer, and is in the same content as the one after it.
    const message = contents[user]?.parts.findLast(isTextPart)?.text ?? '';
    const [task = '', text = ''] = message.split(' ');
    const rounds = contents
      .slice(user)
      .filter(({ parts }) => parts.some(isFunctionResponsePart)).length;
    const call = (name: string, round: number): { name: string; args: { text: string } } => ({
      name,
      args: { text: `${text}-${round}` },
    });
    if (task === 'sign' && rounds === 0) return { toolCalls: [call('sign', 1)] };
    if (task === 'work' && rounds === 0) return { toolCalls: [call('note', 1), call('look', 1)] };
    if (task === 'work' && rounds === 1) return { toolCalls: [call('note', 2)] };
    return { text: `Done: ${text}.`, deltas: ['Done: ', text, '.'], deltaDelayMs: 5 };
  });

export const agents: readonly object[] = [
  {
    name: 'Fleet',
    model: 'gemini-2.5-flash',
    tools: tools.map(({ name }) => ({ type: 'builtin', name })),
    permission_policy: { default: 'auto_approve', tools: { sign: 'prompt' } },
  },
];
