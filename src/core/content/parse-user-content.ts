import { parseContent } from './parse-content.ts';
import type { Content } from './content.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';

/** Options of `parseUserContent`. */
export interface ParseUserContentOptions {
  /** `allow`: accepts results of tool calls; the caller must check that the calls are pending. Default: `refuse`. */
  readonly functionResponses?: 'allow' | 'refuse';
}

/**
 * Validates a message of a user. It rejects parts that only a model may produce: tool calls, thoughts, signatures, code
 * and unknown parts. A model would mistake them for its own output.
 * @throws InvalidInputError with the path of the first invalid part.
 * @throws UnknownFieldError for an unknown field.
 * @throws InlineDataTooLargeError if inline data is above `MAX_INLINE_DATA_SIZE` bytes.
 * @throws NotSerializableError if the message is not JSON.
 */
export function parseUserContent(value: unknown, options: ParseUserContentOptions = {}): Content {
  assertUserParts(partsIn(value), options);
  return parseContent(value);
}

/**
 * Checks that parts are allowed in a message of a user.
 * @throws InvalidInputError with the path of the first part that only a model may produce.
 */
export function assertUserParts(
  parts: readonly unknown[],
  { functionResponses = 'refuse' }: ParseUserContentOptions = {},
): void {
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'object' || part === null) continue;
    const has = (member: string): boolean =>
      ![undefined, null, false].includes(Reflect.get(part, member));
    const member = MODEL_ONLY_MEMBERS.find(has);
    if (member !== undefined)
      throw new InvalidInputError(
        `content.parts[${index}].${member}`,
        'is allowed only in messages of a model. Send text, inlineData or fileData.',
      );
    if (functionResponses === 'refuse' && has('functionResponse'))
      throw new InvalidInputError(
        `content.parts[${index}].functionResponse`,
        'is the result of a tool call: approve, deny or answer the call instead.',
      );
  }
}

/** Members of parts that only models and their providers write. */
const MODEL_ONLY_MEMBERS = [
  'functionCall',
  'thought',
  'thoughtSignature',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
  'opaque',
] as const;

function partsIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || !('parts' in value)) return [];
  return Array.isArray(value.parts) ? value.parts : [];
}
