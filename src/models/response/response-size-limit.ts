import { setImmediate as nextTurn } from 'node:timers/promises';
import { ModelError } from '../model/model-error.ts';

/** The largest response: characters of all its parts, plus a constant per part. */
const MAX_RESPONSE_SIZE = 32 * 1024 * 1024;
const PART_OVERHEAD = 16;
/** Parts that are available at once are read without a pause, which could block the process. */
const PARTS_BETWEEN_PAUSES = 256;

/** Measures a response while it streams, so that an endless one is aborted. */
export class ResponseSizeLimit {
  readonly #model: string;
  #size = 0;
  #parts = 0;

  constructor(model: string) {
    this.#model = model;
  }

  /**
   * Counts a part, and yields to the event loop from time to time.
   * @throws ModelError of kind `protocol` above the limit
   */
  async count(part: unknown): Promise<void> {
    this.#parts += 1;
    this.#size += PART_OVERHEAD + measure(part, 3);
    if (this.#size > MAX_RESPONSE_SIZE) {
      const message = `the response is larger than ${MAX_RESPONSE_SIZE} characters.`;
      throw new ModelError({ model: this.#model, kind: 'protocol', message });
    }
    if (this.#parts % PARTS_BETWEEN_PAUSES === 0) await nextTurn();
  }
}

/** The characters and bytes in a value, down to a depth. */
function measure(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null || depth === 0) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + measure(one, depth - 1), 0);
}
