/** Epoch milliseconds, the only unit of time inside Petrichor. Public interfaces with other units convert. */
export type Timestamp = number;

/** Converts to epoch seconds with a fraction, the unit of ADK. */
export function toAdkSeconds(at: Timestamp): number {
  return at / 1000;
}

/** Converts from epoch seconds, rounded to milliseconds. The inverse of `toAdkSeconds`. */
export function fromAdkSeconds(seconds: number): Timestamp {
  return Math.round(seconds * 1000);
}
