import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isListening, removeOwnerSocket } from './owner-socket.ts';
import type { OwnerAddress } from './owner-socket.ts';

/** What the file of an owner says. `locked`: it was written by a former version, whose life is a lock on it. */
export type OwnerMark =
  | { readonly kind: 'none' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'socket'; readonly address: OwnerAddress }
  | { readonly kind: 'unreadable' };

/**
 * Writes where an owner can be asked. Whole at once, and never empty: a former version takes an empty file that it can
 * open for the file of a dead owner, and this one, which is no database, for that of a living one.
 */
export function writeMark(file: string, database: string, address: OwnerAddress): void {
  const text = JSON.stringify({ address });
  const temporary = `${file}.new`;
  writeFileSync(temporary, `${text}\n`, { mode: statSync(database).mode & 0o666 });
  renameSync(temporary, file);
}

export function readMark(file: string): OwnerMark {
  try {
    // Not opened: that would end the lock of an owner of this very process.
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return { kind: 'none' };
  }
  return { kind: 'unreadable' };
}

/** Whether the owner of a mark lives. Who cannot be shown to be dead counts as alive. */
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

/** Reading needs a shared lock, which is refused exactly while another connection holds the exclusive one. */
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
