import {
  type Model,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
  Usage,
} from '@openai/agents';
import { script, type Script, type ScriptedAnswer } from './script.ts';

type ResponseDone = Extract<StreamEvent, { type: 'response_done' }>['response'];

/** A model of the OpenAI Agents SDK that answers from the script. */
export class ScriptedModel implements Model {
  readonly #script: Script;

  constructor(answers: Script = script) {
    this.#script = answers;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const { index, answer } = this.#next(request);
    return { usage: new Usage(), output: toOutput(answer, index) };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const { index, answer } = this.#next(request);
    yield { type: 'response_started' };
    if ('text' in answer)
      for (const delta of answer.text) yield { type: 'output_text_delta', delta };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const response = { id: `response-${index}`, usage, output: toOutput(answer, index) };
    yield { type: 'response_done', response };
  }

  #next({ input }: ModelRequest): { readonly index: number; readonly answer: ScriptedAnswer } {
    const items = typeof input === 'string' ? [] : input;
    const isAnswer = items.map(
      (item) => item.type === 'function_call' || ('role' in item && item.role === 'assistant'),
    );
    // The items of one answer follow each other.
    const index = isAnswer.filter((one, at) => one && isAnswer[at - 1] !== true).length;
    return { index, answer: this.#script(index) };
  }
}

function toOutput(answer: ScriptedAnswer, index: number): ResponseDone['output'] {
  if ('calls' in answer) {
    return answer.calls.map(({ name, args }, call) => ({
      type: 'function_call',
      callId: `call-${index}-${call}`,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    }));
  }
  return [
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: answer.text.join('') }],
    },
  ];
}
