import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { getFunctionCalls, contentText } from '../../src/core/index.ts';
import type { Content } from '../../src/core/index.ts';
import { ModelError, withCallIds } from '../../src/models/index.ts';
import type { ModelDelta, ToolDeclaration } from '../../src/models/index.ts';
import { ask, getError, openWireModel } from './wire-model.ts';
import { wireFormats } from './wire/wire-formats.ts';

const lookup: ToolDeclaration = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
};

for (const format of wireFormats) {
  describe(`the wire format of ${format.name}`, () => {
    it('delivers each delta without waiting for the next', async () => {
      const pieces = ['one ', 'two ', 'three ', 'four'];
      const turn = { deltas: pieces, held: true } as const;
      await using wire = await openWireModel(format, [turn]);
      const { model, server } = wire;
      const seen: string[] = [];
      // The server holds each delta back until the previous one was received.
      const onDelta = ({ text }: ModelDelta): void => {
        seen.push(text);
        server.release();
      };
      server.release();
      const answer = await ask(model, { onDelta });
      assert.deepEqual(seen, pieces);
      assert.equal(contentText(answer.content), pieces.join(''));
    });

    it('gives the same answer when the stream arrives byte by byte', async () => {
      const text = 'Grüße 🌍 天気';
      await using wire = await openWireModel(format, [{ text, bytewise: true }]);
      const pieces: string[] = [];
      const answer = await ask(wire.model, { onDelta: (delta) => pieces.push(delta.text) });
      assert.equal(contentText(answer.content), text);
      assert.equal(pieces.join(''), text);
    });

    for (const cut of ['clean', 'reset'] as const) {
      it(`reports an answer that is cut off in its text (${cut}) as a retryable error`, async () => {
        await using wire = await openWireModel(format, [{ text: 'Not all of', cut }]);
        const { kind, retryable } = await getError(wire.model);
        assert.deepEqual([kind, retryable], ['truncated', true]);
      });
    }

    it('reports an answer that is cut off in a call as an error, never as a call', async () => {
      const toolCalls = [{ name: 'lookup', args: { of: 'x' } }];
      const turns = [{ text: 'Let me see.', toolCalls, cut: 'in-call' }] as const;
      await using wire = await openWireModel(format, turns);
      assert.equal((await getError(wire.model, { tools: [lookup] })).kind, 'truncated');
    });

    it('reports a connection that closes before the answer as truncated', async () => {
      await using wire = await openWireModel(format, [{ cut: 'clean' }]);
      assert.equal((await getError(wire.model)).kind, 'truncated');
    });

    it('reports an HTML page of a gateway as a server error', async () => {
      await using wire = await openWireModel(format, [{ html: 502 }]);
      const { kind, message } = await getError(wire.model);
      assert.equal(kind, 'server');
      assert.match(message, /502/);
    });

    it('reports a frame that is not JSON as a protocol error', async () => {
      await using wire = await openWireModel(format, [{ text: 'Well', garbage: true }]);
      assert.equal((await getError(wire.model)).kind, 'protocol');
    });

    for (const retryHeader of ['retry-after-ms', 'retry-after-date'] as const) {
      it(`reads the retry delay from ${retryHeader}`, async () => {
        const turn = { error: { kind: 'rate_limit', retryAfterMs: 4000 }, retryHeader } as const;
        await using wire = await openWireModel(format, [turn]);
        const { retryAfterMs = 0 } = await getError(wire.model);
        // A date has a resolution of one second.
        assert.ok(retryAfterMs >= 3000 && retryAfterMs <= 5000, String(retryAfterMs));
      });
    }

    it('does not retry requests itself', async () => {
      for (const kind of ['rate_limit', 'overloaded', 'server'] as const) {
        await using wire = await openWireModel(format, [{ error: { kind } }]);
        await getError(wire.model);
        assert.equal(wire.server.requests.length, 1);
      }
    });

    for (const hangs of ['before', 'after'] as const) {
      it(`closes the connection on abort when the server hangs ${hangs} its answer`, async () => {
        await using wire = await openWireModel(format, [{ text: 'And', hangs }]);
        const abort = new AbortController();
        const onDelta = (): void => abort.abort();
        const failing = getError(wire.model, { signal: abort.signal, onDelta });
        while (wire.server.requests.length === 0) await breath();
        if (hangs === 'before') abort.abort();
        assert.equal((await failing).kind, 'aborted');
        assert.equal(await wire.server.requests[0]?.closed, 'by the client');
      });
    }

    it('closes the connection after a failure', async () => {
      await using wire = await openWireModel(format, [
        { text: 'Well', garbage: true, hangs: 'after' },
      ]);
      assert.equal((await getError(wire.model)).kind, 'protocol');
      assert.equal(await wire.server.requests[0]?.closed, 'by the client');
    });

    it('sends ids and signatures of a provider back to that provider only', async () => {
      const first = {
        thinking: 'Hm.',
        thoughtSignature: 'c2VhbGVk',
        toolCalls: [{ name: 'lookup', args: { of: 'x' }, id: 'provider_id_1' }],
      };
      const turns = [first, { text: 'Done.' }];
      await using wire = await openWireModel(format, turns);
      const { content } = await ask(wire.model, { tools: [lookup] });
      const contents = withResults(withCallIds(content, 'e-1', 0));
      await ask(wire.model, { tools: [lookup], contents });
      const sent = JSON.stringify(wire.server.requests[1]?.body);
      assert.match(sent, /provider_id_1/);
      const hasSignatures = !['openai chat', 'openai compatible', 'ollama'].includes(format.name);
      assert.equal(sent.includes('c2VhbGVk'), hasSignatures);

      for (const other of wireFormats.filter(({ provider }) => provider !== format.provider)) {
        await using otherWire = await openWireModel(other, [{ text: 'Done.' }]);
        await ask(otherWire.model, { tools: [lookup], contents });
        const sentBody = JSON.stringify(otherWire.server.requests[0]?.body);
        assert.doesNotMatch(sentBody, /provider_id_1|c2VhbGVk|Hm\./, other.name);
      }
    });

    it('assigns unique ids to calls without a provider id', async () => {
      const toolCalls = [
        { name: 'lookup', args: { of: 'a' } },
        { name: 'lookup', args: { of: 'b' } },
      ];
      const turns = [
        { toolCalls, thoughtSignature: 'c2VhbGVk', withoutIds: true as const },
        { text: 'Done.' },
      ];
      await using wire = await openWireModel(format, turns);
      const { content } = await ask(wire.model, { tools: [lookup] });
      const modelContent = withCallIds(content, 'e-1', 0);
      assert.equal(new Set(getFunctionCalls(modelContent).map(({ id }) => id)).size, 2);
      const answer = await ask(wire.model, {
        tools: [lookup],
        contents: withResults(modelContent),
      });
      assert.equal(contentText(answer.content), 'Done.');
    });

    it('handles duplicate call ids of a provider: each call gets its own result', async () => {
      const call = (of: string) => ({ name: 'lookup', args: { of }, id: 'id_1' });
      const turns = [
        { thinking: 'Hm.', thoughtSignature: 'c2VhbGVk', toolCalls: [call('a'), call('b')] },
        { thinking: 'Hm.', thoughtSignature: 'c2VhbGVk', toolCalls: [call('c')] },
        { text: 'Done.' },
      ];
      await using wire = await openWireModel(format, turns);
      const contents: Content[] = [{ role: 'user', parts: [{ text: 'Look it up.' }] }];
      for (let round = 0; round < 2; round++) {
        const { content } = await ask(wire.model, { tools: [lookup], contents });
        const modelContent = withCallIds(content, 'e-1', round);
        const parts = getFunctionCalls(modelContent).map(({ id, name, args }) => ({
          functionResponse: { id, name, response: { found: `${String(args['of'])}!` } },
        }));
        contents.push(modelContent, { role: 'tool', parts });
      }
      const answer = await ask(wire.model, { tools: [lookup], contents });
      assert.equal(contentText(answer.content), 'Done.');
      const found = JSON.stringify(wire.server.requests[2]?.body).match(/(?<=found\\*":\\*")./g);
      assert.deepEqual(found, ['a', 'b', 'c']);
    });

    it('reports a call without a tool name as a protocol error, and keeps arguments that are too deep as text', async () => {
      const namelessCall = { toolCalls: [{ name: '', args: {} }] };
      const deepArgs = `{"a":${'['.repeat(9000)}${']'.repeat(9000)}}`;
      const deepCall = { toolCalls: [{ name: 'lookup', malformedArgs: deepArgs }] };
      await using wire = await openWireModel(format, [namelessCall, deepCall]);
      assert.equal((await getError(wire.model, { tools: [lookup] })).kind, 'protocol');
      const [call] = getFunctionCalls((await ask(wire.model, { tools: [lookup] })).content);
      assert.deepEqual([call?.args, call?.argsError?.raw.length], [{}, deepArgs.length]);
    });

    it('accepts empty user messages and blank answers in a conversation', async () => {
      const turns = [{ text: ' \n' }, { text: 'Yes?' }, { text: 'Bye.' }];
      await using wire = await openWireModel(format, turns);
      const contents: Content[] = [];
      for (const text of ['', ' ', 'Hello?']) {
        contents.push({ role: 'user', parts: [{ text }] });
        contents.push((await ask(wire.model, { contents, instruction: 'Be brief.' })).content);
      }
      assert.deepEqual(contents.map(contentText).slice(3), ['Yes?', 'Hello?', 'Bye.']);
    });

    it('repairs a history that providers would reject', async () => {
      await using wire = await openWireModel(format, [{ text: 'Done.' }]);
      const call = { id: 'call_1', name: 'lookup', args: { of: 'x' } };
      const contents: readonly Content[] = [
        { role: 'model', parts: [{ text: 'Welcome back.' }] },
        { role: 'user', parts: [{ text: '' }, { text: 'Look up x.' }] },
        {
          role: 'model',
          parts: [
            { text: '' },
            { functionCall: call },
            { functionCall: { ...call, id: 'call_2' } },
          ],
        },
        { role: 'user', parts: [{ text: 'Meanwhile,' }] },
        {
          role: 'tool',
          parts: [
            { functionResponse: { id: 'call_1', name: 'lookup', response: { found: 1 } } },
            { functionResponse: { id: 'call_1', name: 'lookup', response: { found: 2 } } },
            { functionResponse: { id: 'call_9', name: 'lookup', response: { found: 3 } } },
          ],
        },
        { role: 'user', parts: [{ text: 'go on.' }] },
      ];
      const answer = await ask(wire.model, { tools: [lookup], contents });
      assert.equal(contentText(answer.content), 'Done.');
      const sent = JSON.stringify(wire.server.requests[0]?.body);
      assert.match(sent, /found\\*":1/);
      assert.doesNotMatch(sent, /found\\*":[23]/);
      assert.match(sent, /was not finished/);
    });

    it('normalizes tool names and schemas for the provider, and restores names and arguments in calls', async () => {
      const unusualTool: ToolDeclaration = {
        name: 'files.search: everything/that has a very long name which no provider on earth accepts',
        description: 'Searches.',
        parameters: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          oneOf: [
            {
              type: 'object',
              properties: { 'the query': { type: 'string' } },
              required: ['the query'],
            },
            {
              type: 'object',
              properties: {
                id: { const: 7 },
                deep: { $ref: '#/$defs/node' },
                // Property names that are schema keywords elsewhere.
                properties: { type: 'object', properties: { $ref: { const: { k: 1 } } } },
                enum: { type: 'array', items: { type: 'string' } },
                required: { type: 'boolean' },
              },
            },
          ],
          $defs: {
            node: {
              type: 'object',
              properties: { next: { $ref: '#/$defs/node' }, kind: { oneOf: [{ type: 'string' }] } },
            },
          },
        },
      };
      const tools = [
        unusualTool,
        {
          ...unusualTool,
          name: 'files.search: everything/that has a very long name which no provider on earth accepts!',
        },
      ];
      await using first = await openWireModel(format, [{ text: 'Hm.' }]);
      await ask(first.model, { tools });
      const sentNames = listToolNames(first.server.requests[0]?.body);
      assert.equal(new Set(sentNames).size, 2);
      const name = sentNames[1] ?? '';
      const toolCalls = [{ name, args: { 'the query': 'x' }, id: 'id_1' }];
      await using second = await openWireModel(format, [{ toolCalls }]);
      const { content } = await ask(second.model, { tools });
      const [call] = getFunctionCalls(content);
      assert.deepEqual([call?.name, call?.args], [tools[1]?.name, { 'the query': 'x' }]);
    });

    it('redacts API keys in errors', async () => {
      const message = 'Incorrect API key provided: sk-wire-0123456789.';
      await using wire = await openWireModel(format, [{ error: { kind: 'auth', message } }]);
      const error = await getError(wire.model);
      assert.match(error.message, /\[redacted\]/);
      assert.ok(error instanceof ModelError);
      assert.equal(error.cause, undefined);
    });
  });
}

/** A question, the model's content, and results for all of its calls. */
function withResults(modelContent: Content): readonly Content[] {
  const parts = getFunctionCalls(modelContent).map(({ id, name }) => ({
    functionResponse: { id, name, response: { found: true } },
  }));
  return [
    { role: 'user', parts: [{ text: 'Look it up.' }] },
    modelContent,
    { role: 'tool', parts },
  ];
}

function listToolNames(body: unknown): readonly string[] {
  const names: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('description' in value && 'name' in value && value.description === 'Searches.') {
      names.push(String(value.name));
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(body);
  return names;
}
