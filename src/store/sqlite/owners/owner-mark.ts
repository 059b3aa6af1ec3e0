import { getErrorCode } from '../../../core/internal.ts';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isListening, removeOwnerSocket } from './owner-socket.ts';
import type { OwnerAddress } from './owner-socket.ts';

/**
 * The content of an owner's mark file. `none`: there is no file. `socket`: the owner is alive while it listens at the
 * address. `locked`: written by an older version, whose owner is alive while it holds a lock on the file.
 */
export type OwnerMark =
  | { readonly kind: 'none' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'socket'; readonly address: OwnerAddress }
  | { readonly kind: 'unreadable' };

/**
 * Writes the address of an owner atomically, by a rename. The file is never empty, because an older version takes an
 * empty file that it can open as the mark of a dead owner. It takes this file, which is not a database, as the mark
 * of a live one.
 */
export function writeMark(file: string, database: string, address: OwnerAddress): void {
  const text = JSON.stringify({ address });
  const temporary = `${file}.new`;
  writeFileSync(temporary, `${text}\n`, { mode: statSync(database).mode & 0o666 });
  renameSync(temporary, file);
}

export function readMark(file: string): OwnerMark {
  try {
    // Use stat before opening: opening and closing a locked file would release the lock of an owner in this process.
    if (statSync(file).size === 0) return { kind: 'locked' };
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (
      typeof parsed === 'object' &&
      parsed !== null &&
      'address' in parsed &&
      typeof parsed.address === 'string'
    )
      return { kind: 'socket', address: parsed.address };
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return { kind: 'none' };
  }
  return { kind: 'unreadable' };
}

/** True when the owner of a mark is alive. An owner that is not provably dead counts as alive. */
export async function isOwnerAlive(
  mark: OwnerMark,
  file: string,
  database: string,
): Promise<boolean> {
  switch (mark.kind) {
    case 'none':
      return false;
    case 'unreadable':
      return true;
    case 'locked':
      return isFileLocked(file);
    case 'socket':
      return isListening(database, mark.address);
    default:
      mark satisfies never;
      return true;
  }
}

export function isSameMark(one: OwnerMark, other: OwnerMark): boolean {
  return (
    one.kind === other.kind &&
    (one.kind !== 'socket' || other.kind !== 'socket' || one.address === other.address)
  );
}

export function removeMark(mark: OwnerMark, file: string, database: string): void {
  if (mark.kind === 'socket') removeOwnerSocket(database, mark.address);
  rmSync(file, { force: true });
}

/**
 * Tests the lock of an older version. Reading needs a shared lock, which fails while the owner has the exclusive one.
 */
function isFileLocked(file: string): boolean {
  let probe: DatabaseSync | undefined;
  try {
    probe = new DatabaseSync(file, { readOnly: true });
    probe.exec('PRAGMA busy_timeout = 0');
    probe.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch {
    return readMark(file).kind !== 'none';
  } finally {
    probe?.close();
  }
}
