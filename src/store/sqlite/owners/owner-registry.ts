import { sha256Hex, InvalidInputError } from '../../../core/index.ts';
import type { OwnerId } from '../../store.ts';
import type { Connection, Statement } from '../database/connection.ts';
import { isOwnerAlive, isSameMark, readMark, removeMark, writeMark } from './owner-mark.ts';
import type { OwnerMark } from './owner-mark.ts';
import { openOwnerSocket } from './owner-socket.ts';
import type { OwnerSocket } from './owner-socket.ts';
import { toStoreError } from '../database/sqlite-errors.ts';

/** An owner that is dead, with the mark that proved it. */
export interface DeadOwner {
  readonly owner: OwnerId;
  readonly mark: OwnerMark;
}

/**
 * Registers owners and detects dead ones. Each owner listens on a local socket while its process lives, and its mark
 * file beside the database has the address. The kernel accepts connections for a stopped or slow process, and refuses
 * them for a killed one. So a refused connection proves that the owner is dead, without a clock. Unlike a file lock,
 * a socket cannot be released by other code of the process that opens and closes the file.
 */
export class SqliteOwnerRegistry {
  readonly #file: string;
  readonly #all: Statement<{ owner: OwnerId }>;
  readonly #insert: Statement<never>;
  readonly #remove: Statement<never>;
  /** The sockets of the owners that joined through this store object. */
  readonly #sockets = new Map<OwnerId, OwnerSocket>();

  constructor(connection: Connection) {
    this.#file = connection.file;
    this.#all = connection.prepare('SELECT owner FROM owners');
    this.#insert = connection.prepare('INSERT INTO owners VALUES (?) ON CONFLICT DO NOTHING');
    this.#remove = connection.prepare('DELETE FROM owners WHERE owner = ?');
  }

  /** The owners that joined through this store object and have not left. */
  get localOwners(): readonly OwnerId[] {
    return [...this.#sockets.keys()];
  }

  hasJoined(owner: OwnerId): boolean {
    return this.#sockets.has(owner);
  }

  /**
   * Opens the socket of an owner. Other processes find it after `write`.
   * @returns the mark that is in its place now: of a dead owner with the same id, or none
   * @throws InvalidInputError when another process has joined with this id
   */
  async open(owner: OwnerId): Promise<OwnerMark> {
    const file = this.#markFile(owner);
    const former = readMark(file);
    if (await isOwnerAlive(former, file, this.#file)) throw alreadyJoinedError();
    try {
      this.#sockets.set(owner, await openOwnerSocket(this.#file));
    } catch (error) {
      throw toStoreError(error, this.#file);
    }
    return former;
  }

  /**
   * Writes the mark and row of an owner. Call within a transaction, so that one of two concurrent joins fails.
   * @throws InvalidInputError when another process has joined with this id
   */
  write(owner: OwnerId, former: OwnerMark): void {
    const socket = this.#sockets.get(owner);
    if (socket === undefined) throw alreadyJoinedError();
    const file = this.#markFile(owner);
    const ownMark: OwnerMark = { kind: 'socket', address: socket.address };
    const present = readMark(file);
    if (!isSameMark(present, ownMark)) {
      if (!isSameMark(present, former)) throw alreadyJoinedError();
      removeMark(former, file, this.#file);
      writeMark(file, this.#file, socket.address);
    }
    this.#insert.run(owner);
  }

  /** Closes the owner's socket and removes its mark. To other processes the owner is then dead. */
  close(owner: OwnerId): void {
    const socket = this.#sockets.get(owner);
    if (socket === undefined) return;
    this.#sockets.delete(owner);
    socket.close();
    const file = this.#markFile(owner);
    const ownMark: OwnerMark = { kind: 'socket', address: socket.address };
    if (isSameMark(readMark(file), ownMark)) removeMark(ownMark, file, this.#file);
  }

  /** Removes the row of an owner that has left. */
  remove(owner: OwnerId): void {
    this.#remove.run(owner);
  }

  /** Removes the row and mark of a dead owner, unless a new owner has its id by now. */
  removeDead({ owner, mark }: DeadOwner): void {
    const file = this.#markFile(owner);
    if (!isSameMark(readMark(file), mark)) return;
    removeMark(mark, file, this.#file);
    this.#remove.run(owner);
  }

  async isAlive(owner: OwnerId): Promise<boolean> {
    if (this.#sockets.has(owner)) return true;
    const file = this.#markFile(owner);
    return isOwnerAlive(readMark(file), file, this.#file);
  }

  /** Returns those of the owners that are alive. */
  async filterAlive(owners: readonly OwnerId[]): Promise<readonly OwnerId[]> {
    const results = await Promise.all(
      owners.map(async (owner) => ((await this.isAlive(owner)) ? [owner] : [])),
    );
    return results.flat();
  }

  /** Returns those of the owners that are dead, with the marks that prove it. */
  async findDead(owners: readonly OwnerId[]): Promise<readonly DeadOwner[]> {
    const results = await Promise.all(
      owners.map(async (owner) => {
        if (this.#sockets.has(owner)) return [];
        const file = this.#markFile(owner);
        const mark = readMark(file);
        return (await isOwnerAlive(mark, file, this.#file)) ? [] : [{ owner, mark }];
      }),
    );
    return results.flat();
  }

  /** Lists the registered owners, dead or alive. */
  listOwners(): readonly OwnerId[] {
    return this.#all.all().map(({ owner }) => owner);
  }

  #markFile(owner: OwnerId): string {
    const name = /^[\w-]{1,64}$/.test(owner) ? owner : sha256Hex(owner);
    return `${this.#file}-owner-${name}`;
  }
}

function alreadyJoinedError(): InvalidInputError {
  return new InvalidInputError('owner', 'has already joined: each runtime needs a unique id.');
}
