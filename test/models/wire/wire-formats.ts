import { anthropicWire } from './anthropic-wire.ts';
import { geminiWire } from './gemini-wire.ts';
import { compatibleWire, openaiChatWire } from './openai-chat-wire.ts';
import { openaiResponsesWire } from './openai-responses-wire.ts';
import type { WireFormat } from './wire-format.ts';

export const ollamaWire: WireFormat = compatibleWire(
  {
    name: 'ollama',
    provider: 'ollama',
    keyVariable: 'OLLAMA_API_KEY',
    ref: (baseUrl) => ({ provider: 'ollama', model: 'qwen3', baseUrl }),
  },
  'reasoning',
);

export const openaiCompatibleWire: WireFormat = compatibleWire(
  {
    name: 'openai compatible',
    provider: 'openai_compatible',
    keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
    ref: (baseUrl) => ({ provider: 'openai_compatible', model: 'any', baseUrl }),
  },
  'reasoning_content',
);

/** The five wire formats, and Ollama's variant of the last. */
export const wireFormats: readonly WireFormat[] = [
  geminiWire,
  openaiChatWire,
  openaiResponsesWire,
  anthropicWire,
  openaiCompatibleWire,
  ollamaWire,
];
