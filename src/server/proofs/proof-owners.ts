import { omitUndefined } from '../../core/internal.ts';
import { isJsonObject } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';

const KIND = 'proof-owner';
/** How often a server that runs proofs says so, in milliseconds. */
const INTERVAL_MS = 2000;
/** A server that has not said so for this long has ended, in milliseconds. */
const EXPIRY_MS = 8000;

/** Which servers run proofs at present. A server that was killed is forgotten after some seconds. */
export class ProofOwners {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;
  readonly #own: string;
  #cancel: (() => void) | undefined;

  constructor(documents: DocumentStore, clock: Clock, own: string) {
    this.#documents = documents;
    this.#clock = clock;
    this.#own = own;
  }

  /** Tells other servers that this one runs proofs, now and until `end`. `onBeat` runs after each time. */
  async begin(onBeat: () => Promise<void>, onError: (error: unknown) => void): Promise<void> {
    if (this.#cancel !== undefined) return;
    this.#cancel = () => {};
    await this.#write({ aliveAt: this.#clock.now() });
    await this.#removeExpired();
    const schedule = (): void => {
      if (this.#cancel === undefined) return;
      this.#cancel = this.#clock.at(this.#clock.now() + INTERVAL_MS, () => {
        void this.#write({ aliveAt: this.#clock.now() })
          .then(onBeat)
          .catch(onError)
          .finally(schedule);
      });
    };
    schedule();
  }

  /** This server runs no proof any more. */
  async end(): Promise<void> {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    await this.#write(undefined);
  }

  /** Whether a server still runs. */
  async isAlive(owner: string): Promise<boolean> {
    const value = (await this.#documents.document(KIND, owner))?.value;
    return this.#isFresh(isJsonObject(value) ? value['aliveAt'] : undefined);
  }

  #isFresh(aliveAt: unknown): boolean {
    return typeof aliveAt === 'number' && this.#clock.now() - aliveAt < EXPIRY_MS;
  }

  async #write(value: { readonly aliveAt: number } | undefined): Promise<void> {
    const version = (await this.#documents.document(KIND, this.#own))?.version ?? 0;
    if (version === 0 && value === undefined) return;
    await this.#documents.writeDocuments([
      { kind: KIND, id: this.#own, version, ...omitUndefined({ value }) },
    ]);
  }

  /** Removes what killed servers left. */
  async #removeExpired(): Promise<void> {
    const found = await this.#documents.documents({ kind: KIND });
    for (const { id, version, value } of found) {
      if (isJsonObject(value) && this.#isFresh(value['aliveAt'])) continue;
      await this.#documents.writeDocuments([{ kind: KIND, id, version }]);
    }
  }
}
