import assert from 'node:assert/strict';
import { getFunctionCalls, contentText, contentThinking, type Content } from '../../core/index.ts';
import { withCallIds } from '../model/with-call-ids.ts';
import { expectResponse, joinDeltas, question } from './expect-response.ts';
import { modelContractCase, type ModelContractCase } from './model-contract-case.ts';

export const responseCases: readonly ModelContractCase[] = [
  modelContractCase(
    'the deltas of a text join to the text',
    [{ text: 'Sunny, as ever.' }],
    async (h) => {
      const { response, deltas } = await expectResponse(h.model);
      assert.deepEqual(response.content.parts, [{ text: 'Sunny, as ever.' }]);
      assert.equal(response.finishReason, 'stop');
      assert.equal(joinDeltas(deltas, 'text'), 'Sunny, as ever.');
      assert.equal(joinDeltas(deltas, 'thinking'), '');
      assert.ok(deltas.length > 1);
    },
  ),

  modelContractCase(
    'text in every writing system arrives unchanged',
    [{ text: 'Grüße 🌍 — 天気, שלום, e\u0301' }],
    async (h) => {
      const { response, deltas } = await expectResponse(h.model);
      assert.equal(contentText(response.content), 'Grüße 🌍 — 天気, שלום, e\u0301');
      assert.equal(joinDeltas(deltas, 'text'), contentText(response.content));
    },
  ),

  modelContractCase(
    'thinking is separate from text and comes first',
    [{ thinking: 'Rome is warm.', text: 'Sunny.' }],
    async (h) => {
      const { response, deltas } = await expectResponse(h.model);
      assert.equal(contentThinking(response.content), 'Rome is warm.');
      assert.equal(contentText(response.content), 'Sunny.');
      assert.equal(joinDeltas(deltas, 'thinking'), 'Rome is warm.');
      assert.equal(joinDeltas(deltas, 'text'), 'Sunny.');
      assert.equal(deltas[0]?.kind, 'thinking');
    },
    { needs: 'thinking' },
  ),

  modelContractCase(
    'calls keep their order and arguments, after the text',
    [
      {
        text: 'I will look.',
        toolCalls: [
          { name: 'weather', args: { city: 'Rome', days: 2 }, id: 'id_1' },
          { name: 'weather', args: { city: 'Oslo' }, id: 'id_2' },
          { name: 'clock', id: 'id_3' },
        ],
      },
    ],
    async (h) => {
      const { response } = await expectResponse(h.model);
      assert.deepEqual(
        getFunctionCalls(response.content).map(({ name, args }) => [name, args]),
        [
          ['weather', { city: 'Rome', days: 2 }],
          ['weather', { city: 'Oslo' }],
          ['clock', {}],
        ],
      );
      assert.equal(contentText(response.content), 'I will look.');
      assert.equal(response.finishReason, 'tool_calls');
      const first = response.content.parts.findIndex((part) => 'functionCall' in part);
      assert.ok(first > response.content.parts.findIndex((part) => 'text' in part));
    },
  ),

  modelContractCase(
    'arguments that are not JSON become a call with argsError and the raw text',
    [{ toolCalls: [{ name: 'weather', malformedArgs: '{"city": "Ro' }] }],
    async (h) => {
      const { response } = await expectResponse(h.model);
      const [call] = getFunctionCalls(response.content);
      assert.deepEqual(call?.args, {});
      assert.equal(call?.argsError?.raw, '{"city": "Ro');
      assert.notEqual(call?.argsError?.message, '');
    },
  ),

  modelContractCase(
    'a conversation with calls and results continues',
    [
      { thinking: 'Hm.', thoughtSignature: 'sealed-note', toolCalls: [{ name: 'clock' }] },
      { text: 'Noon.' },
    ],
    async (h) => {
      const first = await expectResponse(h.model);
      const content = withCallIds(first.response.content, 'e-1', 0);
      const results: Content = {
        role: 'tool',
        parts: getFunctionCalls(content).map(({ id, name }) => ({
          functionResponse: { id, name, response: { time: '12:00' } },
        })),
      };
      const { response } = await expectResponse(h.model, {
        contents: [question, content, results],
      });
      assert.equal(contentText(response.content), 'Noon.');
    },
  ),

  modelContractCase(
    'token counts are totals that include their parts',
    [
      {
        text: 'Sunny.',
        usage: {
          inputTokens: 100,
          outputTokens: 30,
          totalTokens: 130,
          thinkingTokens: 20,
          cacheReadTokens: 60,
        },
      },
    ],
    async (h) => {
      const { response } = await expectResponse(h.model);
      assert.deepEqual(response.usage, {
        inputTokens: 100,
        outputTokens: 30,
        totalTokens: 130,
        thinkingTokens: 20,
        cacheReadTokens: 60,
      });
    },
  ),

  modelContractCase(
    'the finish reason tells a length limit and a refusal',
    [
      { text: 'Sunny and', finishReason: 'max_tokens' },
      { text: 'I will not', finishReason: 'refusal' },
    ],
    async (h) => {
      const limited = await expectResponse(h.model);
      assert.equal(limited.response.finishReason, 'max_tokens');
      assert.equal(contentText(limited.response.content), 'Sunny and');
      const contents = [question, limited.response.content, question];
      const refused = await expectResponse(h.model, { contents });
      assert.equal(refused.response.finishReason, 'refusal');
    },
  ),

  modelContractCase('an empty response is a response', [{ text: '' }], async (h) => {
    const { response, deltas } = await expectResponse(h.model);
    assert.equal(contentText(response.content), '');
    assert.deepEqual([response.finishReason, deltas], ['stop', []]);
  }),
];
