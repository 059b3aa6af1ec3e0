/** Epoch milliseconds. The only unit of time inside Petrichor; faces convert at their edge. */
export type Timestamp = number;

/** Epoch seconds with a fraction, as ADK writes them. */
export function toAdkSeconds(at: Timestamp): number {
  return at / 1000;
}

/** The inverse of `toAdkSeconds`, rounded to whole milliseconds. */
export function fromAdkSeconds(seconds: number): Timestamp {
  return Math.round(seconds * 1000);
}
