import { setImmediate as nextTurn } from 'node:timers/promises';
import { ModelError } from '../model/model-error.ts';

/** The longest answer: characters of all its parts, and some for each part. */
const MAX_RESPONSE_SIZE = 32 * 1024 * 1024;
const PART_OVERHEAD = 16;
/** Parts that are there at once are taken without a pause, which would hold up the whole process. */
const PARTS_BETWEEN_PAUSES = 256;

/** Measures an answer while it comes, so that one without an end is given up. */
export class ResponseSizeLimit {
  readonly #model: string;
  #size = 0;
  #parts = 0;

  constructor(model: string) {
    this.#model = model;
  }

  /** Counts a part. Lets everything else run from time to time. @throws ModelError of kind `protocol` */
  async count(part: unknown): Promise<void> {
    this.#parts += 1;
    this.#size += PART_OVERHEAD + measure(part, 3);
    if (this.#size > MAX_RESPONSE_SIZE) {
      const message = `the answer is larger than ${MAX_RESPONSE_SIZE} characters.`;
      throw new ModelError({ model: this.#model, kind: 'protocol', message });
    }
    if (this.#parts % PARTS_BETWEEN_PAUSES === 0) await nextTurn();
  }
}

/** The characters and bytes in a value, to some depth. */
function measure(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null || depth === 0) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + measure(one, depth - 1), 0);
}
