import { PetrichorError } from '../errors/petrichor-error.ts';

/** How large an input may be unless the runtime says otherwise: 16 MiB, enough for one inline part of the largest size. */
export const DEFAULT_MAX_INPUT_BYTES: number = 16 * 1024 * 1024;

/** An input is larger than the runtime takes. Nothing was kept: save large data as an artifact, or pass a file URI. */
export class InputTooLargeError extends PetrichorError {
  override readonly code = 'input_too_large' as const;
  /** What was too large, for example `message`. */
  readonly field: string;
  /** How large it may be, in bytes of JSON. */
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
 * Refuses a value that is surely larger than the limit as JSON. It looks at lengths only, and stops where the limit is
 * passed, so it is fast for a value of any size.
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
