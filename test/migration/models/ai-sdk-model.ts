import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { script, type Script, type ScriptedAnswer } from './script.ts';

type StreamResult = Awaited<ReturnType<MockLanguageModelV4['doStream']>>;
type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** A model of the AI SDK that answers from the script. */
export function createScriptedModel(answers: Script = script): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      const index = prompt.filter(({ role }) => role === 'assistant').length;
      const answer = answers(index);
      return {
        stream: simulateReadableStream({ chunks: [...toParts(answer, index)] }),
      };
    },
  });
}

function toParts(answer: ScriptedAnswer, index: number): readonly StreamPart[] {
  if ('calls' in answer) {
    return [
      ...answer.calls.map(({ name, args }, call): StreamPart => ({
        type: 'tool-call',
        toolCallId: `call-${index}-${call}`,
        toolName: name,
        input: JSON.stringify(args),
      })),
      { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage },
    ];
  }
  return [
    { type: 'text-start', id: 'text' },
    ...answer.text.map((delta): StreamPart => ({ type: 'text-delta', id: 'text', delta })),
    { type: 'text-end', id: 'text' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
  ];
}
