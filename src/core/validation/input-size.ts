import { PetrichorError } from '../errors/petrichor-error.ts';

/** The default maximum size of an input, in bytes of JSON: 16 MiB, enough for one inline part of the maximum size. */
export const DEFAULT_MAX_INPUT_BYTES: number = 16 * 1024 * 1024;

/**
 * An input is larger than `maxInputBytes` of the runtime. Nothing was stored.
 * @remedy Save large data as an artifact, pass a file URI, or raise `maxInputBytes`.
 */
export class InputTooLargeError extends PetrichorError {
  override readonly code = 'input_too_large' as const;
  /** The input that is too large, for example `message`. */
  readonly field: string;
  /** The maximum size, in bytes of JSON. */
  readonly limitBytes: number;

  constructor(field: string, limitBytes: number) {
    super(
      `${field} is larger than ${limitBytes} bytes: save large data as an artifact or pass a file URI, ` +
        'or raise maxInputBytes of the runtime.',
    );
    this.field = field;
    this.limitBytes = limitBytes;
  }
}

/**
 * Rejects a value whose JSON is certainly larger than the limit. It adds up lengths and stops at the limit, so it is fast
 * for a value of any size. A value slightly above the limit may pass.
 * @throws InputTooLargeError
 */
export function assertInputSize(value: unknown, field: string, limitBytes: number): void {
  let size = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    size += 1;
    if (typeof next === 'string') size += next.length;
    else if (Array.isArray(next)) {
      if (next.length > limitBytes - size) throw new InputTooLargeError(field, limitBytes);
      for (const item of next) waiting.push(item);
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        size += key.length;
        waiting.push(member);
      }
    }
    if (size > limitBytes) throw new InputTooLargeError(field, limitBytes);
  }
}
