import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { contentText, contentThinking } from '../../src/core/index.ts';
import type { Part, Usage } from '../../src/core/index.ts';
import { ModelError } from '../../src/models/index.ts';
import type { ModelDelta, ScriptedError, ToolDeclaration } from '../../src/models/index.ts';
import { ask, openWireModel } from './wire-model.ts';
import type { WireFormat } from './wire/wire-format.ts';
import { wireFormats } from './wire/wire-formats.ts';
import type { WireTurn } from './wire/wire-turn.ts';

const lookup: ToolDeclaration = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { of: { type: 'string' } } },
};

/**
 * Everything a caller sees of one call, in a line; but what only the provider understands: its seals, its ids, its own
 * words.
 */
async function outcomeOn(format: WireFormat, turn: WireTurn): Promise<string> {
  await using wire = await openWireModel(format, [turn]);
  const pieces: ModelDelta[] = [];
  const onDelta = (delta: ModelDelta): void => void pieces.push(delta);
  try {
    const { content, finishReason, usage } = await ask(wire.model, { tools: [lookup], onDelta });
    const spoken = [contentThinking(content), contentText(content)];
    const heard = ['thinking', 'text'].map((kind) =>
      pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join(''),
    );
    assert.deepEqual(heard, spoken, 'the pieces are the answer');
    return [...content.parts.map(inWords), finishReason, ...countIn(usage)].join('; ');
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    const { kind, retryable, retryAfterMs } = error;
    const again = retryAfterMs === undefined ? '' : ` after ${retryAfterMs} ms`;
    return `${kind}; ${retryable ? `again${again}` : 'not again'}`;
  } finally {
    assert.equal(wire.server.requests.length, 1, 'it is asked once');
  }
}

function inWords(part: Part): string {
  if ('functionCall' in part) {
    const { name, args, argsError } = part.functionCall;
    const written = argsError === undefined ? JSON.stringify(args) : `not read: ${argsError.raw}`;
    return `${name}(${written})`;
  }
  assert.ok('text' in part);
  return part.thought === true ? `(${part.text})` : part.text;
}

function countIn(usage: Usage | undefined): readonly string[] {
  return Object.entries(usage ?? {}).map(([name, count]) => `${name} ${count}`);
}

const call = (of: string) => ({ name: 'lookup', args: { of } });
const sealed = { thinking: 'I must look.', thoughtSignature: 'c2VhbGVk' };
const counted = { inputTokens: 100, outputTokens: 30, totalTokens: 130 };

interface Scenario {
  readonly turn: WireTurn;
  /** What every caller sees. */
  readonly is: string;
  /** But of these. Each has a line under "Differences between providers" in docs/models.md. */
  readonly but?: Readonly<Record<string, string>>;
}

const failing = (kind: ScriptedError['kind'], retryAfterMs?: number): WireTurn => ({
  error: { kind, ...(retryAfterMs !== undefined && { retryAfterMs }) },
});

const scenarios: Readonly<Record<string, Scenario>> = {
  'a text': { turn: { text: 'Sunny, as ever.' }, is: 'Sunny, as ever.; stop' },
  'a text of every script, byte by byte': {
    turn: { text: 'Grüße 🌍 — 天気, שלום', bytewise: true },
    is: 'Grüße 🌍 — 天気, שלום; stop',
  },
  'an answer of nothing': { turn: { text: '' }, is: '; stop' },
  'a call': { turn: { toolCalls: [call('a')] }, is: 'lookup({"of":"a"}); tool_calls' },
  'two calls after a text': {
    turn: { text: 'I look.', toolCalls: [call('a'), call('b')] },
    is: 'I look.; lookup({"of":"a"}); lookup({"of":"b"}); tool_calls',
  },
  'two calls, byte by byte': {
    turn: { toolCalls: [call('ü'), call('🌍')], bytewise: true },
    is: 'lookup({"of":"ü"}); lookup({"of":"🌍"}); tool_calls',
  },
  'calls without ids': {
    turn: { toolCalls: [call('a'), call('b')], withoutIds: true },
    is: 'lookup({"of":"a"}); lookup({"of":"b"}); tool_calls',
  },
  'a call without arguments': {
    turn: { toolCalls: [{ name: 'lookup' }] },
    is: 'lookup({}); tool_calls',
  },
  'a call of a tool that nobody told it of': {
    turn: { toolCalls: [{ name: 'other', args: { a: 1 } }] },
    is: 'other({"a":1}); tool_calls',
  },
  'a call of nothing': { turn: { toolCalls: [{ name: '' }] }, is: 'protocol; not again' },
  'arguments that are not JSON': {
    turn: { toolCalls: [{ name: 'lookup', malformedArgs: '{"of": "a' }] },
    is: 'lookup(not read: {"of": "a); tool_calls',
  },
  'arguments that are no object': {
    turn: { toolCalls: [{ name: 'lookup', malformedArgs: '["a"]' }] },
    is: 'lookup(not read: ["a"]); tool_calls',
  },
  'thinking and a text': {
    turn: { ...sealed, text: 'Sunny.' },
    is: '(I must look.); Sunny.; stop',
    but: { 'openai chat': 'Sunny.; stop' },
  },
  'thinking and a call': {
    turn: { ...sealed, toolCalls: [call('a')] },
    is: '(I must look.); lookup({"of":"a"}); tool_calls',
    but: { 'openai chat': 'lookup({"of":"a"}); tool_calls' },
  },
  'what was counted': {
    turn: { text: 'Yes.', usage: counted },
    is: 'Yes.; stop; inputTokens 100; outputTokens 30; totalTokens 130',
  },
  'what was cached': {
    turn: { text: 'Yes.', usage: { ...counted, cacheReadTokens: 60 } },
    is: 'Yes.; stop; inputTokens 100; outputTokens 30; totalTokens 130; cacheReadTokens 60',
  },
  'what was thought': {
    turn: { text: 'Yes.', usage: { ...counted, thinkingTokens: 20 } },
    is: 'Yes.; stop; inputTokens 100; outputTokens 30; totalTokens 130; thinkingTokens 20',
  },
  'the limit of its length': {
    turn: { text: 'Sunny and', finishReason: 'max_tokens' },
    is: 'Sunny and; max_tokens',
  },
  'a refusal': {
    turn: { text: 'I will not', finishReason: 'refusal' },
    is: 'I will not; refusal',
  },
  'a bad request (400)': { turn: failing('bad_request'), is: 'bad_request; not again' },
  'a wrong key (401)': { turn: failing('auth'), is: 'auth; not again' },
  'a model that is not there (404)': { turn: failing('not_found'), is: 'not_found; not again' },
  'a limit of the rate (429)': { turn: failing('rate_limit'), is: 'rate_limit; again' },
  'a limit of the rate, with the wait in the body (Gemini) or in seconds': {
    turn: failing('rate_limit', 7000),
    is: 'rate_limit; again after 7000 ms',
  },
  'a limit of the rate, with the wait in milliseconds': {
    turn: { ...failing('rate_limit', 1500), retryHeader: 'retry-after-ms' },
    is: 'rate_limit; again after 1500 ms',
  },
  'a fault of the server (500)': { turn: failing('server'), is: 'server; again' },
  'a server under load (503, 529)': {
    turn: failing('overloaded', 2000),
    is: 'overloaded; again after 2000 ms',
  },
  'a page of HTML (502)': { turn: { html: 502 }, is: 'server; again' },
  'no reply': { turn: failing('network'), is: 'network; again' },
  'an end before anything': { turn: { cut: 'clean' }, is: 'truncated; again' },
  'an end in the text': { turn: { text: 'Not all of', cut: 'clean' }, is: 'truncated; again' },
  'a connection reset in the text': {
    turn: { text: 'Not all of', cut: 'reset' },
    is: 'truncated; again',
  },
  'an end in a call': {
    turn: { text: 'I look.', toolCalls: [call('a')], cut: 'in-call' },
    is: 'truncated; again',
  },
  'a frame that is not JSON': { turn: { text: 'Well,', garbage: true }, is: 'protocol; not again' },
  'a server under load, in the text': {
    turn: { text: 'Well,', ...failing('overloaded') },
    is: 'overloaded; again',
  },
  'a limit of the rate, in the text': {
    turn: { text: 'Well,', ...failing('rate_limit') },
    is: 'rate_limit; again',
  },
};

describe('the same turn of a model is the same on every wire', () => {
  for (const [name, { turn, is, but = {} }] of Object.entries(scenarios)) {
    it(name, async () => {
      for (const format of wireFormats) {
        assert.equal(await outcomeOn(format, turn), but[format.name] ?? is, format.name);
      }
    });
  }

  it('except for the differences that docs/models.md lists', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/models.md'), 'utf8');
    const [, rest = ''] = page.split('## Differences between providers');
    const [table = ''] = rest.split('\n## ');
    for (const name of Object.values(scenarios).flatMap(({ but = {} }) => Object.keys(but))) {
      assert.match(table, new RegExp(`^\\| ${name} +\\|`, 'm'));
    }
  });
});
