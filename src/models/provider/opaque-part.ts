import { decodeJson, isJsonObject, type JsonObject, type OpaquePart } from '../../core/index.ts';
import type { PromptPart, StreamPart } from './language-model.ts';

/**
 * Keeps a part that only its provider understands: a tool it ran itself, a note of its own, a source it names.
 * Nothing of it is ever run here.
 */
export function toOpaque(part: StreamPart, family: string): OpaquePart {
  return { opaque: { by: family, part: decodeJson(JSON.stringify(part, bytesAsBase64), 'part') } };
}

/** What goes back to the provider it came from; nothing to others, and nothing where the part was only told. */
export function fromOpaque({ opaque }: OpaquePart, family: string): readonly PromptPart[] {
  if (!isJsonObject(opaque) || opaque['by'] !== family || !isJsonObject(opaque['part'])) return [];
  const part = opaque['part'];
  const { type, providerMetadata: metadata, ...fields } = part;
  const options = isJsonObject(metadata) ? { providerOptions: metadata } : {};
  if (type === 'tool-call') return [{ ...fields, type, input: parseInput(part), ...options }];
  if (type === 'tool-result') {
    const { toolCallId, toolName, result = null } = part;
    return [{ type, toolCallId, toolName, output: { type: 'json', value: result }, ...options }];
  }
  const goesBack = type === 'custom' || type === 'reasoning-file';
  return goesBack ? [{ ...fields, type, ...options }] : [];
}

function parseInput({ input }: JsonObject): unknown {
  if (typeof input !== 'string') return input;
  try {
    return decodeJson(input, 'input');
  } catch {
    return {};
  }
}

function bytesAsBase64(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
