import { decodeJson, isJsonObject, type JsonObject, type OpaquePart } from '../../core/index.ts';
import { readProviderPart } from '../../core/internal.ts';
import type { PromptPart, StreamPart } from './language-model.ts';

/**
 * Stores a part that only its provider understands: a tool that the provider ran, a custom part, a
 * source. It is never executed.
 */
export function toOpaque(part: StreamPart, family: string): OpaquePart {
  return { opaque: { by: family, part: decodeJson(JSON.stringify(part, bytesAsBase64), 'part') } };
}

/**
 * Restores the part for the provider it came from. Other providers get nothing, and informational
 * parts are not sent back.
 */
export function fromOpaque(opaquePart: OpaquePart, family: string): readonly PromptPart[] {
  const provided = readProviderPart(opaquePart);
  if (provided?.by !== family) return [];
  const { part } = provided;
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
