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
 * Everything that a caller sees of one call, as one line, without signatures, ids and error texts
 * of the provider.
 */
async function outcomeOn(format: WireFormat, turn: WireTurn): Promise<string> {
  await using wire = await openWireModel(format, [turn]);
  const pieces: ModelDelta[] = [];
  const onDelta = (delta: ModelDelta): void => void pieces.push(delta);
  try {
    const { content, finishReason, usage } = await ask(wire.model, { tools: [lookup], onDelta });
    const complete = [contentThinking(content), contentText(content)];
    const streamed = ['thinking', 'text'].map((kind) =>
      pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join(''),
    );
    assert.deepEqual(streamed, complete, 'the deltas add up to the answer');
    return [...content.parts.map(formatPart), finishReason, ...formatUsage(usage)].join('; ');
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    const { kind, retryable, retryAfterMs } = error;
    const retry = retryAfterMs === undefined ? '' : ` after ${retryAfterMs} ms`;
    return `${kind}; ${retryable ? `again${retry}` : 'not again'}`;
  } finally {
    assert.equal(wire.server.requests.length, 1, 'there is one request');
  }
}

function formatPart(part: Part): string {
  if ('functionCall' in part) {
    const { name, args, argsError } = part.functionCall;
    const argsText = argsError === undefined ? JSON.stringify(args) : `not read: ${argsError.raw}`;
    return `${name}(${argsText})`;
  }
  assert.ok('text' in part);
  return part.thought === true ? `(${part.text})` : part.text;
}

function formatUsage(usage: Usage | undefined): readonly string[] {
  return Object.entries(usage ?? {}).map(([name, count]) => `${name} ${count}`);
}

const call = (of: string) => ({ name: 'lookup', args: { of } });
const sealed = { thinking: 'I must look.', thoughtSignature: 'c2VhbGVk' };
const counted = { inputTokens: 100, outputTokens: 30, totalTokens: 130 };

interface Scenario {
  readonly turn: WireTurn;
  /** The expected line for every format, */
  readonly expected: string;
  /** except for these. Each is listed under "Differences between providers" in docs/models.md. */
  readonly exceptions?: Readonly<Record<string, string>>;
}

const failing = (kind: ScriptedError['kind'], retryAfterMs?: number): WireTurn => ({
  error: { kind, ...(retryAfterMs !== undefined && { retryAfterMs }) },
});

const scenarios: Readonly<Record<string, Scenario>> = {
  'a text': { turn: { text: 'Sunny, as ever.' }, expected: 'Sunny, as ever.; stop' },
  'a text of every script, byte by byte': {
    turn: { text: 'Grüße 🌍 — 天気, שלום', bytewise: true },
    expected: 'Grüße 🌍 — 天気, שלום; stop',
  },
  'an empty answer': { turn: { text: '' }, expected: '; stop' },
  'a call': { turn: { toolCalls: [call('a')] }, expected: 'lookup({"of":"a"}); tool_calls' },
  'two calls after a text': {
    turn: { text: 'I look.', toolCalls: [call('a'), call('b')] },
    expected: 'I look.; lookup({"of":"a"}); lookup({"of":"b"}); tool_calls',
  },
  'two calls, byte by byte': {
    turn: { toolCalls: [call('ü'), call('🌍')], bytewise: true },
    expected: 'lookup({"of":"ü"}); lookup({"of":"🌍"}); tool_calls',
  },
  'calls without ids': {
    turn: { toolCalls: [call('a'), call('b')], withoutIds: true },
    expected: 'lookup({"of":"a"}); lookup({"of":"b"}); tool_calls',
  },
  'a call without arguments': {
    turn: { toolCalls: [{ name: 'lookup' }] },
    expected: 'lookup({}); tool_calls',
  },
  'a call of an unknown tool': {
    turn: { toolCalls: [{ name: 'other', args: { a: 1 } }] },
    expected: 'other({"a":1}); tool_calls',
  },
  'a call without a tool name': {
    turn: { toolCalls: [{ name: '' }] },
    expected: 'protocol; not again',
  },
  'arguments that are not JSON': {
    turn: { toolCalls: [{ name: 'lookup', malformedArgs: '{"of": "a' }] },
    expected: 'lookup(not read: {"of": "a); tool_calls',
  },
  'arguments that are no object': {
    turn: { toolCalls: [{ name: 'lookup', malformedArgs: '["a"]' }] },
    expected: 'lookup(not read: ["a"]); tool_calls',
  },
  'thinking and a text': {
    turn: { ...sealed, text: 'Sunny.' },
    expected: '(I must look.); Sunny.; stop',
    exceptions: { 'openai chat': 'Sunny.; stop' },
  },
  'thinking and a call': {
    turn: { ...sealed, toolCalls: [call('a')] },
    expected: '(I must look.); lookup({"of":"a"}); tool_calls',
    exceptions: { 'openai chat': 'lookup({"of":"a"}); tool_calls' },
  },
  usage: {
    turn: { text: 'Yes.', usage: counted },
    expected: 'Yes.; stop; inputTokens 100; outputTokens 30; totalTokens 130',
  },
  'usage with cached tokens': {
    turn: { text: 'Yes.', usage: { ...counted, cacheReadTokens: 60 } },
    expected: 'Yes.; stop; inputTokens 100; outputTokens 30; totalTokens 130; cacheReadTokens 60',
  },
  'usage with thinking tokens': {
    turn: { text: 'Yes.', usage: { ...counted, thinkingTokens: 20 } },
    expected: 'Yes.; stop; inputTokens 100; outputTokens 30; totalTokens 130; thinkingTokens 20',
  },
  'the output limit': {
    turn: { text: 'Sunny and', finishReason: 'max_tokens' },
    expected: 'Sunny and; max_tokens',
  },
  'a refusal': {
    turn: { text: 'I will not', finishReason: 'refusal' },
    expected: 'I will not; refusal',
  },
  'a bad request (400)': { turn: failing('bad_request'), expected: 'bad_request; not again' },
  'an invalid key (401)': { turn: failing('auth'), expected: 'auth; not again' },
  'an unknown model (404)': { turn: failing('not_found'), expected: 'not_found; not again' },
  'a rate limit (429)': { turn: failing('rate_limit'), expected: 'rate_limit; again' },
  'a rate limit, with the wait in the body (Gemini) or in seconds': {
    turn: failing('rate_limit', 7000),
    expected: 'rate_limit; again after 7000 ms',
  },
  'a rate limit, with the wait in milliseconds': {
    turn: { ...failing('rate_limit', 1500), retryHeader: 'retry-after-ms' },
    expected: 'rate_limit; again after 1500 ms',
  },
  'a server error (500)': { turn: failing('server'), expected: 'server; again' },
  'an overloaded server (503, 529)': {
    turn: failing('overloaded', 2000),
    expected: 'overloaded; again after 2000 ms',
  },
  'an HTML response (502)': { turn: { html: 502 }, expected: 'server; again' },
  'no reply': { turn: failing('network'), expected: 'network; again' },
  'a stream that ends before any content': { turn: { cut: 'clean' }, expected: 'truncated; again' },
  'a stream that ends in the text': {
    turn: { text: 'Not all of', cut: 'clean' },
    expected: 'truncated; again',
  },
  'a connection reset in the text': {
    turn: { text: 'Not all of', cut: 'reset' },
    expected: 'truncated; again',
  },
  'a stream that ends in a call': {
    turn: { text: 'I look.', toolCalls: [call('a')], cut: 'in-call' },
    expected: 'truncated; again',
  },
  'a frame that is not JSON': {
    turn: { text: 'Well,', garbage: true },
    expected: 'protocol; not again',
  },
  'an overload error in the text': {
    turn: { text: 'Well,', ...failing('overloaded') },
    expected: 'overloaded; again',
  },
  'a rate limit error in the text': {
    turn: { text: 'Well,', ...failing('rate_limit') },
    expected: 'rate_limit; again',
  },
};

describe('the same model turn gives the same result on every wire format', () => {
  for (const [name, { turn, expected, exceptions = {} }] of Object.entries(scenarios)) {
    it(name, async () => {
      for (const format of wireFormats) {
        assert.equal(
          await outcomeOn(format, turn),
          exceptions[format.name] ?? expected,
          format.name,
        );
      }
    });
  }

  it('docs/models.md lists the differences between the formats', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/models.md'), 'utf8');
    const [, rest = ''] = page.split('## Differences between providers');
    const [table = ''] = rest.split('\n## ');
    for (const name of Object.values(scenarios).flatMap(({ exceptions = {} }) =>
      Object.keys(exceptions),
    )) {
      assert.match(table, new RegExp(`^\\| ${name} +\\|`, 'm'));
    }
  });
});
