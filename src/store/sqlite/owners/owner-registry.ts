import { sha256Hex } from '../../../core/identity/ids.ts';
import { InvalidInputError } from '../../../core/errors/invalid-input-error.ts';
import type { OwnerId } from '../../store.ts';
import type { Connection, Statement } from '../database/connection.ts';
import { isOwnerAlive, isSameMark, readMark, removeMark, writeMark } from './owner-mark.ts';
import type { OwnerMark } from './owner-mark.ts';
import { openOwnerSocket } from './owner-socket.ts';
import type { OwnerSocket } from './owner-socket.ts';
import { toStoreError } from '../database/sqlite-errors.ts';

/** An owner that was found dead, with the mark by which it was. */
export interface DeadOwner {
  readonly owner: OwnerId;
  readonly mark: OwnerMark;
}

/**
 * Which runtimes may own sessions, and which of them live.
 * Each listens on a local socket for as long as its process lives, and a file beside the database says where: stopped or
 * slow, the kernel still answers for it; killed, nobody does. So a peer that is refused knows that the owner is dead,
 * without any clock. No other part of the process can end this by opening or closing a file.
 */
export class SqliteOwnerRegistry {
  readonly #file: string;
  readonly #all: Statement<{ owner: OwnerId }>;
  readonly #insert: Statement<never>;
  readonly #remove: Statement<never>;
  /** The sockets of those that joined here. */
  readonly #sockets = new Map<OwnerId, OwnerSocket>();

  constructor(connection: Connection) {
    this.#file = connection.file;
    this.#all = connection.prepare('SELECT owner FROM owners');
    this.#insert = connection.prepare('INSERT INTO owners VALUES (?) ON CONFLICT DO NOTHING');
    this.#remove = connection.prepare('DELETE FROM owners WHERE owner = ?');
  }

  /** Those that joined here and have not left. */
  get localOwners(): readonly OwnerId[] {
    return [...this.#sockets.keys()];
  }

  hasJoined(owner: OwnerId): boolean {
    return this.#sockets.has(owner);
  }

  /**
   * Begins to listen for an owner. Whoever asks for it finds it once `write` has written its name down.
   * @returns what stands in its place now: of a dead one of its name, if there was one
   * @throws InvalidInputError when another process has it.
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

  /** Within a transaction: of two that come at once, one is refused. @throws InvalidInputError */
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

  /** Gives the owner up, as its process's end would. */
  close(owner: OwnerId): void {
    const socket = this.#sockets.get(owner);
    if (socket === undefined) return;
    this.#sockets.delete(owner);
    socket.close();
    const file = this.#markFile(owner);
    const ownMark: OwnerMark = { kind: 'socket', address: socket.address };
    if (isSameMark(readMark(file), ownMark)) removeMark(ownMark, file, this.#file);
  }

  /** Removes the name of an owner that has left. */
  remove(owner: OwnerId): void {
    this.#remove.run(owner);
  }

  /** Removes what is left of a dead owner, unless there is another one of its name by now. */
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

  /** The living ones of these. */
  async filterAlive(owners: readonly OwnerId[]): Promise<readonly OwnerId[]> {
    const results = await Promise.all(
      owners.map(async (owner) => ((await this.isAlive(owner)) ? [owner] : [])),
    );
    return results.flat();
  }

  /** The dead ones of these, with the mark by which they are known to be dead. */
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

  /** All whose names are written down. */
  listNames(): readonly OwnerId[] {
    return this.#all.all().map(({ owner }) => owner);
  }

  #markFile(owner: OwnerId): string {
    const name = /^[\w-]{1,64}$/.test(owner) ? owner : sha256Hex(owner);
    return `${this.#file}-owner-${name}`;
  }
}

function alreadyJoinedError(): InvalidInputError {
  return new InvalidInputError('owner', 'has joined already: each runtime needs an id of its own.');
}
