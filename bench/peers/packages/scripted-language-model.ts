import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { Answer, Script } from '../peer.ts';

type GenerateResult = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
type StreamResult = Awaited<ReturnType<MockLanguageModelV4['doStream']>>;
type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** A model of the AI SDK's specification, for the packages that take one. */
export function scriptedLanguageModel({ afterMessage, afterResults }: Script): MockLanguageModelV4 {
  let calls = 0;
  const next = (prompt: readonly { readonly role: string }[]): Answer =>
    prompt.at(-1)?.role === 'tool' ? afterResults : afterMessage;
  const toCalls = (paths: readonly string[]): Extract<StreamPart, { type: 'tool-call' }>[] =>
    paths.map((path) => ({
      type: 'tool-call',
      toolCallId: `call-${calls++}`,
      toolName: 'read_file',
      input: JSON.stringify({ path }),
    }));
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }): Promise<GenerateResult> => {
      forget(model);
      const answer = next(prompt);
      return 'paths' in answer
        ? {
            content: toCalls(answer.paths),
            finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
            usage,
            warnings: [],
          }
        : {
            content: [{ type: 'text', text: answer.text.join('') }],
            finishReason: { unified: 'stop', raw: 'stop' },
            usage,
            warnings: [],
          };
    },
    doStream: async ({ prompt }) => {
      forget(model);
      const answer = next(prompt);
      const chunks: StreamPart[] =
        'paths' in answer
          ? [
              ...toCalls(answer.paths),
              { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
            ]
          : [
              { type: 'text-start', id: 'text' },
              ...answer.text.map((delta): StreamPart => ({
                type: 'text-delta',
                id: 'text',
                delta,
              })),
              { type: 'text-end', id: 'text' },
              { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
            ];
      // Without delays: null waits for nothing between the chunks.
      const stream = simulateReadableStream({
        chunks,
        initialDelayInMs: null,
        chunkDelayInMs: null,
      });
      return { stream };
    },
  });
  return model;
}

/** The mock keeps every call it got, which is no cost of the package. */
function forget(model: MockLanguageModelV4): void {
  model.doGenerateCalls.length = 0;
  model.doStreamCalls.length = 0;
}
