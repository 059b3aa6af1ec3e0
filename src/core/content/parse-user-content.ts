import { parseContent } from './parse-content.ts';
import type { Content } from './content.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';

/** What a user may send beside text, inline data and file data. */
export interface ParseUserContentOptions {
  /** `allow`: results of calls, where the caller checks that those calls wait. Default: `refuse`. */
  readonly functionResponses?: 'allow' | 'refuse';
}

/**
 * Reads a message of a user. Parts that only a model may say are refused: calls of tools, thoughts, signatures, code,
 * and parts that nobody knows. A model that is shown them would take them for its own.
 * @throws InvalidInputError naming the part, UnknownFieldError, InlineDataTooLargeError, NotSerializableError
 */
export function parseUserContent(value: unknown, options: ParseUserContentOptions = {}): Content {
  assertUserParts(partsIn(value), options);
  return parseContent(value);
}

/** @throws InvalidInputError naming the first part that only a model may say */
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
        'only a model may say it. A user sends text, inlineData and fileData.',
      );
    if (functionResponses === 'refuse' && has('functionResponse'))
      throw new InvalidInputError(
        `content.parts[${index}].functionResponse`,
        'answers a call: approve, deny or answer the call instead.',
      );
  }
}

/** Members of parts, as models and their providers write them. */
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
