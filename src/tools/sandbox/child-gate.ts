import { Duplex, type Readable, type Writable } from 'node:stream';

/**
 * Lets the child begin. Until it is ready, killing it could leave processes behind, because the
 * mechanism that ends them is not in place yet. A child that must end earlier is therefore never
 * let through, and exits by itself. It also exits by itself when this process is gone.
 */
export class ChildGate {
  readonly #stream: Duplex | undefined;
  #state: 'waiting' | 'passed' | 'closed';

  constructor(stream: Readable | Writable | null | undefined) {
    this.#stream = stream instanceof Duplex ? stream : undefined;
    this.#state = this.#stream === undefined ? 'passed' : 'waiting';
    this.#stream?.on('error', () => undefined);
    this.#stream?.once('data', () => {
      if (this.#state !== 'waiting') return;
      this.#state = 'passed';
      this.#stream?.write('go\n');
    });
  }

  close(): 'passed' | 'closed' {
    if (this.#state === 'waiting') {
      this.#state = 'closed';
      this.#stream?.destroy();
    }
    return this.#state === 'passed' ? 'passed' : 'closed';
  }
}
