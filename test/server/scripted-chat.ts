import { isFunctionResponsePart, isTextPart } from '../../src/core/index.ts';
import type { JsonObject } from '../../src/core/index.ts';
import type { ModelScript } from '../../src/models/index.ts';

/**
 * Follows the last message: `call NAME ARGS` calls a tool (with JSON without spaces, or with a path), `call NAME ARGS
 * and NAME ARGS` two in parallel, `slowly N` streams N words a few milliseconds apart, `think` thinks first, `fail`
 * fails. Any other message is repeated.
 */
export const scriptedChat: ModelScript = ({ contents }) => {
  const parts = contents.at(-1)?.parts ?? [];
  if (parts.some(isFunctionResponsePart)) {
    const results = parts.filter(isFunctionResponsePart);
    const responses = results.map(({ functionResponse }) =>
      JSON.stringify(functionResponse.response),
    );
    return { text: `Results: ${responses.join(' ')}` };
  }
  const message = parts.flatMap((part) => (isTextPart(part) ? [part.text] : [])).join(' ');
  const calls = /^call (.*)$/.exec(message)?.[1];
  if (calls !== undefined) return { toolCalls: calls.split(' and ').map(callIn) };
  const wordCount = /^slowly (\d+)$/.exec(message)?.[1];
  if (wordCount !== undefined)
    return {
      deltas: Array.from({ length: Number(wordCount) }, (_, index) => `word ${index} `),
      deltaDelayMs: 20,
      text: Array.from({ length: Number(wordCount) }, (_, index) => `word ${index} `).join(''),
    };
  if (message === 'think') return { thinking: 'Hm.', text: 'Yes.' };
  if (message === 'fail')
    return { error: { kind: 'bad_request', message: 'That cannot be asked.' } };
  return {
    text: `You said: ${message}`,
    usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
  };
};

function callIn(text: string): { readonly name: string; readonly args: JsonObject } {
  const [name = '', args = ''] = text.split(' ');
  return { name, args: args.startsWith('{') ? (JSON.parse(args) as JsonObject) : { path: args } };
}
