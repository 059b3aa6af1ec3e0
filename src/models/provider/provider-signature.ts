import {
  decodeJson,
  isJsonObject,
  type JsonObject,
  type ThoughtSignature,
} from '../../core/index.ts';

/** What a provider wants to see again with a part, and which provider that is. */
export type ProviderSignature = {
  readonly by: string;
  /** As the provider gave it, by its own name for itself. */
  readonly note?: JsonObject;
};

/** Writes a seal as the signature of a part: the journal keeps it, and nobody but the bridge reads it. */
export function toThoughtSignature(signature: ProviderSignature): ThoughtSignature {
  return JSON.stringify(signature);
}

/**
 * Reads the signature of a part for one provider. Nothing comes back for another provider's: a note must not travel.
 * A bare signature, as other programs write it, is Gemini's.
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
    return { by, ...(isJsonObject(note) && { note }) };
  } catch {
    return undefined;
  }
}
