import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError, resolveModel } from '../../src/models/index.ts';
import type { Model, ToolDeclaration } from '../../src/models/index.ts';
import { ask } from './wire-model.ts';
import { wireEnv } from './wire/wire-server.ts';
import { wireFormats } from './wire/wire-formats.ts';
import type { WireFormat } from './wire/wire-format.ts';

const lookup: ToolDeclaration = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { of: { type: 'string' } } },
};

/** The stream is cut at every `EVERY`th byte. */
const STRIDE_BYTES = 13;

for (const format of wireFormats) {
  test(`a stream of ${format.name} that ends at any byte gives the whole answer or a truncated error`, async () => {
    const { head, deltas, calls, tail } = format.stream({
      text: 'Grüße 🌍',
      toolCalls: [{ name: 'lookup', args: { of: 'ä' }, id: 'id_1' }],
    });
    const bytes = Buffer.from([...head, ...deltas, ...calls, ...tail].join(''));
    const fullAnswer = await parseStream(bytes, format);
    assert.match(fullAnswer, /Grüße 🌍.*lookup.*ä.*tool_calls/);
    const outcomes = new Set<string>();
    for (let end = 0; end < bytes.length; end += STRIDE_BYTES) {
      outcomes.add(await parseStream(bytes.subarray(0, end), format));
    }
    outcomes.delete(fullAnswer);
    assert.deepEqual([...outcomes], ['truncated']);
  });
}

async function parseStream(bytes: Uint8Array, format: WireFormat): Promise<string> {
  try {
    const { content, finishReason } = await ask(await modelWithStream(bytes, format), {
      tools: [lookup],
    });
    return JSON.stringify([content, finishReason]);
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    return error.kind;
  }
}

async function modelWithStream(bytes: Uint8Array, format: WireFormat): Promise<Model> {
  return resolveModel(format.ref('http://127.0.0.1:1/v1'), {
    env: wireEnv(format, 'http://127.0.0.1:1/v1'),
    fetch: async () =>
      new Response(bytes.slice(), { headers: { 'content-type': 'text/event-stream' } }),
  });
}
