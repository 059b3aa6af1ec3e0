import { BaseLlm, type BaseLlmConnection, type LlmRequest, type LlmResponse } from '@google/adk';
import { script, type Script } from './script.ts';

/** A model of ADK that answers from the script. */
export class ScriptedLlm extends BaseLlm {
  readonly #script: Script;

  constructor(answers: Script = script) {
    super({ model: 'scripted' });
    this.#script = answers;
  }

  override async *generateContentAsync(
    { contents }: LlmRequest,
    stream?: boolean,
  ): AsyncGenerator<LlmResponse, void> {
    const index = contents.filter(({ role }) => role === 'model').length;
    const answer = this.#script(index);
    if ('calls' in answer) {
      const parts = answer.calls.map(({ name, args }, call) => ({
        functionCall: { id: `call-${index}-${call}`, name, args: { ...args } },
      }));
      yield { content: { role: 'model', parts } };
      return;
    }
    if (stream === true)
      for (const text of answer.text)
        yield { content: { role: 'model', parts: [{ text }] }, partial: true };
    yield { content: { role: 'model', parts: [{ text: answer.text.join('') }] } };
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error('The script has no live connection.');
  }
}
