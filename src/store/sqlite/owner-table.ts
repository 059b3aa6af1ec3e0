import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sha256Hex } from '../../core/ids.ts';
import { InvalidInputError } from '../../core/invalid-input-error.ts';
import type { OwnerId } from '../store.ts';
import type { Connection, Statement } from './connection.ts';
import { isBusy, toStoreError } from './sqlite-errors.ts';

/**
 * Which runtimes may own sessions, and which of them live.
 * Each holds an exclusive lock on a file of its own beside the database for as long as its process lives: stopped or slow,
 * it still holds it; killed, it does not. So a peer that gets into that file knows that the owner is dead, without any clock.
 */
export class OwnerTable {
  readonly #file: string;
  readonly #all: Statement<{ owner: OwnerId }>;
  readonly #insert: Statement<never>;
  readonly #remove: Statement<never>;
  /** The locks of those that joined here. */
  readonly #locks = new Map<OwnerId, DatabaseSync>();

  constructor(connection: Connection) {
    this.#file = connection.file;
    this.#all = connection.prepare('SELECT owner FROM owners');
    this.#insert = connection.prepare('INSERT INTO owners VALUES (?) ON CONFLICT DO NOTHING');
    this.#remove = connection.prepare('DELETE FROM owners WHERE owner = ?');
  }

  /** Those that joined here and have not left. */
  get here(): readonly OwnerId[] {
    return [...this.#locks.keys()];
  }

  joinedHere(owner: OwnerId): boolean {
    return this.#locks.has(owner);
  }

  /**
   * Takes the owner's lock. Only then is its name written down: nobody looks at the lock of one that is not.
   * @throws InvalidInputError when another process has it.
   */
  lock(owner: OwnerId): void {
    const file = this.#lockFile(owner);
    const lock = openLock(file);
    try {
      lock.exec('PRAGMA busy_timeout = 0');
      // Nothing is ever written to it: no journal file beside it either.
      lock.exec('PRAGMA journal_mode = MEMORY');
      lock.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      lock.close();
      if (!isBusy(error)) throw toStoreError(error, file);
      throw new InvalidInputError(
        'owner',
        'has joined already: each runtime needs an id of its own.',
      );
    }
    this.#locks.set(owner, lock);
  }

  write(owner: OwnerId): void {
    this.#insert.run(owner);
  }

  /** Gives the owner's lock up, as its process's end would. */
  unlock(owner: OwnerId): void {
    this.#locks.get(owner)?.close();
    this.#locks.delete(owner);
  }

  /** Removes what is left of an owner that is dead or has left. */
  forget(owner: OwnerId): void {
    this.#remove.run(owner);
    rmSync(this.#lockFile(owner), { force: true });
  }

  isAlive(owner: OwnerId): boolean {
    return this.#locks.has(owner) || isHeld(this.#lockFile(owner));
  }

  /** The living ones except one. */
  othersAlive(owner: OwnerId): readonly OwnerId[] {
    return this.#others(owner).filter((other) => this.isAlive(other));
  }

  /** The dead ones of which something is left. */
  dead(): readonly OwnerId[] {
    return this.#others(undefined).filter((other) => !this.isAlive(other));
  }

  #others(owner: OwnerId | undefined): readonly OwnerId[] {
    return this.#all.all().flatMap((row) => (row.owner === owner ? [] : row.owner));
  }

  #lockFile(owner: OwnerId): string {
    const name = /^[\w-]{1,64}$/.test(owner) ? owner : sha256Hex(owner);
    return `${this.#file}-owner-${name}`;
  }
}

function openLock(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** Reading needs a shared lock, which is refused exactly while another connection holds the exclusive one. */
function isHeld(file: string): boolean {
  if (!existsSync(file)) return false;
  let probe: DatabaseSync | undefined;
  try {
    probe = new DatabaseSync(file, { readOnly: true });
    probe.exec('PRAGMA busy_timeout = 0');
    probe.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch {
    // Held, or not to be known: who cannot be shown to be dead counts as alive. Gone by now: its owner has left.
    return existsSync(file);
  } finally {
    probe?.close();
  }
}
