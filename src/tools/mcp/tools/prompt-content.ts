import type { PromptMessage } from '@modelcontextprotocol/client';
import { parseContent, type Content } from '../../../core/index.ts';
import { contentPart } from './call-response.ts';

/** A message of a prompt of a server, as a conversation has it. */
export function promptContent({ role, content }: PromptMessage): Content {
  const parts = [contentPart(content)];
  return parseContent(
    { role: role === 'assistant' ? 'model' : 'user', parts },
    { unknownParts: 'keep' },
  );
}
