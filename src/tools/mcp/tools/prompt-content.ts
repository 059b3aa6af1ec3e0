import type { PromptMessage } from '@modelcontextprotocol/client';
import { parseContent, type Content } from '../../../core/index.ts';
import { contentPart } from './call-response.ts';

/** Converts a message of a server's prompt to content. */
export function promptContent({ role, content }: PromptMessage): Content {
  const parts = [contentPart(content)];
  return parseContent(
    { role: role === 'assistant' ? 'model' : 'user', parts },
    { unknownParts: 'keep' },
  );
}
