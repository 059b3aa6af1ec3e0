import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { script, type Script } from './script.ts';

/** A LangChain chat model that answers from the script. */
export class ScriptedChatModel extends BaseChatModel {
  readonly #script: Script;

  constructor(answers: Script = script) {
    super({});
    this.#script = answers;
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const text: string[] = [];
    let message: AIMessageChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, {})) {
      text.push(chunk.text);
      message =
        message === undefined
          ? (chunk.message as AIMessageChunk)
          : message.concat(chunk.message as AIMessageChunk);
    }
    const { tool_calls = [] } = message ?? {};
    return {
      generations: [
        { text: text.join(''), message: new AIMessage({ content: text.join(''), tool_calls }) },
      ],
    };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const index = messages.filter((message) => message.type === 'ai').length;
    const answer = this.#script(index);
    if ('calls' in answer) {
      const message = new AIMessageChunk({
        content: '',
        tool_call_chunks: answer.calls.map(({ name, args }, call) => ({
          id: `call-${index}-${call}`,
          index: call,
          name,
          args: JSON.stringify(args),
        })),
      });
      yield new ChatGenerationChunk({ text: '', message });
      return;
    }
    for (const text of answer.text) {
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, {
        chunk,
      });
    }
  }
}
