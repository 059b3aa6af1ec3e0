import { sha256Hex } from '../../core/index.ts';

/** The longest id of a call that is a key itself, in bytes. An index of PostgreSQL takes 2,704, one of MySQL 3,072. */
const MAX_KEY_BYTES = 512;

/**
 * The key of a call in an index of pending calls: its id, or a hash of it. A provider chooses the ids, and a database
 * takes no key that is too long, has a zero character or is no valid Unicode.
 */
export function toCallKey(callId: string): string {
  return Buffer.byteLength(callId) <= MAX_KEY_BYTES ? toTextKey(callId) : sha256Hex(callId);
}

/** The same for a database whose keys may have any length. */
export function toTextKey(callId: string): string {
  // JSON writes what is no valid Unicode as escapes, so different ids have different hashes.
  return callId.includes('\0') || !callId.isWellFormed()
    ? sha256Hex(JSON.stringify(callId))
    : callId;
}
