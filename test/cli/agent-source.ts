const source = (path: string): string => new URL(`../../src/${path}`, import.meta.url).href;

/**
 * The text of an agent module for tests. Its model does what the last message says: `delete X`
 * calls a tool that needs approval, `read X` one that does not, `wait` one that ends only when it
 * is stopped, `ask` one whose result comes from outside, `order` one that asks a question; `fail`
 * fails; any other message is repeated. Every run of a tool adds a line to `runs.log` beside the
 * module.
 */
export const agentSource: string = `
import { appendFileSync } from 'node:fs';
import { agent, tool } from '${source('index.ts')}';
import { ScriptedModel } from '${source('testing/index.ts')}';
import { pending } from '${source('tools/index.ts')}';

const ran = (line) => appendFileSync(new URL('runs.log', import.meta.url), line + '\\n');
const path = { type: 'object', properties: { path: { type: 'string' } } };
const until = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
const tools = [
  tool({ name: 'delete_file', description: 'd', needsApproval: true, parameters: path, execute: ({ path }) => { ran('delete ' + path); } }),
  tool({ name: 'read_file', description: 'd', readOnly: true, parameters: path, execute: ({ path }) => { ran('read ' + path); return 'text of ' + path; } }),
  tool({ name: 'wait', description: 'd', readOnly: true, execute: async (_, { signal, attempt, progress }) => { ran('wait ' + attempt); progress('waiting'); if (attempt > 1) return 'waited'; await until(signal); } }),
  tool({ name: 'ask', description: 'd' }),
  tool({ name: 'order', description: 'd', execute: (_, { answer }) => answer === undefined ? pending({ request: 'Which colour?', resume: null }) : answer.response.colour }),
];
const call = (name, args = {}) => ({ toolCalls: [{ name, args }] });

export const model = new ScriptedModel(({ contents }) => {
  const last = contents.at(-1);
  const results = last.parts.flatMap((part) => part.functionResponse ?? []);
  if (results.length > 0) return { text: 'Then: ' + results.map(({ response }) => JSON.stringify(response)).join(' ') };
  const said = last.parts.map(({ text }) => text).join('');
  const [word, ...names] = said.split(' ');
  switch (word) {
    case 'delete': return { text: 'Deleting.', toolCalls: names.map((name) => ({ name: 'delete_file', args: { path: name } })) };
    case 'read': return { toolCalls: names.map((name) => ({ name: 'read_file', args: { path: name } })) };
    case 'wait': case 'ask': case 'order': return call(word);
    case 'fail': return { error: { kind: 'bad_request', message: 'nothing works today' } };
    case 'ring': return { text: 'bell\\u0007 \\u001b[2Jcleared', deltas: ['bell\\u0007 \\u001b', '[2Jcleared'] };
    default: return { text: 'You said: ' + said };
  }
});

export const assistant = agent({ name: 'assistant', model, tools });
`;
