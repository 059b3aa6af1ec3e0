import { omitUndefined } from '../../core/internal.ts';
import {
  decodeJson,
  isJsonObject,
  type JsonObject,
  type ThoughtSignature,
} from '../../core/index.ts';

/** Metadata that a provider needs back with a part, and its provider family. */
export type ProviderSignature = {
  readonly by: string;
  /** The metadata as the provider sent it, under the provider's own name. */
  readonly note?: JsonObject;
};

/**
 * Encodes a signature as the `thoughtSignature` of a part. The journal stores it; only the model
 * adapters read it.
 */
export function toThoughtSignature(signature: ProviderSignature): ThoughtSignature {
  return JSON.stringify(signature);
}

/**
 * Reads the signature of a part for one provider. A signature of another provider is not returned,
 * because it must not be sent there. A bare signature, as other programs write it, is Gemini's.
 */
export function fromThoughtSignature(
  signature: ThoughtSignature | undefined,
  family: string,
): ProviderSignature | undefined {
  if (signature === undefined) return undefined;
  const parsed = parseSignature(signature);
  if (parsed !== undefined) return parsed.by === family ? parsed : undefined;
  return family === 'google'
    ? { by: family, note: { google: { thoughtSignature: signature } } }
    : undefined;
}

function parseSignature(signature: string): ProviderSignature | undefined {
  if (!signature.startsWith('{"by":')) return undefined;
  try {
    const value = decodeJson(signature, 'signature');
    if (!isJsonObject(value) || typeof value['by'] !== 'string') return undefined;
    const { by, note } = value;
    return { by, ...omitUndefined({ note: isJsonObject(note) ? note : undefined }) };
  } catch {
    return undefined;
  }
}
